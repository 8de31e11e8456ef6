#include "framewire/detect/boxes/boxes.hpp"

#include "framewire/core/error.hpp"
#include "framewire/core/parameters/fields.hpp"
#include "framewire/filters/text/color.hpp"

#include <algorithm>
#include <utility>
#include <variant>

// The filter `boxes` composes MotionDetector and BoxOverlay. Its parameters are those of both, except for the
// background image and the capacity of the detector.

namespace framewire {
namespace {

// A filter has no access to files, so a background image is rejected.
DetectorParameters detector_from(const ParameterValues& values) {
    auto parameters = detector_parameters(values);
    if (const auto* image = std::get_if<BackgroundImage>(&parameters.background))
        fail(ErrorCode::usage, "boxes cannot compare with the picture '{}'; allowed are mixture, mean:RATE and first",
             image->path);
    return parameters;
}

// `pixelate` is a field of its own because it is listed before the detector's parameters, the style after them.
const ParameterFields<BoxStyle>& pixelate_field() {
    static const ParameterFields<BoxStyle> field = {parameter_field(
        &BoxStyle::pixelate_px, {.name = "pixelate",
                                 .help = "hide what moves under cells of this side, in pixels, and all until there is "
                                         "a background; 0 draws boxes",
                                 .maximum = max_pixelate_px})};
    return field;
}

const ParameterFields<BoxStyle>& outline_fields() {
    static const ParameterFields<BoxStyle> fields = {
        {{.name = "color", .help = "of the boxes: #rrggbb or a name", .type = ParameterInfo::Type::text},
         [](const BoxStyle& style) { return to_string(Color{style.color}); },
         [](BoxStyle& style, const std::string& text) { style.color = parse_color(text, "color").pixel; }},
        parameter_field(
            &BoxStyle::line_px,
            {.name = "line", .help = "width of the boxes' lines, in pixels", .minimum = 1, .maximum = max_outline_px}),
    };
    return fields;
}

BoxStyle style_from(const ParameterValues& values) {
    auto style = pixelate_field().from(values);
    outline_fields().set(style, values);
    return style;
}

std::vector<ParameterInfo> parameters() {
    auto all = pixelate_field().infos();
    for (const auto* more : {&detector_fields().infos(), &outline_fields().infos()})
        // Order of the help: pixelate, detector, outline.
        all.insert(all.end(), more->begin(), more->end());
    return all;
}

}  // namespace

void Boxes::run(const FilterImages<MemorySpace::host>& images) {
    detector_.run(images.in);
    overlay_.run(images.in, detector_.objects<MemorySpace::host>(), images.out, detector_.frames_before_background());
    has_run_ = true;
}

void Boxes::run(const FilterImages<MemorySpace::device>& images) {
    if constexpr (cuda::compiled) {
        detector_.run(images.in);
        overlay_.run(images.in, detector_.objects<MemorySpace::device>(), images.out,
                     detector_.frames_before_background());
        has_run_ = true;
    }
}

// Only the number of objects is reported, per frame.
std::vector<FilterFigure> Boxes::figures() const {
    std::vector<FilterFigure> figures;
    if (!has_run_) return figures;
    const auto& objects = detector_.fetch();
    for (int frame = 0; frame < detector_.shape().frames; ++frame)
        figures.push_back({"objects", frame, static_cast<double>(objects.found(frame))});
    return figures;
}

FilterInfo boxes_info() {
    return {
        .name = "boxes",
        .summary = "what moves, in boxes or hidden under a mosaic",
        .parameters = parameters(),
        .examples = {"boxes", "boxes=pixelate=16:morph='median:15'", "boxes=method=report:blur=7:threshold=12"},
        // Parameters are validated when the shapes of a chain are computed, before any plan is made.
        .output_shape =
            [](const ParameterValues& values, const Shape& shape) {
                detector_from(values);
                style_from(values);
                return shape;
            },
        .make = [](const ParameterValues& values, const Shape& shape, Executor& executor) -> std::unique_ptr<Filter> {
            return std::make_unique<FilterOf<Boxes>>(detector_from(values), style_from(values), shape, executor);
        },
    };
}

}  // namespace framewire
