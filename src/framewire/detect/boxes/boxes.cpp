#include "framewire/detect/boxes/boxes.hpp"

#include "framewire/core/error.hpp"
#include "framewire/filters/text/color.hpp"

#include <algorithm>
#include <utility>
#include <variant>

namespace framewire {
namespace {

DetectorParameters detector_from(const ParameterValues& values) {
    DetectorParameters parameters;
    parameters.background = parse_background(values.text("background"));
    if (const auto* image = std::get_if<BackgroundImage>(&parameters.background))
        fail(ErrorCode::usage, "boxes cannot compare with the picture '{}'; allowed are first, mean:RATE and mixture",
             image->path);
    parameters.blur_px = static_cast<int>(values.integer("blur"));
    parameters.threshold = static_cast<int>(values.integer("threshold"));
    parameters.morphology = parse_morphology_operation(values.text("morph"));
    parameters.shape = parse_element_shape(values.text("shape"));
    parameters.diameter_px = static_cast<int>(values.integer("diameter"));
    parameters.connectivity = static_cast<int>(values.integer("connectivity"));
    parameters.min_area = static_cast<int>(values.integer("min-area"));
    if (const auto most = values.integer("max-area")) parameters.max_area = static_cast<int>(most);
    return parameters;
}

BoxStyle style_from(const ParameterValues& values) {
    return {.color = parse_color(values.text("color"), "color").pixel,
            .line_px = static_cast<int>(values.integer("line")),
            .pixelate_px = static_cast<int>(values.integer("pixelate"))};
}

ParameterInfo number(std::string_view name, std::string_view help, std::string_view value, double least, double most) {
    return {.name = name,
            .help = help,
            .type = ParameterInfo::Type::integer,
            .default_value = value,
            .minimum = least,
            .maximum = most};
}

ParameterInfo choice(std::string_view name, std::string_view help, std::vector<std::string_view> choices) {
    return {.name = name,
            .help = help,
            .type = ParameterInfo::Type::choice,
            .default_value = choices.front(),
            .choices = std::move(choices)};
}

std::vector<ParameterInfo> parameters() {
    constexpr double most_pixels = max_side_px * max_side_px;
    auto diameter = number("diameter", "of the morphology's element, in pixels", "15", 1, max_element_px);
    diameter.odd_only = true;
    auto connectivity = number("connectivity", "neighbours of a pixel", "8", 4, 8);
    connectivity.choices = {"4", "8"};
    return {
        number(
            "pixelate",
            "hide what moves under cells of this side, in pixels, and all until there is a background; 0 draws boxes",
            "0", 0, max_pixelate_px),
        {.name = "background",
         .help =
             "what frames are compared with: first (there from the second frame on), mean:RATE or mixture (there once "
             "the frames since count more than the first)",
         .type = ParameterInfo::Type::text,
         .default_value = "first"},
        number("blur", "side of the Gaussian that frames are blurred with before, in pixels; 1 is none", "15", 1, 255),
        number("threshold", "a pixel moves where gray and background differ by more", "20", 0, 255),
        choice("morph", "what closes gaps and drops specks",
               {"close", "open", "close-open", "dilate", "erode", "none"}),
        choice("shape", "of the morphology's element", {"disc", "ellipse", "rect"}),
        diameter,
        connectivity,
        number("min-area", "smaller objects are passed over, in pixels", "100", 1, most_pixels),
        number("max-area", "larger objects are passed over, in pixels; 0 is no limit", "0", 0, most_pixels),
        {.name = "color",
         .help = "of the boxes: #rrggbb or a name",
         .type = ParameterInfo::Type::text,
         .default_value = "red"},
        number("line", "width of the boxes' lines, in pixels", "2", 1, max_outline_px),
    };
}

}  // namespace

void Boxes::run(const FilterImages<MemorySpace::host>& images) {
    detector_.run(images.in);
    overlay_.run(images.in, detector_.objects_on_host(), images.out, detector_.frames_before_background());
    has_run_ = true;
}

void Boxes::run(const FilterImages<MemorySpace::device>& images) {
    if constexpr (cuda::compiled) {
        detector_.run(images.in);
        overlay_.run(images.in, detector_.objects_on_device(), images.out, detector_.frames_before_background());
        has_run_ = true;
    }
}

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
        .examples = {"boxes=blur=7:threshold=12", "boxes=pixelate=16:background='mean:0.02'"},
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
