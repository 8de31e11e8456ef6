#include "framewire/core/error.hpp"
#include "framewire/core/parameters/fields.hpp"
#include "framewire/core/parameters/numbers.hpp"
#include "framewire/core/text/excerpt.hpp"
#include "framewire/core/text/nearest_name.hpp"
#include "framewire/core/view.hpp"
#include "framewire/detect/detector.hpp"
#include "framewire/detect/masks/median/mask_median.hpp"

#include <fmt/ranges.h>

#include <vector>

// The text form of DetectorParameters. Fields that are not plain members (method, background, morph, max-area)
// have functions of their own that convert between member and text.

namespace framewire {
namespace {

using P = DetectorParameters;

constexpr double most_pixels = max_side_px * max_side_px;

// The method `mixture` is the choice of that background.
bool is_mixture(const P& all) { return std::holds_alternative<MixtureParameters>(all.background); }

// As text the method follows from the background. Setting `report` selects the first frame, unless `background`
// is given too, which is set afterwards.
ParameterField<P> method_field() {
    return {{.name = "method",
             .help = "mixture, or the report's chain, whose background is the first frame unless another is given",
             .type = ParameterInfo::Type::choice,
             .choices = {"mixture", "report"}},
            [](const P& all) { return is_mixture(all) ? "mixture" : "report"; },
            [](P& all, const std::string& text) {
                if (text == "report") all.background = FirstFrame{};
            }};
}

// The background is a variant; its text form is that of parse_background().
ParameterField<P> background_field() {
    return {{.name = "background",
             .help = "what frames are compared with: mixture or mean:RATE (there once the frames since count more than "
                     "the first) or first (there from the second frame on); commands also take a picture's path",
             .type = ParameterInfo::Type::text,
             .unit = "BACKGROUND"},
            [](const P& all) { return std::string(name_of_background(all.background)); },
            [](P& all, const std::string& text) { all.background = parse_background(text); }};
}

constexpr std::string_view fitting_cleaning = "auto", median_name = "median";

// Formats a cleaning operation in the form that parse_cleaning() reads.
std::string cleaning_text(const std::optional<MaskCleaning>& cleaning) {
    if (!cleaning) return std::string(fitting_cleaning);
    if (const auto* window = std::get_if<MedianWindow>(&*cleaning))
        return fmt::format("{}:{}", median_name, window->size_px);
    return std::string(name_of(morphology_names, std::get<MorphologyOperation>(*cleaning)));
}

// Accepts `auto`, `median`, `median:SIZE` and the names of morphological operations.
std::optional<MaskCleaning> parse_cleaning(const std::string& text) {
    if (text == fitting_cleaning) return {};
    if (text == median_name) return MedianWindow{};
    if (const auto* operation = value_named(morphology_names, text)) return *operation;
    if (text.starts_with(fmt::format("{}:", median_name))) {
        const auto size = number_in<int>(std::string_view(text).substr(median_name.size() + 1));
        if (size && *size % 2 == 1 && *size >= least_mask_median_px && *size <= most_mask_median_px)
            return MedianWindow{*size};
        fail(ErrorCode::usage, "morph {}; allowed for a median's window is an odd whole number from {} to {}",
             in_quotes(text), least_mask_median_px, most_mask_median_px);
    }
    auto names = names_of(morphology_names);
    names.push_back(median_name);
    names.push_back(fitting_cleaning);
    fail(ErrorCode::usage, "morph {}; allowed is one of {}, {}[:SIZE] and {}{}", in_quotes(text),
         fmt::join(names_of(morphology_names), ", "), median_name, fitting_cleaning, did_you_mean(text, names));
}

// An empty optional is written as `auto`.
ParameterField<P> cleaning_field() {
    return {{.name = "morph",
             .help = "what closes gaps and drops specks: median[:SIZE], in a window of SIZE pixels (9), close, open, "
                     "close-open, dilate, erode or none; auto is a median with a mixture and close with others",
             .type = ParameterInfo::Type::text,
             .unit = "auto|median|median:SIZE|close|open|close-open|dilate|erode|none"},
            [](const P& all) { return cleaning_text(all.morphology); },
            [](P& all, const std::string& text) { all.morphology = parse_cleaning(text); }};
}

// 0 in text stands for no limit.
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
        method_field(),
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
        cleaning_field(),
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

// The user's choice first, else the operation that suits the background's masks.
MaskCleaning cleaning_of(const DetectorParameters& parameters) {
    if (parameters.morphology) return *parameters.morphology;
    if (is_mixture(parameters)) return MedianWindow{};
    return MorphologyOperation::close;
}

// Rejects values that another value makes ineffective, instead of ignoring them.
DetectorParameters detector_parameters(const ParameterValues& values) {
    const auto parameters = detector_fields().from(values);
    if (values.is_given("method") && values.text("method") != method_field().text(parameters))
        fail(ErrorCode::usage, "background {} does not go with method {}", name_of_background(parameters.background),
             values.text("method"));
    const auto refuse_void = [&](std::initializer_list<const char*> names, std::string_view beside) {
        for (const auto* name : names)
            if (values.is_given(name)) fail(ErrorCode::usage, "{} does not count with {}", name, beside);
    };
    if (is_mixture(parameters))
        refuse_void({"blur", "threshold"}, "background mixture, which tells itself what moves in frames as they are");
    const auto cleaning = cleaning_of(parameters);
    if (std::holds_alternative<MedianWindow>(cleaning))
        refuse_void({"shape", "diameter"}, "morph median, whose window is a square: median:SIZE");
    else if (std::get<MorphologyOperation>(cleaning) == MorphologyOperation::none)
        refuse_void({"shape", "diameter"}, "morph none");
    return parameters;
}

}  // namespace framewire
