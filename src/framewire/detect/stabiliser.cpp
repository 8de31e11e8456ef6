#include "framewire/detect/stabiliser.hpp"
#include "framewire/core/error.hpp"
#include "framewire/core/rows.hpp"
#include "framewire/core/simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "framewire/detect/stabiliser.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>

// A frame on the CPU:
//
//     frame -> small image -> coarse image -> search -> rounds of the fit -> shift -> reference
//                                                                              |
//     frame ---------------------------------------------------------------> shifted frame
//
// The small images and the shifted frames are made by all threads. The estimate in between is short and runs on one.
// The loops are plain, because the compiler vectorises them for each instruction set.

HWY_BEFORE_NAMESPACE();
namespace framewire::HWY_NAMESPACE {
namespace {

constexpr int line_px = 1024;  // pixels that are processed at a time, so that lines stay in L1

// Sums the channels of each cell: first the rows of the cells into a line, then its columns.
template <int channels>
void small_row_of(const StabiliserLayout& layout, HostView<const std::uint8_t> frame, int row, std::uint16_t* to) {
    const int factor = layout.factor;
    const int cells = line_px / factor;
    std::array<std::uint16_t, line_px * channels> line;
    for (int first = 0; first < layout.width; first += cells) {
        const int count = std::min(cells, layout.width - first), bytes = count * factor * channels;
        for (int y = 0; y < factor; ++y) {
            const auto* from = frame.row(0, row * factor + y) + first * factor * channels;
            if (y == 0)
                for (int i = 0; i < bytes; ++i) line[static_cast<std::size_t>(i)] = from[i];
            else
                for (int i = 0; i < bytes; ++i)
                    line[static_cast<std::size_t>(i)] =
                        static_cast<std::uint16_t>(line[static_cast<std::size_t>(i)] + from[i]);
        }
        const auto* cell = line.data();
        for (int x = 0; x < count; ++x) {
            std::uint32_t sums[channels]{};
            for (int i = 0; i < factor; ++i, cell += channels)
                for (int channel = 0; channel < channels; ++channel) sums[channel] += cell[channel];
            to[first + x] =
                small_pixel(sums[0], sums[channels == 3 ? 1 : 0], sums[channels == 3 ? 2 : 0], layout.scale());
        }
    }
}

}  // namespace

void small_row(const StabiliserLayout& layout, HostView<const std::uint8_t> frame, int row, std::uint16_t* to) {
    if (frame.shape().channels == 3)
        small_row_of<3>(layout, frame, row, to);
    else
        small_row_of<1>(layout, frame, row, to);
}

namespace {

// Makes a coarse image from values in the units of small images.
template <class Value>
void make_coarse(const StabiliserLayout& layout, const std::uint16_t* pixels, Value&& value, std::int16_t* to) {
    constexpr int factor = StabiliserLayout::coarse_factor;
    for (int y = 0; y < layout.coarse_height; ++y)
        for (int x = 0; x < layout.coarse_width; ++x) {
            int sum = factor * factor / 2;
            for (int dy = 0; dy < factor; ++dy) {
                const auto* row = pixels + (y * factor + dy) * layout.width + x * factor;
                for (int dx = 0; dx < factor; ++dx) sum += value(row[dx]);
            }
            *to++ = static_cast<std::int16_t>(sum / (factor * factor));
        }
}

struct Found {
    SmallShift shift;
    bool trusted;
};

// Tries all displacements in whole coarse pixels.
Found search(const StabiliserLayout& layout, const std::int16_t* now, const std::int16_t* still) {
    constexpr int margin = stabiliser_search_margin, side = 2 * stabiliser_search_px + 1;
    const int width = layout.coarse_width, height = layout.coarse_height;
    auto best = std::numeric_limits<std::uint64_t>::max();
    std::uint64_t total = 0;
    for (int candidate = 0; candidate < stabiliser_candidates; ++candidate) {
        const int offset = (candidate / side - stabiliser_search_px) * width + candidate % side - stabiliser_search_px;
        std::uint32_t cost = 0;
        for (int y = margin; y < height - margin; ++y) {
            const auto* still_row = still + y * width;
            const auto* now_row = now + y * width + offset;
            int of_row = 0;
            for (int x = margin; x < width - margin; ++x)
                of_row += gradient_difference(now_row + x, still_row + x, width);
            cost += static_cast<std::uint32_t>(of_row);
        }
        best = std::min(best, search_key(cost, candidate));
        total += cost;
    }
    return {searched_shift(best), is_match(best, total)};
}

// Writes the differences of the displaced image from a row of the reference.
void differences_of(const StabiliserLayout& layout, const std::uint16_t* now, const std::uint16_t* reference,
                    const Displacement& displacement, int y, int* to) {
    const auto* row = now + (y + displacement.y) * layout.width + displacement.x;
    const auto* next_row = row + layout.width;
    const auto* still = reference + y * layout.width;
    const int fraction_x = displacement.fraction_x, fraction_y = displacement.fraction_y;
    for (int x = displacement.margin; x < layout.width - displacement.margin; ++x)
        to[x] = interpolated(row, next_row, x, fraction_x, fraction_y) - still_pixel(still[x]);
}

// Returns the sums of a row. 32 bits suffice for the products of 512 pixels: each is at most 1020 * 1275 in size, since
// a difference is at most 1020 and a median at most 255 beyond it.
FitSums fit_row(const StabiliserLayout& layout, const std::uint16_t* still, const int* differences, int margin,
                const StillDifferences& expected, int round) {
    const auto *above = still - layout.width, *below = still + layout.width;
    const int median = expected.median, tolerance = expected.tolerance;
    int xx = 0, xy = 0, yy = 0, xr = 0, yr = 0, fitting = 0;
    for (int x = margin; x < layout.width - margin; ++x) {
        const int difference = differences[x] - median;
        const int gradient_x = still_pixel(still[x + 1]) - still_pixel(still[x - 1]);
        const int gradient_y = still_pixel(below[x]) - still_pixel(above[x]);
        const int counts = fits(difference, gradient_x, gradient_y, tolerance, round) ? 1 : 0;
        const int along = gradient_x * counts, across = gradient_y * counts;
        xx += along * gradient_x;
        xy += along * gradient_y;
        yy += across * gradient_y;
        xr += along * difference;
        yr += across * difference;
        fitting += counts;
    }
    return {xx, xy, yy, xr, yr, fitting};
}

// Refines a displacement by rounds of least squares over the pixels that fit.
Found fit(const StabiliserLayout& layout, const std::uint16_t* now, const std::uint16_t* reference, SmallShift begin) {
    std::array<int, StabiliserLayout::most_width> differences;
    auto shift = begin;
    std::int64_t fitting = 0, compared = 0;
    for (int round = 0; round < stabiliser_rounds; ++round) {
        const Displacement displacement(shift);
        const int margin = displacement.margin;
        std::array<std::uint32_t, stabiliser_histogram_size> histogram{};
        for (int y = margin; y < layout.height - margin; y += stabiliser_histogram_rows) {
            differences_of(layout, now, reference, displacement, y, differences.data());
            for (int x = margin; x < layout.width - margin; ++x)
                ++histogram[static_cast<std::size_t>(histogram_place(differences[static_cast<std::size_t>(x)]))];
        }
        const auto expected = still_differences(histogram.data());
        FitSums sums;
        for (int y = margin; y < layout.height - margin; ++y) {
            differences_of(layout, now, reference, displacement, y, differences.data());
            sums += fit_row(layout, reference + y * layout.width, differences.data(), margin, expected, round);
        }
        if (!improve(shift, sums)) return {begin, false};
        fitting = sums.fitting;
        compared = std::int64_t{layout.width - 2 * margin} * (layout.height - 2 * margin);
    }
    return {shift, is_trusted(begin, shift, fitting, compared)};
}

// Adds the displaced image to the reference.
void renew(const StabiliserLayout& layout, const std::uint16_t* now, SmallShift shift, int weight,
           std::uint16_t* reference) {
    if (weight == whole_weight) {
        for (int i = 0; i < layout.pixels(); ++i)
            reference[i] = static_cast<std::uint16_t>(now[i] << reference_fraction_bits);
        return;
    }
    const Displacement displacement(shift);
    const int fraction_x = displacement.fraction_x, fraction_y = displacement.fraction_y;
    for (int y = displacement.margin; y < layout.height - displacement.margin; ++y) {
        const auto* row = now + (y + displacement.y) * layout.width + displacement.x;
        const auto* next_row = row + layout.width;
        auto* to = reference + y * layout.width;
        for (int x = displacement.margin; x < layout.width - displacement.margin; ++x)
            to[x] = renewed(to[x], interpolated(row, next_row, x, fraction_x, fraction_y), weight);
    }
}

}  // namespace

// Estimates the shift of one small image and renews reference and state. `coarse` is scratch memory for two images.
void estimate_shift(const StabiliserLayout& layout, const std::uint16_t* now, std::uint16_t* reference,
                    std::int16_t* coarse, StabiliserState& state) {
    Found found{};
    if (state.seen > 0) {
        auto* still = coarse + layout.coarse_pixels();
        make_coarse(
            layout, now, [](int value) { return value; }, coarse);
        make_coarse(layout, reference, still_pixel, still);
        found = search(layout, coarse, still);
        if (found.trusted) found = fit(layout, now, reference, found.shift);
    }
    const int weight = conclude(state, found.shift, found.trusted, layout.factor);
    if (weight > 0) renew(layout, now, found.shift, weight, reference);
}

namespace {

// Shifts one row: interpolates between two rows into a line, then between neighbours in the line.
template <int channels>
void shift_row_of(HostView<const std::uint8_t> frame, CameraShift shift, int y, std::uint8_t* to) {
    const int width = frame.shape().width, height = frame.shape().height;
    const auto row = [&](int at) { return frame.row(0, std::clamp(at, 0, height - 1)); };
    const int whole_x = shift.x_16th >> 4;
    const auto *top = row(y + (shift.y_16th >> 4)), *bottom = row(y + (shift.y_16th >> 4) + 1);
    const auto fraction_x = static_cast<std::uint16_t>(shift.x_16th & 15);
    const auto fraction_y = static_cast<std::uint16_t>(shift.y_16th & 15);
    std::array<std::uint16_t, (line_px + 1) * channels> line;
    for (int first = 0; first < width; first += line_px) {
        const int count = std::min(line_px, width - first);
        // Columns of the frame under the line's pixels 0 to `count`; those outside repeat the border.
        const int from = first + whole_x;
        const int inside_begin = std::clamp(-from, 0, count + 1), inside_end = std::clamp(width - from, 0, count + 1);
        const auto blend = [&](int at) {
            return static_cast<std::uint16_t>(top[at] * (16 - fraction_y) + bottom[at] * fraction_y);
        };
        const auto* top_from = top + from * channels;
        const auto* bottom_from = bottom + from * channels;
        for (int i = inside_begin * channels; i < inside_end * channels; ++i)
            line[static_cast<std::size_t>(i)] =
                static_cast<std::uint16_t>(top_from[i] * (16 - fraction_y) + bottom_from[i] * fraction_y);
        for (int x = 0; x < inside_begin; ++x)
            for (int channel = 0; channel < channels; ++channel)
                line[static_cast<std::size_t>(x * channels + channel)] = blend(channel);
        for (int x = inside_end; x <= count; ++x)
            for (int channel = 0; channel < channels; ++channel)
                line[static_cast<std::size_t>(x * channels + channel)] = blend((width - 1) * channels + channel);
        const auto rest = static_cast<std::uint16_t>(16 - fraction_x);
        auto* out = to + first * channels;
        for (int i = 0; i < count * channels; ++i) {
            const auto at = static_cast<std::size_t>(i);
            // At most 16 * 16 * 255 + 128, which fits 16 bits.
            const auto sum = static_cast<std::uint16_t>(line[at] * rest + line[at + channels] * fraction_x + 128);
            out[i] = static_cast<std::uint8_t>(sum >> 8);
        }
    }
}

}  // namespace

void shift_row(HostView<const std::uint8_t> frame, CameraShift shift, int y, std::uint8_t* to) {
    if (shift == CameraShift{})
        std::memcpy(to, frame.row(0, y), static_cast<std::size_t>(frame.shape().row_bytes()));
    else if (frame.shape().channels == 3)
        shift_row_of<3>(frame, shift, y, to);
    else
        shift_row_of<1>(frame, shift, y, to);
}

}  // namespace framewire::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace framewire {
namespace {

HWY_EXPORT(small_row);
HWY_EXPORT(estimate_shift);
HWY_EXPORT(shift_row);

}  // namespace

Stabiliser::Stabiliser(const Shape& frames, Executor& executor)
    : shape_((validate(frames, "the frames of a stabiliser"), frames)),
      layout_(frames),
      executor_(&executor),
      state_(sizeof(StabiliserState), executor),
      shifts_(static_cast<std::size_t>(frames.frames) * sizeof(CameraShift), executor) {
    const auto pixels = static_cast<std::size_t>(layout_.pixels()) * sizeof(std::uint16_t);
    if (layout_.is_large_enough()) {
        small_ = BackendBuffer(static_cast<std::size_t>(frames.frames) * pixels, executor);
        reference_ = BackendBuffer(pixels, executor);
        coarse_ = BackendBuffer(2 * static_cast<std::size_t>(layout_.coarse_pixels()) * sizeof(std::int16_t), executor);
    }
    shifts_.fill(0);
    reset();
}

void Stabiliser::reset() { state_.fill(0); }

template <MemorySpace space>
void Stabiliser::check(const View<const std::uint8_t, space>& frames, const View<std::uint8_t, space>& still) const {
    const int count = std::clamp(frames.shape().frames, 1, shape_.frames);
    validate(frames, shape_.with_frames(count), "the input of a stabiliser");
    validate(still, shape_.with_frames(count), "the output of a stabiliser");
}
template void Stabiliser::check(const HostView<const std::uint8_t>&, const HostView<std::uint8_t>&) const;
template void Stabiliser::check(const DeviceView<const std::uint8_t>&, const DeviceView<std::uint8_t>&) const;

template <MemorySpace space>
void Stabiliser::check(const BitMaskView<const std::uint32_t, space>& still,
                       const BitMaskView<std::uint32_t, space>& moved) const {
    const auto shape = shape_.with_channels(1).with_frames(std::clamp(still.shape().frames, 1, shape_.frames));
    validate(still, shape, "the masks of a stabiliser");
    validate(moved, shape, "the moved masks of a stabiliser");
}
template void Stabiliser::check(const HostBitMaskView<const std::uint32_t>&,
                                const HostBitMaskView<std::uint32_t>&) const;
template void Stabiliser::check(const DeviceBitMaskView<const std::uint32_t>&,
                                const DeviceBitMaskView<std::uint32_t>&) const;

void Stabiliser::run(HostView<const std::uint8_t> frames, HostView<std::uint8_t> still) {
    check(frames, still);
    const int count = frames.shape().frames;
    if (layout_.is_large_enough()) {
        auto* small = small_.as<std::uint16_t>();
        executor_->pool().for_chunks(std::int64_t{count} * layout_.height, rows_in_cache(shape_.width * layout_.factor),
                                     [&](std::int64_t, std::int64_t begin, std::int64_t end) {
                                         for (auto row = begin; row < end; ++row) HWY_DYNAMIC_DISPATCH(small_row)
                                         (layout_, frames.frames(static_cast<int>(row / layout_.height), 1),
                                          static_cast<int>(row % layout_.height), small + row * layout_.width);
                                     });
        for (int frame = 0; frame < count; ++frame) {
            auto& state = *state_.as<StabiliserState>();
            HWY_DYNAMIC_DISPATCH(estimate_shift)
            (layout_, small + std::int64_t{frame} * layout_.pixels(), reference_.as<std::uint16_t>(), coarse(), state);
            shift_of_frames()[frame] = state.shift;
        }
    }
    executor_->pool().for_chunks(
        frames.shape().rows(), rows_in_cache(shape_.width), [&](std::int64_t, std::int64_t begin, std::int64_t end) {
            for (auto row = begin; row < end; ++row) {
                const int frame = static_cast<int>(row / shape_.height), y = static_cast<int>(row % shape_.height);
                HWY_DYNAMIC_DISPATCH(shift_row)
                (frames.frames(frame, 1), shift_of_frames()[frame], y, still.row(frame, y));
            }
        });
}

void Stabiliser::move_back(HostBitMaskView<const std::uint32_t> still, HostBitMaskView<std::uint32_t> moved) const {
    check(still, moved);
    const int words = still.row_words();
    executor_->pool().for_chunks(
        still.shape().rows(), rows_in_cache(shape_.width), [&](std::int64_t, std::int64_t begin, std::int64_t end) {
            for (auto row = begin; row < end; ++row) {
                const int frame = static_cast<int>(row / shape_.height), y = static_cast<int>(row % shape_.height);
                const auto shift = shift_of_frames()[frame];
                const int from = y - shift.y_px();
                auto* to = moved.row(frame, y);
                if (from < 0 || from >= shape_.height)
                    std::fill_n(to, words, 0u);
                else if (shift.x_px() == 0)
                    std::copy_n(still.row(frame, from), words, to);
                else
                    for (int word = 0; word < words; ++word)
                        to[word] = moved_word(still.row(frame, from), words, shape_.width, word, shift.x_px());
            }
        });
}

std::vector<CameraShift> Stabiliser::shifts(int frames) const {
    if (frames < 0 || frames > shape_.frames)
        fail(ErrorCode::usage, "{} shifts were requested of a stabiliser; allowed: 0 to {}", frames, shape_.frames);
    std::vector<CameraShift> shifts(static_cast<std::size_t>(frames));
    shifts_.get(shifts.data(), shifts.size() * sizeof(CameraShift));
    return shifts;
}

}  // namespace framewire

#endif  // HWY_ONCE
