#include "framewire/filters/rotate.hpp"
#include "framewire/core/simd.hpp"
#include "framewire/filters/geometry.hpp"
#include "framewire/filters/window.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "framewire/filters/rotate.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "framewire/core/simd-inl.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <numbers>

// Rotation by any angle on the CPU, row by row of the result. Most pixels of a row have all of their neighbours inside
// the image and are interpolated in vectors of two pixels. The few pixels at the edges are computed one by one.

// Compiled once, not for each instruction set.
#ifndef FRAMEWIRE_ROTATE_CPU_ONCE
#define FRAMEWIRE_ROTATE_CPU_ONCE

namespace framewire {

// A run of pixels in a row of the result whose four neighbours all lie inside the image, and the position of their
// sources.
struct RotateRun {
    std::int64_t at_x, at_y;      // source of the first pixel, in RotateMap units
    std::int64_t step_x, step_y;  // distance of the sources of adjacent pixels
    const std::uint8_t* image;    // first byte of the frame
    std::int64_t stride_bytes;
    // Length of the run.
    int pixels;
};

}  // namespace framewire

#endif

HWY_BEFORE_NAMESPACE();
namespace framewire::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Number of pixels whose positions are computed together.
constexpr int rotate_block = 64;

// Positions in 2^-8 pixels, rounded as in rotate_place(), and never negative.
struct RotatePlaces {
    HWY_ALIGN std::uint64_t x[rotate_block + HWY_MAX_BYTES / 8], y[rotate_block + HWY_MAX_BYTES / 8];

    // Computes the positions of rotate_block pixels.
    void fill(std::int64_t at_x, std::int64_t at_y, std::int64_t step_x, std::int64_t step_y) {
        fill_one(at_x, step_x, x);
        fill_one(at_y, step_y, y);
    }

private:
    // Computes positions along one axis: an arithmetic progression, rounded.
    static void fill_one(std::int64_t at, std::int64_t step, std::uint64_t* places) {
        constexpr int shift = rotate_map_bits - rotate_place_bits;
        const hn::ScalableTag<std::uint64_t> d;
        const auto lanes = static_cast<int>(hn::Lanes(d));
        HWY_ALIGN std::uint64_t first[HWY_MAX_BYTES / 8];
        for (int lane = 0; lane < lanes; ++lane)
            first[lane] = static_cast<std::uint64_t>(at + lane * step + (std::int64_t{1} << (shift - 1)));
        auto now = hn::Load(d, first);
        const auto further = hn::Set(d, static_cast<std::uint64_t>(lanes * step));
        for (int pixel = 0; pixel < rotate_block; pixel += lanes) {
            hn::Store(hn::ShiftRight<shift>(now), d, places + pixel);
            now = hn::Add(now, further);
        }
    }
};

using RotateBytes = hn::Full128<std::uint8_t>;
using RotateHalves = hn::Full128<std::int16_t>;
using RotateWords = hn::Full128<std::int32_t>;

// Loads eight bytes from each of two addresses: two BGR pixels, and the bytes after each.
HWY_INLINE hn::Vec<RotateBytes> load_two(const std::uint8_t* one, const std::uint8_t* other) {
    std::uint64_t both[2];
    std::memcpy(both, one, 8);
    std::memcpy(both + 1, other, 8);
    const hn::Full128<std::uint64_t> d;
    return hn::BitCast(RotateBytes(), hn::InterleaveLower(d, hn::Set(d, both[0]), hn::Set(d, both[1])));
}

// Two interpolated pixels, each in 32-bit numbers: blue, green, red, unused.
struct BlendedTwo {
    hn::Vec<RotateWords> first, second;
};

// Interpolates two pixels: first along the upper and the lower row, then between the rows.
//
//   bytes loaded    b0 g0 r0 b1 g1 r1 . .     left and right neighbour of one pixel
//   `left`          b0 g0 r0 0                as 16-bit numbers, times (256 - fraction)
//   `right`         b1 g1 r1 0                as 16-bit numbers, times fraction
HWY_INLINE BlendedTwo blend_two(const RotateRun& run, const std::uint64_t* x, const std::uint64_t* y) {
    constexpr std::uint8_t none = 0x80;
    HWY_ALIGN static constexpr std::uint8_t left[16] = {0, none, 1, none, 2,  none, none, none,
                                                        8, none, 9, none, 10, none, none, none};
    HWY_ALIGN static constexpr std::uint8_t right[16] = {3,  none, 4,  none, 5,  none, none, none,
                                                         11, none, 12, none, 13, none, none, none};
    HWY_ALIGN static constexpr std::uint8_t spread[16] = {0, none, 0, none, 0, none, 0, none,
                                                          8, none, 8, none, 8, none, 8, none};
    HWY_ALIGN static constexpr std::int16_t whole_even[8] = {256, 0, 256, 0, 256, 0, 256, 0};
    HWY_ALIGN static constexpr std::int16_t minus_even[8] = {-1, 1, -1, 1, -1, 1, -1, 1};
    const RotateBytes d8;
    const RotateHalves d16;
    const RotateWords d32;
    const auto as_16 = [&](hn::Vec<RotateBytes> bytes, const std::uint8_t* order)
                           HWY_ATTR { return hn::BitCast(d16, hn::TableLookupBytesOr0(bytes, hn::Load(d8, order))); };
    const auto places = [&](const std::uint64_t* at)
                            HWY_ATTR { return hn::BitCast(d8, hn::LoadU(hn::Full128<std::uint64_t>(), at)); };
    const auto at = [&](int pixel) {
        return run.image + static_cast<std::int64_t>(y[pixel] >> rotate_place_bits) * run.stride_bytes +
               3 * static_cast<std::int64_t>(x[pixel] >> rotate_place_bits);
    };
    const auto *first = at(0), *second = at(1);
    const auto to_right = as_16(places(x), spread), to_left = hn::Sub(hn::Set(d16, 256), to_right);
    // Returns sums of up to 255 * 256, stored minus 2^15 as signed numbers.
    const auto along = [&](hn::Vec<RotateBytes> bytes) HWY_ATTR {
        return hn::Xor(hn::Add(hn::Mul(as_16(bytes, left), to_left), hn::Mul(as_16(bytes, right), to_right)),
                       hn::Set(d16, -32768));
    };
    const auto above = along(load_two(first, second));
    const auto below = along(load_two(first + run.stride_bytes, second + run.stride_bytes));
    // Weights of the upper and the lower row, alternating.
    const auto to_lower = as_16(places(y), spread);
    const auto weights = [&](hn::Vec<RotateHalves> lower) HWY_ATTR {
        return hn::Add(hn::Mul(lower, hn::Load(d16, minus_even)), hn::Load(d16, whole_even));
    };
    const auto down = [&](hn::Vec<RotateHalves> rows, hn::Vec<RotateHalves> by) HWY_ATTR {
        constexpr int one = 1 << rotate_place_bits;
        return hn::ShiftRight<2 * rotate_place_bits>(
            hn::Add(multiply_add_pairs(d32, rows, by), hn::Set(d32, one * 32768 + one * one / 2)));
    };
    return {down(hn::InterleaveLower(d16, above, below), weights(hn::InterleaveLower(d16, to_lower, to_lower))),
            down(hn::InterleaveUpper(d16, above, below), weights(hn::InterleaveUpper(d16, to_lower, to_lower)))};
}

}  // namespace

// Interpolates a run of BGR pixels. The eight bytes from each left neighbour on must be readable.
void rotate_blend_bgr(const RotateRun& run, std::uint8_t* out) {
    HWY_ALIGN static constexpr std::uint8_t without_fourth[16] = {0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, 3, 7, 11, 15};
    const RotateBytes d8;
    const auto order = hn::Load(d8, without_fourth);
    RotatePlaces places;
    const auto four = [&](int pixel) HWY_ATTR {
        const auto a = blend_two(run, places.x + pixel, places.y + pixel);
        const auto b = blend_two(run, places.x + pixel + 2, places.y + pixel + 2);
        const auto bytes = [&](const BlendedTwo& two) HWY_ATTR {
            return hn::DemoteTo(hn::Half<RotateBytes>(), hn::ReorderDemote2To(RotateHalves(), two.first, two.second));
        };
        return hn::TableLookupBytes(hn::Combine(d8, bytes(b), bytes(a)), order);
    };
    for (int begin = 0; begin < run.pixels; begin += rotate_block) {
        places.fill(run.at_x + begin * run.step_x, run.at_y + begin * run.step_y, run.step_x, run.step_y);
        const int count = std::min(rotate_block, run.pixels - begin);
        auto* to = out + 3 * begin;
        int pixel = 0;
        // Store four pixels with four excess bytes, which the next pixels overwrite.
        for (; pixel + 6 <= count; pixel += 4) hn::StoreU(four(pixel), d8, to + 3 * pixel);
        for (; pixel < count; pixel += 4) {
            // Positions after the last pixel may lie outside the image, so they repeat the last one.
            for (int behind = count; behind < pixel + 4; ++behind) {
                places.x[behind] = places.x[count - 1];
                places.y[behind] = places.y[count - 1];
            }
            HWY_ALIGN std::uint8_t last[16];
            hn::Store(four(pixel), d8, last);
            std::memcpy(to + 3 * pixel, last, static_cast<std::size_t>(3 * std::min(count - pixel, 4)));
        }
    }
}

}  // namespace framewire::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace framewire {

HWY_EXPORT(rotate_blend_bgr);

namespace {

// Reduces begin .. end to the pixels x for which least <= start + x * step < most.
void keep_within(std::int64_t start, std::int64_t step, std::int64_t least, std::int64_t most, int& begin, int& end) {
    const auto is_within = [&](int x) { return start + x * step >= least && start + x * step < most; };
    if (step == 0) {
        if (!is_within(begin)) end = begin;
        return;
    }
    // These pixels form one run. Floating-point arithmetic finds its ends to within a pixel or two; the loops find them
    // exactly.
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

// Computes one row of the result:
//
//   0     begin   inner_begin          inner_end   end     width
//   | color | edge  | neighbours inside    | edge   | color |
template <int channels>
void blend_row(const RotateMap& map, Pixel color, HostView<const std::uint8_t> in, int frame, int y, int width,
               std::uint8_t* out) {
    const auto& from = in.shape();
    const auto start_x = map.start_x - y * map.step_y, start_y = map.start_y + y * map.step_x;
    constexpr std::int64_t one = std::int64_t{1} << rotate_map_bits;
    // Rounding can move positions inwards by half of 2^-8 pixels.
    constexpr std::int64_t half = one >> (rotate_place_bits + 1);
    // Range of pixels that read any pixel of the image, and within it the range of pixels that read no others.
    int begin = 0, end = width;
    keep_within(start_x, map.step_x, -one - half, from.width * one, begin, end);
    keep_within(start_y, map.step_y, -one - half, from.height * one, begin, end);
    int inner_begin = begin, inner_end = end;
    // Vectors of BGR read one pixel further.
    constexpr int read_further = channels == 3 ? 2 : 1;
    keep_within(start_x, map.step_x, 0, (from.width - read_further) * one - half, inner_begin, inner_end);
    keep_within(start_y, map.step_y, 0, (from.height - 1) * one - half, inner_begin, inner_end);

    // Fills pixels that contain no part of the image.
    const auto fill = [&](int x_begin, int x_end) {
        for (int x = x_begin; x < x_end; ++x) store_pixel(color, channels, out + x * channels);
    };
    // Interpolates pixels that have some neighbours outside the image.
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
    const auto* image = in.row(frame, 0);
    const auto stride = in.row_stride_bytes();
    if constexpr (channels == 3) {
        HWY_DYNAMIC_DISPATCH(rotate_blend_bgr)
        ({start_x + inner_begin * map.step_x, start_y + inner_begin * map.step_y, map.step_x, map.step_y, image, stride,
          inner_end - inner_begin},
         out + 3 * inner_begin);
    } else {
        for (int x = inner_begin; x < inner_end; ++x) {
            const auto along = rotate_place(start_x + x * map.step_x), down = rotate_place(start_y + x * map.step_y);
            const auto* above = image + down.pixel * stride + along.pixel;
            const auto* below = above + stride;
            out[x] = static_cast<std::uint8_t>(
                rotate_blend(above[0], above[1], below[0], below[1], along.behind, down.behind));
        }
    }
    blend_at_edge(inner_end, end);
    fill(end, width);
}

}  // namespace

// Computes the rows of all frames in parallel.
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

#endif

#if HWY_ONCE

// Geometry of rotations. A rotation by a multiple of 90 degrees is a PixelMap if the result has a suitable size. Any
// other rotation is a RotateMap in fixed point, so that all backends sample the image at the same positions.

namespace framewire {
namespace {

// An angle. Sine and cosine are exact for multiples of 90 degrees.
struct Turn {
    double cosine, sine;
    int quarters;  // clockwise quarter turns, 0 to 3; -1 for other angles
};

// Treats multiples of 90 degrees separately, because sines computed for them are rounded.
Turn turn_by(double degrees) {
    const double quarters = degrees / 90;
    if (quarters == std::floor(quarters)) {
        constexpr double sines[] = {0, 1, 0, -1};
        const int turns = (static_cast<int>(quarters) % 4 + 4) % 4;
        return {sines[(turns + 1) % 4], sines[turns], turns};
    }
    const double angle = degrees * std::numbers::pi / 180;
    return {std::cos(angle), std::sin(angle), -1};
}

// Returns the shape of the result. Throws Error{usage} if the angle or the shape is not allowed.
Shape rotated(const RotateParameters& parameters, const Shape& shape) {
    validate(shape, "rotate's image");
    if (!(std::abs(parameters.degrees) <= 360))
        fail(ErrorCode::usage, "rotate's angle is {} degrees; allowed: -360 to 360", parameters.degrees);
    if (!parameters.whole) return shape;
    const auto turn = turn_by(parameters.degrees);
    const double cosine = std::abs(turn.cosine), sine = std::abs(turn.sine);
    // Ignore the excess that comes only from rounding.
    const auto side = [&](int along, int across) {
        constexpr double rounding_error = 1e-6;
        return static_cast<int>(std::ceil(along * cosine + across * sine - rounding_error));
    };
    const Shape to{shape.frames, side(shape.height, shape.width), side(shape.width, shape.height), shape.channels};
    validate(to, "rotate's result");
    return to;
}

// Returns the map that puts the center of the result on the center of the image.
RotateMap map_of(const Turn& turn, const Shape& from, const Shape& to) {
    const auto fixed = [](double value) {
        return std::llround(value * static_cast<double>(std::int64_t{1} << rotate_map_bits));
    };
    const double middle_x = (to.width - 1) / 2.0, middle_y = (to.height - 1) / 2.0;
    return {.start_x = fixed((from.width - 1) / 2.0 - turn.cosine * middle_x - turn.sine * middle_y),
            .start_y = fixed((from.height - 1) / 2.0 + turn.sine * middle_x - turn.cosine * middle_y),
            .step_x = fixed(turn.cosine),
            .step_y = -fixed(turn.sine)};
}

// Returns the map for a multiple of 90 degrees.
PixelMap quarter_turns(int quarters, const Shape& shape) {
    if (quarters % 2 == 0) return mirrored(shape, quarters == 2, quarters == 2);
    auto map = mirrored(shape, quarters == 3, quarters == 1);
    map.transposed = true;
    return map;
}

RotateParameters rotate_parameters(const ParameterValues& values, const Shape& shape) {
    return {.degrees = values.real("angle"),
            .whole = values.text("size") == "whole",
            .color = opaque_color_from(values, shape.channels)};
}

}  // namespace

// A quarter turn of an image that is not square, with a result of the image's own size, interpolates like other angles.
Rotate::Rotate(const RotateParameters& parameters, const Shape& shape, Executor& executor)
    : from_(shape), to_(rotated(parameters, shape)), color_(parameters.color), executor_(&executor) {
    const auto turn = turn_by(parameters.degrees);
    if (turn.quarters >= 0 && (parameters.whole || turn.quarters % 2 == 0 || from_.width == from_.height))
        moves_.emplace(quarter_turns(turn.quarters, from_), color_, from_, to_, executor);
    else
        map_ = map_of(turn, from_, to_);
}

// Rotations by right angles run as moves.
void Rotate::run(const FilterImages<MemorySpace::host>& images) const {
    if (moves_) return moves_->run(images);
    validate(images.in, from_, "rotate's image");
    validate(images.out, to_, "rotate's result");
    blend(images);
}

void Rotate::run(const FilterImages<MemorySpace::device>& images) const {
    if constexpr (cuda::compiled) {
        if (moves_) return moves_->run(images);
        validate(images.in, from_, "rotate's image");
        validate(images.out, to_, "rotate's result");
        blend(images);
    }
}

FilterInfo rotate_info() {
    using Type = ParameterInfo::Type;
    return {
        .name = "rotate",
        .summary = "rotates the picture by any angle",
        .parameters =
            {
                {.name = "angle",
                 .help = "degrees clockwise; 90, 180 and 270 keep pixels exact, other angles interpolate",
                 .type = Type::real,
                 .default_value = "90",
                 .minimum = -360,
                 .maximum = 360},
                {.name = "size",
                 .help = "size of the result: whole is large enough for the rotated picture; same is the size of the "
                         "picture",
                 .type = Type::choice,
                 .default_value = "whole",
                 .choices = {"whole", "same"}},
                opaque_color_parameter("colour of the area outside the picture: #rrggbb or a name"),
            },
        .examples = {"rotate=15:color=gray", "rotate=90", "rotate=-1.5:size=same"},
        .output_shape = [](const ParameterValues& values,
                           const Shape& shape) { return rotated(rotate_parameters(values, shape), shape); },
        .make = [](const ParameterValues& values, const Shape& shape, Executor& executor) -> std::unique_ptr<Filter> {
            return std::make_unique<FilterOf<Rotate>>(rotate_parameters(values, shape), shape, executor);
        },
        .placement = [](const ParameterValues& values, const Shape& shape) -> PlaneMap {
            const auto parameters = rotate_parameters(values, shape);
            const auto turn = turn_by(parameters.degrees);
            const auto to = rotated(parameters, shape);
            const double x = shape.width / 2.0, y = shape.height / 2.0;
            return {.xx = turn.cosine,
                    .xy = -turn.sine,
                    .x0 = to.width / 2.0 - turn.cosine * x + turn.sine * y,
                    .yx = turn.sine,
                    .yy = turn.cosine,
                    .y0 = to.height / 2.0 - turn.sine * x - turn.cosine * y};
        },
    };
}

}  // namespace framewire

#endif  // HWY_ONCE
