#include "framewire/detect/boxes/boxes.hpp"

#include "framewire/core/error.hpp"
#include "framewire/core/parameters/fields.hpp"
#include "framewire/filters/text/color.hpp"

#include <algorithm>
#include <utility>
#include <variant>

namespace framewire {
namespace {

DetectorParameters detector_from(const ParameterValues& values) {
    auto parameters = detector_parameters(values);
    if (const auto* image = std::get_if<BackgroundImage>(&parameters.background))
        fail(ErrorCode::usage, "boxes cannot compare with the picture '{}'; allowed are mixture, mean:RATE and first",
             image->path);
    return parameters;
}

BoxStyle style_from(const ParameterValues& values) {
    return {.color = parse_color(values.text("color"), "color").pixel,
            .line_px = static_cast<int>(values.integer("line")),
            .pixelate_px = static_cast<int>(values.integer("pixelate"))};
}

std::vector<ParameterInfo> parameters() {
    std::vector<ParameterInfo> all{
        {.name = "pixelate",
         .help =
             "hide what moves under cells of this side, in pixels, and all until there is a background; 0 draws boxes",
         .default_value = "0",
         .maximum = max_pixelate_px}};
    const auto& detector = detector_fields().infos();
    all.insert(all.end(), detector.begin(), detector.end());
    all.push_back({.name = "color",
                   .help = "of the boxes: #rrggbb or a name",
                   .type = ParameterInfo::Type::text,
                   .default_value = "red"});
    all.push_back({.name = "line",
                   .help = "width of the boxes' lines, in pixels",
                   .default_value = "2",
                   .minimum = 1,
                   .maximum = max_outline_px});
    return all;
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
        .examples = {"boxes", "boxes=pixelate=16:morph='median:15'", "boxes=method=report:blur=7:threshold=12"},
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
