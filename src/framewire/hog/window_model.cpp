#include "framewire/hog/window_model.hpp"
#include "framewire/core/error.hpp"
#include "framewire/core/parameter_fields.hpp"
#include "framewire/core/parameters.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace framewire {

// A window must consist of whole cells, because windows in an image are one cell apart.
HogShape window_shape(const WindowModel& model) {
    const auto shape = hog_shape(model.hog, {1, model.height_px, model.width_px, 1});
    const int cell = model.hog.cell;
    if (model.width_px % cell != 0 || model.height_px % cell != 0)
        fail(ErrorCode::usage, "a window of {}x{} pixels is not a multiple of the cell size, {} pixels", model.width_px,
             model.height_px, cell);
    return shape;
}

void validate(const WindowModel& model) {
    const auto shape = window_shape(model);
    if (static_cast<std::int64_t>(model.weights.size()) != shape.count())
        fail(ErrorCode::usage,
             "a model of {} weights does not match a window of {}x{} pixels, whose descriptor has {} x {} x {} = {} "
             "values",
             model.weights.size(), model.width_px, model.height_px, shape.rows, shape.columns, shape.values,
             shape.count());
    // A single NaN would make every score NaN.
    const auto finite = [](float value) { return std::isfinite(value); };
    if (!std::ranges::all_of(model.weights, finite) || !finite(model.bias))
        fail(ErrorCode::usage, "a model has a weight that is not finite");
}

const ParameterInfo& window_parameter() {
    static const ParameterInfo parameter{
        .name = "window",
        .help = "window size of the model in pixels, a multiple of the cell size",
        .type = ParameterInfo::Type::size,
        .default_value = fmt::format("{}x{}", WindowModel{}.width_px, WindowModel{}.height_px),
        .minimum = 1,
        .maximum = max_side_px};
    return parameter;
}

namespace {

ParameterInfo format_parameter() {
    return {.name = "format",
            .help = "version of the description",
            .type = ParameterInfo::Type::integer,
            .default_value = "1",
            .minimum = 1,
            .maximum = window_model_format};
}

}  // namespace

std::string description(const WindowModel& model) {
    return fmt::format("format={}:{}={}x{}:{}", window_model_format, window_parameter().name, model.width_px,
                       model.height_px, hog_fields().text(model.hog));
}

// Errors name the owner of the text, such as a model file.
WindowModel described_window(std::string_view text, const std::string& whose) {
    auto parameters = hog_fields().infos();
    parameters.insert(parameters.begin(), {format_parameter(), window_parameter()});
    const auto values = parse_parameters(text, {.who = whose, .parameters = parameters});
    WindowModel model{.hog = hog_fields().from(values), .weights = {}};
    std::tie(model.width_px, model.height_px) = values.size(window_parameter().name);
    try {
        window_shape(model);
    } catch (const Error& error) {
        fail(error.code(), "{}: {}", whose, error.what());
    }
    return model;
}

// Compares only the parameters that the user gave explicitly.
void require_asked(const WindowModel& model, const ParameterValues& asked, const std::string& name) {
    const auto refuse = [&](const ParameterInfo& parameter, const std::string& own, const std::string& wanted) {
        fail(ErrorCode::usage, "{0} {1} was requested, but {2} was trained with {0} {3}", parameter.name, wanted, name,
             own);
    };
    const auto window = [](const auto& size) { return fmt::format("{}x{}", size.first, size.second); };
    const std::pair own(model.width_px, model.height_px);
    if (asked.is_given(window_parameter().name) && asked.size(window_parameter().name) != own)
        refuse(window_parameter(), window(own), window(asked.size(window_parameter().name)));
    auto wanted = model.hog;
    hog_fields().set(wanted, asked);
    hog_fields().for_differences(model.hog, wanted, refuse);
}

}  // namespace framewire
