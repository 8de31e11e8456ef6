#include "commands/hog/hog_flags.hpp"

#include "framewire/core/view.hpp"

#include <fmt/format.h>

#include <tuple>

namespace framewire::app {

const ParameterInfo& window_parameter() {
    static const ParameterInfo parameter{
        .name = "window",
        .help = "of a model, in whole cells",
        .type = ParameterInfo::Type::size,
        .default_value = fmt::format("{}x{}", WindowModel{}.width_px, WindowModel{}.height_px),
        .minimum = 1,
        .maximum = max_side_px};
    return parameter;
}

WindowModel HogFlags::window() const {
    WindowModel model{.hog = hog, .weights = {}};
    if (given.has("window")) std::tie(model.width_px, model.height_px) = given.size("window");
    return model;
}

}  // namespace framewire::app
