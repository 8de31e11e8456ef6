#include "commands/hog/hog_flags.hpp"

#include <tuple>

namespace framewire::app {

WindowModel HogFlags::window() const {
    WindowModel model{.hog = hog, .weights = {}};
    if (given.has("window")) std::tie(model.width_px, model.height_px) = given.size("window");
    return model;
}

}  // namespace framewire::app
