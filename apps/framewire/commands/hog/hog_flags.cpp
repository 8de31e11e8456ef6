#include "commands/hog/hog_flags.hpp"

#include <tuple>

namespace framewire::app {

WindowModel HogFlags::window() const {
    WindowModel model{.hog = hog, .weights = {}};
    if (given.has("window")) std::tie(model.width_px, model.height_px) = given.size("window");
    return model;
}

void add_descriptor(Json& summary, const HogParameters& hog) {
    summary.add("gradient", name_of(hog_gradient_names, hog.gradient));
    if (hog.gradient == HogGradient::central) summary.add("votes", name_of(hog_votes_names, hog.votes));
    summary.add("gamma", name_of(hog_gamma_names, hog.gamma));
    summary.add("colour", name_of(hog_colour_names, hog.colour));
}

}  // namespace framewire::app
