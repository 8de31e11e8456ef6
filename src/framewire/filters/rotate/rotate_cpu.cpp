#include "framewire/filters/rotate/rotate.hpp"
#include "framewire/filters/spans.hpp"

#include <algorithm>
#include <cstdint>

namespace framewire {
namespace {

// Of the pixels x of a row, from begin to end, those with least <= start + x * step < most; cuts the range down to
// them.
void keep_within(std::int64_t start, std::int64_t step, std::int64_t least, std::int64_t most, int& begin, int& end) {
    const auto is_within = [&](int x) { return start + x * step >= least && start + x * step < most; };
    if (step == 0) {
        if (!is_within(begin)) end = begin;
        return;
    }
    // Within is one run of pixels; doubles find its ends to a pixel or so, and the rest is looked for.
    const double to_least = static_cast<double>(least - start) / static_cast<double>(step);
    const double to_most = static_cast<double>(most - start) / static_cast<double>(step);
    const auto near = [&](double x) { return static_cast<int>(std::clamp<double>(x, begin, end)); };
    int first = std::max(near(std::min(to_least, to_most)) - 2, begin);
    int last = std::min(near(std::max(to_least, to_most)) + 3, end);
    while (first < last && !is_within(first)) ++first;
    while (last > first && !is_within(last - 1)) --last;
    begin = first;
    end = last;
}

template <int channels>
void blend_row(const RotateMap& map, Pixel color, HostView<const std::uint8_t> in, int frame, int y, int width,
               std::uint8_t* out) {
    const auto& from = in.shape();
    const auto start_x = map.start_x - y * map.step_y, start_y = map.start_y + y * map.step_x;
    constexpr std::int64_t one = std::int64_t{1} << rotate_map_bits;
    // Rounded places as far outside as a half of 2^-8 pixels count, too.
    constexpr std::int64_t half = one >> (rotate_place_bits + 1);
    // Pixels that see anything of the image, and among them those that see nothing else.
    int begin = 0, end = width;
    keep_within(start_x, map.step_x, -one - half, from.width * one, begin, end);
    keep_within(start_y, map.step_y, -one - half, from.height * one, begin, end);
    int inner_begin = begin, inner_end = end;
    keep_within(start_x, map.step_x, 0, (from.width - 1) * one - half, inner_begin, inner_end);
    keep_within(start_y, map.step_y, 0, (from.height - 1) * one - half, inner_begin, inner_end);

    const auto fill = [&](int x_begin, int x_end) {
        for (int x = x_begin; x < x_end; ++x) store_pixel(color, channels, out + x * channels);
    };
    const auto blend_at_edge = [&](int x_begin, int x_end) {
        for (int x = x_begin; x < x_end; ++x) {
            const auto along = rotate_place(start_x + x * map.step_x), down = rotate_place(start_y + x * map.step_y);
            for (int channel = 0; channel < channels; ++channel) {
                const auto at = [&](int from_x, int from_y) -> int {
                    if (from_x < 0 || from_x >= from.width || from_y < 0 || from_y >= from.height)
                        return channel_of(color, channel);
                    return in.row(frame, from_y)[from_x * channels + channel];
                };
                out[x * channels + channel] = static_cast<std::uint8_t>(rotate_blend(
                    at(along.pixel, down.pixel), at(along.pixel + 1, down.pixel), at(along.pixel, down.pixel + 1),
                    at(along.pixel + 1, down.pixel + 1), along.behind, down.behind));
            }
        }
    };
    fill(0, begin);
    blend_at_edge(begin, inner_begin);
    const auto* first = in.row(frame, 0);
    const auto stride = in.row_stride_bytes();
    for (int x = inner_begin; x < inner_end; ++x) {
        const auto along = rotate_place(start_x + x * map.step_x), down = rotate_place(start_y + x * map.step_y);
        const auto* above = first + down.pixel * stride + along.pixel * channels;
        const auto* below = above + stride;
        for (int channel = 0; channel < channels; ++channel)
            out[x * channels + channel] =
                static_cast<std::uint8_t>(rotate_blend(above[channel], above[channels + channel], below[channel],
                                                       below[channels + channel], along.behind, down.behind));
    }
    blend_at_edge(inner_end, end);
    fill(end, width);
}

}  // namespace

void Rotate::blend(const FilterImages<MemorySpace::host>& images) const {
    const auto rows_each = std::max<std::int64_t>(span_bytes / to_.row_bytes(), 1);
    executor_->pool().for_chunks(to_.rows(), rows_each, [&](std::int64_t, std::int64_t begin, std::int64_t end) {
        for (auto row = begin; row < end; ++row) {
            const int frame = static_cast<int>(row / to_.height), y = static_cast<int>(row % to_.height);
            auto* out = images.out.row(frame, y);
            to_.channels == 3 ? blend_row<3>(map_, color_, images.in, frame, y, to_.width, out)
                              : blend_row<1>(map_, color_, images.in, frame, y, to_.width, out);
        }
    });
}

}  // namespace framewire
