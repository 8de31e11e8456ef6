#pragma once

#include "options/common.hpp"

#include "framewire/core/parameters/values.hpp"
#include "framewire/hog/window_model.hpp"

#include <string>

namespace framewire::app {

/// What all that the subcommand hog does goes by.
struct HogOptions {
    CommonOptions common;
    InputOptions input;
    ParameterValues given;  ///< those of hog_fields() on the command line, and the window
    HogParameters hog;      ///< made of them
    std::string output;
    bool json = false;
};

/// Of a model.
const ParameterInfo& window_parameter();

/// A model without weights: the window and the descriptor that are asked for.
WindowModel window_of(const HogOptions& options);

}  // namespace framewire::app
