#include "framewire/hog/pyramid.hpp"
#include "framewire/core/error.hpp"
#include "framewire/core/simd.hpp"
#include "framewire/hog/hog.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "framewire/hog/pyramid.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <utility>

#ifndef FRAMEWIRE_PYRAMID_ROW
#define FRAMEWIRE_PYRAMID_ROW

namespace framewire {
namespace {

// One row of a level.
struct LevelRow {
    const std::uint8_t *upper, *lower;     // adjacent rows of the octave
    std::int32_t share;                    // weight of the lower row
    const std::int32_t *indices, *shares;  // position of each pixel in the row
    std::int64_t pixels;
    std::uint8_t* out;
};

constexpr std::int64_t piece_px = 256;  // pixels of a row processed at a time
constexpr int rows_each = 16;           // number of rows that a thread takes at a time

}  // namespace
}  // namespace framewire

#endif

// Computes octaves and levels on the CPU. Vertical interpolation works on whole vectors of the octave's row; horizontal
// interpolation gathers the two neighbours of each pixel with table lookups from two vectors.

HWY_BEFORE_NAMESPACE();
namespace framewire::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using D16 = hn::ScalableTag<std::int16_t>;
using D32 = hn::RepartitionToWide<D16>;

}  // namespace

// Computes means of 2x2 pixels. Reads and writes whole vectors, even beyond the pixels.
void halve_row(const std::uint8_t* upper, const std::uint8_t* lower, std::int64_t pixels, std::uint8_t* out) {
    const hn::ScalableTag<std::uint8_t> d8;
    const hn::RepartitionToWide<decltype(d8)> d16;
    const hn::Rebind<std::uint8_t, decltype(d16)> half;
    const auto step = static_cast<std::int64_t>(hn::Lanes(d16));
    for (std::int64_t x = 0; x < pixels; x += step) {
        // Returns the sums of adjacent bytes in 16 bits.
        const auto pair_sums = [&](const std::uint8_t* row) HWY_ATTR {
            const auto pairs = hn::BitCast(d16, hn::LoadU(d8, row + 2 * x));
            return hn::Add(hn::And(pairs, hn::Set(d16, 255)), hn::ShiftRight<8>(pairs));
        };
        const auto sum = hn::Add(hn::Add(pair_sums(upper), pair_sums(lower)), hn::Set(d16, 2));
        hn::StoreU(hn::DemoteTo(half, hn::BitCast(D16(), hn::ShiftRight<2>(sum))), half, out + x);
    }
}

// Interpolates between two rows of the octave, then between columns, a piece at a time, so that the intermediate result
// stays in the L1 cache. Reads and writes whole vectors, even beyond the pixels.
void level_row(const LevelRow& row) {
    const D16 d16;
    const D32 d32;
    const hn::Half<D16> half16;
    const hn::Rebind<std::uint8_t, D16> octave8;
    const hn::Rebind<std::uint8_t, D32> level8;
    const auto step16 = static_cast<std::int64_t>(hn::Lanes(d16)), step32 = static_cast<std::int64_t>(hn::Lanes(d32));
    // Adjacent pixels of a level are at most two pixels of its octave apart.
    HWY_ALIGN std::int16_t between[2 * piece_px + 4 + HWY_MAX_BYTES];
    const auto lower_share = hn::Set(d16, static_cast<std::int16_t>(row.share)),
               upper_share = hn::Set(d16, static_cast<std::int16_t>(pyramid_share_one - row.share));
    const auto rounding = hn::Set(d32, 1 << (2 * pyramid_share_bits - 1));
    const auto last_lane = hn::Set(d32, static_cast<std::int32_t>(step32 - 1));
    for (std::int64_t first = 0; first < row.pixels; first += piece_px) {
        const auto count = std::min(piece_px, row.pixels - first);
        const auto *indices = row.indices + first, *shares = row.shares + first;
        const auto begin = indices[0], end = indices[count - 1] + 2;
        for (std::int64_t x = begin; x < end; x += step16) {
            const auto load = [&](const std::uint8_t* from)
                                  HWY_ATTR { return hn::PromoteTo(d16, hn::LoadU(octave8, from + x)); };
            hn::StoreU(hn::Add(hn::Mul(load(row.upper), upper_share), hn::Mul(load(row.lower), lower_share)), d16,
                       between + (x - begin));
        }
        // Therefore two vectors of octave pixels contain all neighbours of a vector of level pixels.
        for (std::int64_t i = 0; i < count; i += step32) {
            const auto* pixels = between + (indices[i] - begin);
            const auto near = hn::PromoteTo(d32, hn::LoadU(half16, pixels)),
                       far = hn::PromoteTo(d32, hn::LoadU(half16, pixels + step32));
            const auto pixel = [&](hn::VFromD<D32> index) HWY_ATTR {
                const auto lanes = hn::IndicesFromVec(d32, hn::And(index, last_lane));
                return hn::IfThenElse(hn::Gt(index, last_lane), hn::TableLookupLanes(far, lanes),
                                      hn::TableLookupLanes(near, lanes));
            };
            const auto index = hn::Sub(hn::LoadU(d32, indices + i), hn::Set(d32, indices[i]));
            const auto left = pixel(index), right = pixel(hn::Add(index, hn::Set(d32, 1)));
            // Computes left + (right - left) * share, in 1/16384.
            const auto value = hn::Add(hn::ShiftLeft<pyramid_share_bits>(left),
                                       hn::Mul(hn::Sub(right, left), hn::LoadU(d32, shares + i)));
            hn::StoreU(hn::DemoteTo(level8, hn::ShiftRight<2 * pyramid_share_bits>(hn::Add(value, rounding))), level8,
                       row.out + first + i);
        }
    }
}

}  // namespace framewire::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace framewire {

HWY_EXPORT(halve_row);
HWY_EXPORT(level_row);

// Octaves are computed one after another, each with its rows in parallel. The levels follow.
void ImagePyramid::run(HostView<const std::uint8_t> frame) {
    const auto host = [&](const Plane& plane) { return view<MemorySpace::host>(memory_.data(), plane); };
    const auto& pool = executor_->pool();
    // Calls body(plane, y) for the rows of every plane, in parallel.
    const auto for_rows = [&](int height, auto&& body) {
        pool.for_chunks(std::int64_t{planes_} * height, rows_each,
                        [&](std::int64_t, std::int64_t begin, std::int64_t end) {
                            for (auto row = static_cast<int>(begin); row < end; ++row) body(row / height, row % height);
                        });
    };
    const auto whole = host(octaves_[0]);
    if (planes_ == 1) {
        gray_.run({frame, {}, whole});
    } else {
        validate(frame, shape_, "the pyramid's frame");
        pool.for_chunks(shape_.height, rows_each, [&](std::int64_t, std::int64_t begin, std::int64_t end) {
            for (auto y = static_cast<int>(begin); y < end; ++y) {
                std::uint8_t* const to[] = {whole.row(0, y), whole.row(1, y), whole.row(2, y)};
                hog_split_row(frame.row(0, y), shape_.width, to);
            }
        });
    }
    for (std::size_t octave = 1; octave < octaves_.size(); ++octave) {
        const auto from = host(octaves_[octave - 1]), to = host(octaves_[octave]);
        for_rows(to.shape().height, [&](int plane, int y) {
            HWY_DYNAMIC_DISPATCH(halve_row)
            (from.row(plane, 2 * y), from.row(plane, 2 * y + 1), to.shape().width, to.row(plane, y));
        });
    }
    for (const auto& level : levels_) {
        if (level.step == pyramid_pixel) continue;  // the level is the octave
        const auto from = host(octaves_[static_cast<std::size_t>(level.octave)]), to = host(level.plane);
        const int last = from.shape().height - 1;
        for_rows(to.shape().height, [&](int plane, int y) {
            const auto at = pyramid_sample(y, level.step, last + 1);
            HWY_DYNAMIC_DISPATCH(level_row)
            ({from.row(plane, at.index), from.row(plane, std::min(at.index + 1, last)), at.share, level.indices.data(),
              level.shares.data(), to.shape().width, to.row(plane, y)});
        });
    }
}

}  // namespace framewire

#endif

#if HWY_ONCE

namespace framewire {
namespace {

// Space after each row for the pixels that whole vectors read and write beyond its end.
constexpr int vector_px = 64;
constexpr std::int64_t padded_row_bytes(int width) { return (std::int64_t{width} + vector_px + 63) / 64 * 64; }

// Returns the octave of the largest power of two that does not exceed `scale`.
int octave_of(double scale) {
    int octave = 0;
    while (std::ldexp(2.0, octave) <= scale) ++octave;
    return octave;
}

// Rejects scales whose level would be empty or too large.
void check(std::span<const double> scales, const Shape& frame) {
    validate(frame, "the pyramid's frame");
    if (frame.frames != 1) fail(ErrorCode::usage, "a pyramid takes one frame, not {}", frame.frames);
    for (const double scale : scales) {
        if (!(scale >= least_pyramid_scale && scale <= most_pyramid_scale))
            fail(ErrorCode::usage, "a pyramid level has scale {}; allowed: {} to {}", scale, least_pyramid_scale,
                 most_pyramid_scale);
        if (scale > std::min(frame.width, frame.height))
            fail(ErrorCode::usage, "a pyramid level of scale {} is empty for a frame of {}", scale, to_string(frame));
        if (std::max(frame.width, frame.height) / scale > max_side_px)
            fail(ErrorCode::usage, "a pyramid level of scale {} for a frame of {} has a side longer than {} pixels",
                 scale, to_string(frame), max_side_px);
    }
}

}  // namespace

// All octaves and levels share one buffer. Levels whose scale is a power of two are octaves and need no separate
// memory.
ImagePyramid::ImagePyramid(std::span<const double> scales, const Shape& frame, Executor& executor, int planes)
    : shape_((check(scales, frame), frame)),
      planes_(planes),
      executor_(&executor),
      gray_({.channels = 1}, frame, executor) {
    if (planes != 1 && !(planes == 3 && frame.channels == 3))
        fail(ErrorCode::usage, "a pyramid of {} planes of a frame with {} channels; allowed: 1, or 3 of 3", planes,
             frame.channels);
    std::int64_t bytes = 0;
    const auto add_plane = [&](int width, int height) {
        const Plane plane{width, height, padded_row_bytes(width), bytes};
        bytes += planes * plane.row_stride_bytes * height;
        return plane;
    };
    int octaves = 1;
    for (const double scale : scales) octaves = std::max(octaves, octave_of(scale) + 1);
    for (int octave = 0; octave < octaves; ++octave)
        octaves_.push_back(add_plane(frame.width >> octave, frame.height >> octave));
    for (const double scale : scales) {
        const int octave = octave_of(scale);
        const auto step = std::llround(std::ldexp(scale, -octave) * static_cast<double>(pyramid_pixel));
        const auto side = [&](int pixels) { return static_cast<int>(pixels / scale); };
        Level level{octaves_[static_cast<std::size_t>(octave)], octave, step, {}, {}};
        if (step != pyramid_pixel) {
            const int octave_width = level.plane.width;
            level.plane = add_plane(side(frame.width), side(frame.height));
            if (executor.backend() == Backend::cpu)
                for (int x = 0; x < level.plane.width + vector_px; ++x) {
                    const auto sample = pyramid_sample(x, step, octave_width);
                    level.indices.push_back(sample.index);
                    level.shares.push_back(sample.share);
                }
        }
        levels_.push_back(std::move(level));
    }
    memory_ = BackendBuffer(static_cast<std::size_t>(bytes), executor);
    memory_.fill(0);  // a row's last pixel is interpolated with the pixel after it, with a share of 0
}

Shape ImagePyramid::level_shape(int level) const {
    const auto& plane = levels_.at(static_cast<std::size_t>(level)).plane;
    return {planes_, plane.height, plane.width, 1};
}

}  // namespace framewire

#endif  // HWY_ONCE
