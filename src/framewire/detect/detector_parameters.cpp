#include "framewire/core/parameters/fields.hpp"
#include "framewire/core/view.hpp"
#include "framewire/detect/detector.hpp"

namespace framewire {
namespace {

using P = DetectorParameters;

constexpr double most_pixels = max_side_px * max_side_px;

ParameterField<P> background_field() {
    return {{.name = "background",
             .help = "what frames are compared with: first (there from the second frame on), mean:RATE or mixture "
                     "(there once the frames since count more than the first); commands also take a picture's path",
             .type = ParameterInfo::Type::text,
             .unit = "BACKGROUND"},
            [](const P& all) { return std::string(name_of_background(all.background)); },
            [](P& all, const std::string& text) { all.background = parse_background(text); }};
}

ParameterField<P> max_area_field() {
    const auto field =
        parameter_field(&P::max_area, {.name = "max-area",
                                       .help = "larger objects are passed over, in pixels; 0 is no limit",
                                       .maximum = most_pixels,
                                       .unit = "PIXELS"});
    return {field.info, [=](const P& all) { return all.max_area == P{}.max_area ? "0" : field.text(all); },
            [=](P& all, const std::string& text) {
                if (text != "0") field.set(all, text);
            }};
}

}  // namespace

const ParameterFields<DetectorParameters>& detector_fields() {
    static const ParameterFields<P> fields = {
        background_field(),
        parameter_field(&P::blur_px,
                        {.name = "blur",
                         .help = "side of the Gaussian that frames are blurred with before, in pixels; 1 is none",
                         .minimum = 1,
                         .maximum = 255,
                         .unit = "PX"}),
        parameter_field(&P::threshold, {.name = "threshold",
                                        .help = "a pixel moves where gray and background differ by more",
                                        .maximum = 255,
                                        .unit = "N"}),
        parameter_field(&P::morphology, morphology_names,
                        {.name = "morph", .help = "what closes gaps and drops specks"}),
        parameter_field(&P::shape, element_shape_names, {.name = "shape", .help = "of the morphology's element"}),
        parameter_field(&P::diameter_px, {.name = "diameter",
                                          .help = "of the morphology's element, in pixels",
                                          .minimum = 1,
                                          .maximum = max_element_px,
                                          .odd_only = true,
                                          .unit = "PX"}),
        parameter_field(&P::connectivity, {.name = "connectivity",
                                           .help = "neighbours of a pixel",
                                           .minimum = 4,
                                           .maximum = 8,
                                           .choices = {"4", "8"}}),
        parameter_field(&P::min_area, {.name = "min-area",
                                       .help = "smaller objects are passed over, in pixels",
                                       .minimum = 1,
                                       .maximum = most_pixels,
                                       .unit = "PIXELS"}),
        max_area_field(),
    };
    return fields;
}

}  // namespace framewire
