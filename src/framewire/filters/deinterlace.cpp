#include "framewire/filters/deinterlace.hpp"
#include "framewire/core/simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "framewire/filters/deinterlace.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <cstring>

// Deinterlacing line by line in vectors of bytes. Every method needs averages that round like its formula: AverageRound
// rounds up, and blend_line() corrects for that.

// The part that is compiled once, not once per instruction set.
#ifndef FRAMEWIRE_DEINTERLACE_CPU_ONCE
#define FRAMEWIRE_DEINTERLACE_CPU_ONCE

namespace framewire {

// A line of an image and its neighbours. At an edge, the line inside replaces the one outside.
struct DeinterlacedLines {
    // First bytes of the three lines.
    const std::uint8_t *above, *here, *below;

    // Finds line `y` of an image with `height` lines, and its neighbours.
    DeinterlacedLines(const ImageRows<const std::uint8_t>& rows, int height, int y) : here(rows.row(y)) {
        const int inside = height > 1 ? 1 : 0;
        above = rows.row(y > 0 ? y - 1 : inside);
        below = rows.row(y + 1 < height ? y + 1 : height - 1 - inside);
    }
};

}  // namespace framewire

#endif

HWY_BEFORE_NAMESPACE();
namespace framewire::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using DeinterlaceD = hn::ScalableTag<std::uint8_t>;
using DeinterlaceV = hn::VFromD<DeinterlaceD>;

// Calls vector(x) at positions that cover a line; the last vector may overlap the previous one. For a line shorter than
// a vector, calls byte(x) for each byte instead.
template <class Vector, class Byte>
void for_line(std::int64_t bytes, Vector&& vector, Byte&& byte) {
    const auto step = static_cast<std::int64_t>(hn::Lanes(DeinterlaceD()));
    std::int64_t x = 0;
    for (; x + step <= bytes; x += step) vector(x);
    if (x == bytes) return;
    if (bytes >= step) return vector(bytes - step);
    for (; x < bytes; ++x) byte(x);
}

HWY_INLINE DeinterlaceV deinterlace_load(const std::uint8_t* at) { return hn::LoadU(DeinterlaceD(), at); }

// Returns the absolute difference per byte.
HWY_INLINE DeinterlaceV deinterlace_change(DeinterlaceV now, DeinterlaceV before) {
    return hn::Or(hn::SaturatedSub(now, before), hn::SaturatedSub(before, now));
}

}  // namespace

// Computes a line with DeinterlaceMethod::blend.
void blend_line(const DeinterlacedLines& now, std::int64_t bytes, std::uint8_t* out) {
    const DeinterlaceD d;
    for_line(
        bytes,
        [&](std::int64_t x) HWY_ATTR {
            // Half the sum of the neighbours, rounded down. The dropped half never changes the final rounding.
            const auto above = deinterlace_load(now.above + x), below = deinterlace_load(now.below + x);
            const auto half =
                hn::Sub(hn::AverageRound(above, below), hn::And(hn::Xor(above, below), hn::Set(d, std::uint8_t{1})));
            hn::StoreU(hn::AverageRound(half, deinterlace_load(now.here + x)), d, out + x);
        },
        [&](std::int64_t x) {
            out[x] = static_cast<std::uint8_t>(deinterlaced_blend(now.above[x], now.here[x], now.below[x]));
        });
}

// Computes a replaced line with DeinterlaceMethod::linear.
void linear_line(const DeinterlacedLines& now, std::int64_t bytes, std::uint8_t* out) {
    for_line(
        bytes,
        [&](std::int64_t x) HWY_ATTR {
            hn::StoreU(hn::AverageRound(deinterlace_load(now.above + x), deinterlace_load(now.below + x)),
                       DeinterlaceD(), out + x);
        },
        [&](std::int64_t x) { out[x] = static_cast<std::uint8_t>(deinterlaced_linear(now.above[x], now.below[x])); });
}

// Computes a replaced line with DeinterlaceMethod::adaptive; `before` holds the previous frame's lines.
void adaptive_line(const DeinterlacedLines& now, const DeinterlacedLines& before, int threshold, std::int64_t bytes,
                   std::uint8_t* out) {
    const DeinterlaceD d;
    const auto most = hn::Set(d, static_cast<std::uint8_t>(threshold));
    for_line(
        bytes,
        [&](std::int64_t x) HWY_ATTR {
            const auto above = deinterlace_load(now.above + x), here = deinterlace_load(now.here + x),
                       below = deinterlace_load(now.below + x);
            const auto change = hn::Max(hn::Max(deinterlace_change(above, deinterlace_load(before.above + x)),
                                                deinterlace_change(here, deinterlace_load(before.here + x))),
                                        deinterlace_change(below, deinterlace_load(before.below + x)));
            const auto is_still = hn::Eq(hn::SaturatedSub(change, most), hn::Zero(d));
            hn::StoreU(hn::IfThenElse(is_still, here, hn::AverageRound(above, below)), d, out + x);
        },
        [&](std::int64_t x) {
            out[x] = static_cast<std::uint8_t>(deinterlaced_adaptive(
                now.above[x], now.here[x], now.below[x], before.above[x], before.here[x], before.below[x], threshold));
        });
}

}  // namespace framewire::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace framewire {

HWY_EXPORT(blend_line);
HWY_EXPORT(linear_line);
HWY_EXPORT(adaptive_line);

namespace {

constexpr std::int64_t deinterlaced_rows = 32;  // rows per chunk of work

}  // namespace

// Lines are independent, so threads take 32 at a time. Lines of the field that is kept are copied.
void Deinterlace::run(const FilterImages<MemorySpace::host>& images) const {
    const auto method = method_for(images);
    const auto bytes = shape_.row_bytes();
    executor_->pool().for_chunks(
        shape_.rows(), deinterlaced_rows, [&](std::int64_t, std::int64_t begin, std::int64_t end) {
            for (auto row = begin; row < end; ++row) {
                const auto frame = static_cast<int>(row / shape_.height), y = static_cast<int>(row % shape_.height);
                // Returns line y of the frame and its neighbours.
                const auto lines_of = [&](HostView<const std::uint8_t> batch) {
                    return DeinterlacedLines(ImageRows(batch.frames(frame, 1)), shape_.height, y);
                };
                const auto now = lines_of(images.in);
                auto* out = images.out.row(frame, y);
                if (method == DeinterlaceMethod::blend)
                    HWY_DYNAMIC_DISPATCH(blend_line)(now, bytes, out);
                else if ((y % 2 == 1) == parameters_.keeps_bottom)
                    std::memcpy(out, now.here, static_cast<std::size_t>(bytes));
                else if (method == DeinterlaceMethod::linear)
                    HWY_DYNAMIC_DISPATCH(linear_line)(now, bytes, out);
                else
                    HWY_DYNAMIC_DISPATCH(adaptive_line)
                (now, lines_of(images.previous), parameters_.threshold, bytes, out);
            }
        });
}

bool Deinterlace::works_by_rows() const {
    return executor_->backend() == Backend::cpu && shape_.frames == 1 &&
           parameters_.method != DeinterlaceMethod::adaptive;
}

void Deinterlace::run_rows(const ImageRows<const std::uint8_t>& in, const ImageRows<std::uint8_t>& out) const {
    validate_rows(in, shape_, "deinterlace's input rows");
    validate_rows(out, shape_, "deinterlace's output rows");
    const auto bytes = shape_.row_bytes();
    for (int y = out.range().begin; y < out.range().end; ++y) {
        const DeinterlacedLines now(in, shape_.height, y);
        if (parameters_.method == DeinterlaceMethod::blend)
            HWY_DYNAMIC_DISPATCH(blend_line)(now, bytes, out.row(y));
        else if ((y % 2 == 1) == parameters_.keeps_bottom)
            std::memcpy(out.row(y), now.here, static_cast<std::size_t>(bytes));
        else
            HWY_DYNAMIC_DISPATCH(linear_line)(now, bytes, out.row(y));
    }
}

}  // namespace framewire

#endif

#if HWY_ONCE

namespace framewire {
namespace {

// Names of the methods, in the order of DeinterlaceMethod.
constexpr std::array<std::string_view, 3> deinterlace_methods{"adaptive", "linear", "blend"};

// Returns the parameters in a chain's values.
DeinterlaceParameters deinterlace_parameters(const ParameterValues& values) {
    const auto method = std::ranges::find(deinterlace_methods, values.text("method")) - deinterlace_methods.begin();
    return {.method = static_cast<DeinterlaceMethod>(method),
            .keeps_bottom = values.text("keep") == "bottom",
            .threshold = static_cast<int>(values.integer("threshold"))};
}

}  // namespace

Deinterlace::Deinterlace(const DeinterlaceParameters& parameters, const Shape& shape, Executor& executor)
    : parameters_(parameters), shape_(shape), executor_(&executor) {
    validate(shape, "deinterlace's image");
    if (parameters.threshold < 0 || parameters.threshold > 255)
        fail(ErrorCode::usage, "deinterlace's threshold is {}; allowed: 0 to 255", parameters.threshold);
}

// Validates the images and returns the method for this run: a first frame has no predecessor to compare with, so
// `adaptive` becomes `linear`.
template <MemorySpace space>
DeinterlaceMethod Deinterlace::method_for(const FilterImages<space>& images) const {
    validate(images.in, shape_, "deinterlace's image");
    validate(images.previous, shape_, "deinterlace's previous image");
    validate(images.out, shape_, "deinterlace's result");
    const bool first = images.previous.data() == images.in.data();
    return first && parameters_.method == DeinterlaceMethod::adaptive ? DeinterlaceMethod::linear : parameters_.method;
}
template DeinterlaceMethod Deinterlace::method_for(const FilterImages<MemorySpace::host>& images) const;
template DeinterlaceMethod Deinterlace::method_for(const FilterImages<MemorySpace::device>& images) const;

FilterInfo deinterlace_info() {
    using Type = ParameterInfo::Type;
    return {
        .name = "deinterlace",
        .summary = "turns interlaced video into full frames without comb artifacts",
        .parameters =
            {
                {.name = "method",
                 .help = "adaptive: interpolate lines where something moved since the previous frame; linear: "
                         "interpolate everywhere; blend: average each line with its neighbours",
                 .type = Type::choice,
                 .default_value = "adaptive",
                 .choices = {deinterlace_methods.begin(), deinterlace_methods.end()}},
                {.name = "keep",
                 .help = "the field whose lines are kept: top has lines 0, 2, 4 ...",
                 .type = Type::choice,
                 .default_value = "top",
                 .choices = {"top", "bottom"}},
                {.name = "threshold",
                 .help = "a pixel counts as moving if it changes by more than this",
                 .type = Type::integer,
                 .default_value = "10",
                 .minimum = 0,
                 .maximum = 255},
            },
        .examples = {"deinterlace", "deinterlace=linear:keep=bottom"},
        .needs_previous = true,
        .output_shape = [](const ParameterValues&, const Shape& shape) { return shape; },
        .make = [](const ParameterValues& values, const Shape& shape, Executor& executor) -> std::unique_ptr<Filter> {
            return std::make_unique<FilterOf<Deinterlace>>(deinterlace_parameters(values), shape, executor);
        },
    };
}

}  // namespace framewire

#endif  // HWY_ONCE
