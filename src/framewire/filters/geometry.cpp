#include "framewire/filters/geometry.hpp"
#include "framewire/core/error.hpp"
#include "framewire/core/parameters.hpp"
#include "framewire/filters/gray_input.hpp"
#include "framewire/filters/text.hpp"

#include <cmath>
#include <string>

namespace framewire {
namespace {

// Maximum depth of nesting: enough for any sensible measure, but safe for any stack.
constexpr int most_nested = 32;

// Recursive-descent parser: sum = product {(+|-) product}; product = factor {(*|/) factor}; factor = [-] (NUMBER[%] |
// NAME | '(' sum ')').
class MeasureReader {
public:
    // `what` names the parameter in messages.
    MeasureReader(std::string_view text, std::string_view what, int whole, const MeasureNames& names)
        : text_(text), rest_(text), what_(what), whole_(whole), names_(names) {}

    // Evaluates the whole text.
    double read() {
        const double value = sum();
        if (!rest_.empty()) fail_here("is not an operator");
        return value;
    }

private:
    // sum = product {(+|-) product}
    double sum() {
        double value = product();
        for (;;) {
            if (take('+'))
                value += product();
            else if (take('-'))
                value -= product();
            else
                return value;
        }
    }

    // product = factor {(*|/) factor}; a division by 0 becomes infinite or NaN, which measure() rejects.
    double product() {
        double value = factor();
        for (;;) {
            if (take('*'))
                value *= factor();
            else if (take('/'))
                value /= factor();
            else
                return value;
        }
    }

    // factor = [-] (NUMBER[%] | NAME | '(' sum ')'). Every recursion passes through this function, so it limits the
    // depth.
    double factor() {
        if (++nested_ > most_nested) fail_here("is nested too deeply");
        double value;
        if (take('-')) {
            value = -factor();
        } else if (take('(')) {
            value = sum();
            if (!take(')')) fail_here("was found instead of ')'");
        } else {
            value = number_or_name();
        }
        --nested_;
        return value;
    }

    // NUMBER[%] or NAME. Percentages refer to `whole`.
    double number_or_name() {
        skip_spaces();
        const auto is_digit = [](char c) { return (c >= '0' && c <= '9') || c == '.'; };
        if (!rest_.empty() && is_digit(rest_[0])) {
            double number = 0;
            const auto before = rest_;
            if (take_number(rest_, number) != std::errc{} || !std::isfinite(number)) {
                rest_ = before;
                fail_here("is not a number");
            }
            return take('%') ? number / 100 * whole_ : number;
        }
        const auto end = std::min(rest_.find_first_not_of("abcdefghijklmnopqrstuvwxyz_"), rest_.size());
        const auto value = value_of(rest_.substr(0, end));
        if (!value) fail_here("is neither a number nor a known name");
        rest_.remove_prefix(end);
        return *value;
    }

    // Returns the value of a name, in pixels; nothing if the name is unknown or has no value here.
    std::optional<double> value_of(std::string_view name) const {
        if (name == "iw" || name == "in_w") return names_.in_width;
        if (name == "ih" || name == "in_h") return names_.in_height;
        if (name == "ow" || name == "out_w") return names_.out_width;
        if (name == "oh" || name == "out_h") return names_.out_height;
        return {};
    }

    void skip_spaces() { rest_.remove_prefix(std::min(rest_.find_first_not_of(' '), rest_.size())); }
    // Removes `c` and the spaces around it if the remaining text starts with it. Returns true if so.
    bool take(char c) {
        skip_spaces();
        if (rest_.empty() || rest_[0] != c) return false;
        rest_.remove_prefix(1);
        skip_spaces();
        return true;
    }

    // Throws Error{usage}; the message quotes the remaining text as the position of the problem.
    [[noreturn]] void fail_here(std::string_view problem) const {
        const auto where = rest_.empty() ? std::string("its end") : fmt::format("'{}'", rest_);
        const bool sizes = names_.out_width || names_.out_height;
        fail(ErrorCode::usage,
             "{} '{}': {} {}; allowed: pixels (320), percentages (50%) and expressions like iw/2 with + - * / ( ) and "
             "the names iw, ih{}",
             what_, text_, where, problem, sizes ? ", ow, oh" : "");
    }

    std::string_view text_, rest_, what_;
    int whole_;
    const MeasureNames& names_;
    int nested_ = 0;
};

}  // namespace

int measure(std::string_view text, std::string_view what, int whole, const MeasureNames& names) {
    const double value = MeasureReader(text, what, whole, names).read();
    constexpr double most = 1e9;
    if (!(std::abs(value) <= most))
        fail(ErrorCode::usage, "{} '{}' is {}, which is not a valid length", what, text, value);
    // A value that is an integer except for a double's rounding (29% of 100) counts as that integer.
    constexpr double rounding = 1e-6;
    return static_cast<int>(value < 0 ? value - rounding : value + rounding);
}

ParameterInfo opaque_color_parameter(std::string_view help) {
    return {.name = "color", .help = help, .type = ParameterInfo::Type::text, .default_value = "black"};
}

// An alpha would be meaningless, because there is nothing under these pixels.
Pixel opaque_color_from(const ParameterValues& values, int channels) {
    const auto& text = values.text("color");
    const auto color = parse_color(text, "color");
    if (color.alpha != 255)
        fail(ErrorCode::usage, "color '{}' has an alpha value; this filter needs an opaque colour", text);
    if (channels == 3) return color.pixel;
    return gray_pixel(static_cast<Pixel>(gray_of(color.pixel, split(gray_weights(GrayMethod::weighted)))));
}

namespace {

// Returns the shape of the result. Throws Error{usage} if the rectangle is not inside the image.
Shape cropped(const CropParameters& part, const Shape& shape) {
    validate(shape, "crop's image");
    if (part.width < 1 || part.height < 1 || part.x < 0 || part.y < 0 || part.width > shape.width - part.x ||
        part.height > shape.height - part.y)
        fail(ErrorCode::usage, "the {}x{} crop at {},{} is not inside the {}x{} image", part.width, part.height, part.x,
             part.y, shape.width, shape.height);
    return {shape.frames, part.height, part.width, shape.channels};
}

// Evaluates the measures in their order of dependence: w and h first, because x and y may refer to them.
CropParameters crop_parameters(const ParameterValues& values, const Shape& shape) {
    MeasureNames names{shape.width, shape.height};
    CropParameters part;
    part.width = measure(values.text("w"), "w", shape.width, names);
    part.height = measure(values.text("h"), "h", shape.height, names);
    names.out_width = part.width;
    names.out_height = part.height;
    part.x = measure(values.text("x"), "x", shape.width, names);
    part.y = measure(values.text("y"), "y", shape.height, names);
    return part;
}

}  // namespace

PixelMoves crop(const CropParameters& part, const Shape& shape, Executor& executor) {
    const auto to = cropped(part, shape);
    return {PixelMap{.x = part.x, .y = part.y}, 0, shape, to, executor};
}

FilterInfo crop_info() {
    using Type = ParameterInfo::Type;
    return {
        .name = "crop",
        .summary = "crops the picture to a rectangle",
        .parameters =
            {
                {.name = "w",
                 .help = "width of the rectangle: pixels (320), percentage of the image (50%) or expression with iw "
                         "and ih (iw-16)",
                 .type = Type::text,
                 .default_value = "iw"},
                {.name = "h", .help = "height, in the same form as w", .type = Type::text, .default_value = "ih"},
                {.name = "x",
                 .help = "left edge, in the same form as w; ow and oh are the rectangle's sides",
                 .type = Type::text,
                 .default_value = "(iw-ow)/2"},
                {.name = "y",
                 .help = "upper edge, in the same form as x",
                 .type = Type::text,
                 .default_value = "(ih-oh)/2"},
            },
        .unnamed = 4,
        .examples = {"crop=50%:50%", "crop=640:480:x=16:y=ih-oh"},
        .output_shape = [](const ParameterValues& values,
                           const Shape& shape) { return cropped(crop_parameters(values, shape), shape); },
        .make = [](const ParameterValues& values, const Shape& shape, Executor& executor) -> std::unique_ptr<Filter> {
            return std::make_unique<FilterOf<PixelMoves>>(crop(crop_parameters(values, shape), shape, executor));
        },
        .placement = [](const ParameterValues& values, const Shape& shape) -> PlaneMap {
            const auto part = crop_parameters(values, shape);
            return {.x0 = -static_cast<double>(part.x), .y0 = -static_cast<double>(part.y)};
        },
    };
}

namespace {

FlipParameters flip_parameters(const ParameterValues& values) {
    const auto& direction = values.text("direction");
    return {.left_right = direction != "vertical", .top_bottom = direction != "horizontal"};
}

}  // namespace

// A mirrored image is a PixelMap with negative steps; nothing else is specific to flip.
PixelMoves flip(const FlipParameters& parameters, const Shape& shape, Executor& executor) {
    validate(shape, "flip's image");
    return {mirrored(shape, parameters.left_right, parameters.top_bottom), 0, shape, shape, executor};
}

FilterInfo flip_info() {
    return {
        .name = "flip",
        .summary = "mirrors the picture",
        .parameters =
            {
                {.name = "direction",
                 .help =
                     "horizontal: swaps left and right; vertical: swaps top and bottom; both: rotates by 180 degrees",
                 .type = ParameterInfo::Type::choice,
                 .default_value = "horizontal",
                 .choices = {"horizontal", "vertical", "both"}},
            },
        .examples = {"flip", "flip=vertical"},
        .output_shape = [](const ParameterValues&, const Shape& shape) { return shape; },
        .make = [](const ParameterValues& values, const Shape& shape, Executor& executor) -> std::unique_ptr<Filter> {
            return std::make_unique<FilterOf<PixelMoves>>(flip(flip_parameters(values), shape, executor));
        },
        .placement =
            [](const ParameterValues& values, const Shape& shape) {
                const auto flip = flip_parameters(values);
                PlaneMap map;
                if (flip.left_right) map.xx = -1, map.x0 = shape.width;
                if (flip.top_bottom) map.yy = -1, map.y0 = shape.height;
                return map;
            },
    };
}

namespace {

// Returns the shape of the result. Throws Error{usage} if the image does not fit.
Shape padded(const PadParameters& pad, const Shape& shape) {
    validate(shape, "pad's image");
    const Shape to{shape.frames, pad.height, pad.width, shape.channels};
    validate(to, "pad's result");
    if (pad.x < 0 || pad.y < 0 || shape.width > to.width - pad.x || shape.height > to.height - pad.y)
        fail(ErrorCode::usage, "the {}x{} image at {},{} is not inside the padded {}x{} picture", shape.width,
             shape.height, pad.x, pad.y, pad.width, pad.height);
    return to;
}

// As in FFmpeg, a side of 0 keeps the image's side, and a negative position centers the image.
PadParameters pad_parameters(const ParameterValues& values, const Shape& shape) {
    MeasureNames names{shape.width, shape.height};
    PadParameters pad{.color = opaque_color_from(values, shape.channels)};
    pad.width = measure(values.text("w"), "w", shape.width, names);
    pad.height = measure(values.text("h"), "h", shape.height, names);
    if (pad.width == 0) pad.width = shape.width;
    if (pad.height == 0) pad.height = shape.height;
    names.out_width = pad.width;
    names.out_height = pad.height;
    pad.x = measure(values.text("x"), "x", pad.width, names);
    pad.y = measure(values.text("y"), "y", pad.height, names);
    if (pad.x < 0) pad.x = (pad.width - shape.width) / 2;
    if (pad.y < 0) pad.y = (pad.height - shape.height) / 2;
    return pad;
}

}  // namespace

// A padded image is a PixelMap with negative offsets; PixelMoves fills the pixels outside the image.
PixelMoves pad(const PadParameters& parameters, const Shape& shape, Executor& executor) {
    const auto to = padded(parameters, shape);
    return {PixelMap{.x = -parameters.x, .y = -parameters.y}, parameters.color, shape, to, executor};
}

FilterInfo pad_info() {
    using Type = ParameterInfo::Type;
    return {
        .name = "pad",
        .summary = "adds a border of one colour",
        .parameters =
            {
                {.name = "w",
                 .help = "width of the result: pixels (640), percentage of the image (150%) or expression with iw and "
                         "ih (iw+16); 0 keeps the width",
                 .type = Type::text,
                 .default_value = "iw"},
                {.name = "h", .help = "height, in the same form as w", .type = Type::text, .default_value = "ih"},
                {.name = "x",
                 .help = "left edge of the image in the result, in the same form as w; ow and oh are the result's "
                         "sides; -1: centered",
                 .type = Type::text,
                 .default_value = "0"},
                {.name = "y",
                 .help = "upper edge of the image, in the same form as x",
                 .type = Type::text,
                 .default_value = "0"},
                opaque_color_parameter("colour of the border: #rrggbb or a name"),
            },
        .unnamed = 5,
        .examples = {"pad=iw+48:ih+32:-1:-1:orange", "pad=1920:1080:x=(ow-iw)/2:y=(oh-ih)/2"},
        .output_shape = [](const ParameterValues& values,
                           const Shape& shape) { return padded(pad_parameters(values, shape), shape); },
        .make = [](const ParameterValues& values, const Shape& shape, Executor& executor) -> std::unique_ptr<Filter> {
            return std::make_unique<FilterOf<PixelMoves>>(pad(pad_parameters(values, shape), shape, executor));
        },
        .placement = [](const ParameterValues& values, const Shape& shape) -> PlaneMap {
            const auto pad = pad_parameters(values, shape);
            return {.x0 = static_cast<double>(pad.x), .y0 = static_cast<double>(pad.y)};
        },
    };
}

}  // namespace framewire
