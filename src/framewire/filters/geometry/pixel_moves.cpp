#include "framewire/filters/geometry/pixel_moves.hpp"

#include "framewire/core/simd/simd.hpp"
#include "framewire/filters/geometry/transposed_rows.hpp"

#include <algorithm>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "framewire/filters/geometry/pixel_moves.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

// Moves on the CPU. Untransposed maps copy runs of whole rows, forwards or mirrored; transposed ones go to
// write_transposed().

HWY_BEFORE_NAMESPACE();
namespace framewire::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Vectors are reversed inside and taken from the end of the row; BGR channels are reversed separately.
template <int channels>
void mirror_pixels(const std::uint8_t* in, std::int64_t pixels, std::uint8_t* out) {
    const hn::ScalableTag<std::uint8_t> d8;
    const auto step = static_cast<std::int64_t>(hn::Lanes(d8));
    HWY_ALIGN static constexpr std::uint8_t last_first[16] = {15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0};
    const auto order = hn::LoadDup128(d8, last_first);
    const auto reversed = [&](hn::VFromD<decltype(d8)> bytes)
                              HWY_ATTR { return hn::ReverseBlocks(d8, hn::TableLookupBytes(bytes, order)); };
    std::int64_t x = 0;
    for (; x + step <= pixels; x += step) {
        const auto* from = in + channels * (pixels - x - step);
        auto* to = out + channels * x;
        if constexpr (channels == 3) {
            hn::VFromD<decltype(d8)> b, g, r;
            hn::LoadInterleaved3(d8, from, b, g, r);
            hn::StoreInterleaved3(reversed(b), reversed(g), reversed(r), d8, to);
        } else {
            hn::StoreU(reversed(hn::LoadU(d8, from)), d8, to);
        }
    }
    for (; x < pixels; ++x)
        for (int channel = 0; channel < channels; ++channel)
            out[channels * x + channel] = in[channels * (pixels - 1 - x) + channel];
}

}  // namespace

// Copies the pixels of a row in reverse order.
void mirror_row(const std::uint8_t* in, int channels, std::int64_t pixels, std::uint8_t* out) {
    channels == 3 ? mirror_pixels<3>(in, pixels, out) : mirror_pixels<1>(in, pixels, out);
}

}  // namespace framewire::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "framewire/filters/spans.hpp"

namespace framewire {

HWY_EXPORT(mirror_row);

namespace {

// Makes rows of a result whose map is not transposed.
struct MovedRow {
    // From result to image.
    const PixelMap& map;
    const Shape& from;
    const Shape& to;
    // A row of the outside color.
    const std::uint8_t* outside;

    // Writes row `to_y` of the result; `row(y)` returns a row of the image.
    template <class Row>
    void write(int to_y, Row&& row, std::uint8_t* out) const {
        const int y = map.source_y(0, to_y), channels = to.channels;
        const auto bytes = [&](int pixels) { return static_cast<std::size_t>(pixels * channels); };
        if (y < 0 || y >= from.height) {
            std::memcpy(out, outside, bytes(to.width));
            return;
        }
        const bool mirrored = map.step_x < 0;
        // The pixels of the row whose source lies inside the image.
        const int first = std::clamp(mirrored ? map.x - from.width + 1 : -map.x, 0, to.width);
        const int last = std::clamp(mirrored ? map.x + 1 : from.width - map.x, first, to.width);
        if (first > 0) std::memcpy(out, outside, bytes(first));
        if (last < to.width) std::memcpy(out + bytes(last), outside, bytes(to.width - last));
        if (first == last) return;
        const auto* in = row(y) + map.source_x(mirrored ? last - 1 : first, 0) * channels;
        if (mirrored)
            HWY_DYNAMIC_DISPATCH(mirror_row)(in, channels, last - first, out + bytes(first));
        else
            std::memcpy(out + bytes(first), in, bytes(last - first));
    }
};

}  // namespace

// Prepares a row of the outside color, from which parts of rows are copied.
PixelMoves::PixelMoves(const PixelMap& map, Pixel outside, const Shape& from, const Shape& to, Executor& executor)
    : map_(map), outside_(outside), from_(from), to_(to), executor_(&executor) {
    validate(from, "the image");
    validate(to, "the result");
    if (map.transposed && !is_inside(map, from, to))
        fail(ErrorCode::internal, "a transposed image of {} for {}", to_string(from), to_string(to));
    if (executor.backend() != Backend::cpu) return;
    outside_row_ = HostBuffer(static_cast<std::size_t>(to.row_bytes()));
    for (int x = 0; x < to.width; ++x) store_pixel(outside, to.channels, outside_row_.data() + x * to.channels);
}

// Transposed results are divided into bands of transposed_rows, others into chunks of rows.
void PixelMoves::run(const FilterImages<MemorySpace::host>& images) const {
    validate(images.in, from_, "the image");
    validate(images.out, to_, "the result");
    const auto& pool = executor_->pool();
    if (map_.transposed) {
        const std::int64_t bands = (to_.height + transposed_rows - 1) / transposed_rows;
        pool.for_chunks(to_.frames * bands, 1, [&](std::int64_t index, std::int64_t, std::int64_t) {
            const int frame = static_cast<int>(index / bands), y = static_cast<int>(index % bands) * transposed_rows;
            const int y_end = std::min(y + transposed_rows, to_.height);
            write_transposed(map_, images.in, images.out, frame, y, y_end);
        });
        return;
    }
    const MovedRow moved{map_, from_, to_, outside_row_.data()};
    const auto rows_each = std::max<std::int64_t>(span_bytes / to_.row_bytes(), 1);
    pool.for_chunks(to_.rows(), rows_each, [&](std::int64_t, std::int64_t begin, std::int64_t end) {
        for (auto index = begin; index < end; ++index) {
            const int frame = static_cast<int>(index / to_.height), y = static_cast<int>(index % to_.height);
            moved.write(
                y, [&](int from_y) { return images.in.row(frame, from_y); }, images.out.row(frame, y));
        }
    });
}

bool PixelMoves::goes_by_rows() const {
    return executor_->backend() == Backend::cpu && to_.frames == 1 && !map_.transposed;
}

RowRange PixelMoves::rows_needed(const RowRange& made) const {
    const int one = map_.source_y(0, made.begin), other = map_.source_y(0, made.end - 1);
    // Rows that show only the outside color need no row of the image, but a range always has at least one.
    const auto held = [&](int y) { return std::clamp(y, 0, from_.height - 1); };
    return {held(std::min(one, other)), held(std::max(one, other)) + 1};
}

void PixelMoves::run_rows(const ImageRows<const std::uint8_t>& in, const ImageRows<std::uint8_t>& out) const {
    validate_rows(in, from_, "the image's rows");
    validate_rows(out, to_, "the result's rows");
    const MovedRow moved{map_, from_, to_, outside_row_.data()};
    for (int y = out.range().begin; y < out.range().end; ++y)
        moved.write(
            y, [&](int from_y) { return in.row(from_y); }, out.row(y));
}

}  // namespace framewire

#endif
