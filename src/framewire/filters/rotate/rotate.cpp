#include "framewire/filters/rotate/rotate.hpp"

#include "framewire/filters/geometry/opaque_color.hpp"

#include <cmath>
#include <numbers>

// Geometry of rotations. A rotation by a multiple of 90 degrees is a PixelMap if the result has a suitable size; any
// other one is a RotateMap in fixed point, so that all backends sample the image at the same positions.

namespace framewire {
namespace {

// An angle. For multiples of 90 degrees, sine and cosine are exact.
struct Turn {
    double cosine, sine;
    int quarters;  // clockwise quarter turns, 0 to 3; -1 for other angles
};

// Multiples of 90 degrees must not suffer from the rounding of sines.
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

// Shape of the result. Throws Error{usage} on an angle or a shape that is not allowed.
Shape rotated(const RotateParameters& parameters, const Shape& shape) {
    validate(shape, "rotate's image");
    if (!(std::abs(parameters.degrees) <= 360))
        fail(ErrorCode::usage, "rotate by {} degrees; allowed are -360 to 360", parameters.degrees);
    if (!parameters.whole) return shape;
    const auto turn = turn_by(parameters.degrees);
    const double cosine = std::abs(turn.cosine), sine = std::abs(turn.sine);
    // Ignore what only a double's rounding adds.
    const auto side = [&](int along, int across) {
        constexpr double rounding_error = 1e-6;
        return static_cast<int>(std::ceil(along * cosine + across * sine - rounding_error));
    };
    const Shape to{shape.frames, side(shape.height, shape.width), side(shape.width, shape.height), shape.channels};
    validate(to, "rotate's result");
    return to;
}

// The map that puts the center of the result on the center of the image.
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

// The map for a multiple of 90 degrees.
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

// A quarter turn of an image that is not square, into the image's own size, interpolates as other angles do.
Rotate::Rotate(const RotateParameters& parameters, const Shape& shape, Executor& executor)
    : from_(shape), to_(rotated(parameters, shape)), color_(parameters.color), executor_(&executor) {
    const auto turn = turn_by(parameters.degrees);
    if (turn.quarters >= 0 && (parameters.whole || turn.quarters % 2 == 0 || from_.width == from_.height))
        moves_.emplace(quarter_turns(turn.quarters, from_), color_, from_, to_, executor);
    else
        map_ = map_of(turn, from_, to_);
}

// Rotations by right angles are moves.
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
        .summary = "the picture turned, by any angle",
        .parameters =
            {
                {.name = "angle",
                 .help = "in degrees, clockwise; 90, 180 and 270 move pixels unchanged, others blend neighbours",
                 .type = Type::real,
                 .default_value = "90",
                 .minimum = -360,
                 .maximum = 360},
                {.name = "size",
                 .help = "of the result: whole holds all of the turned picture; same is as large as the picture",
                 .type = Type::choice,
                 .default_value = "whole",
                 .choices = {"whole", "same"}},
                opaque_color_parameter("of what the picture does not cover: #rrggbb or a name"),
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
