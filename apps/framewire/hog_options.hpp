#pragma once

#include "common.hpp"

#include "framewire/hog/window_model.hpp"

#include <string>

namespace framewire::app {

/// What all that the subcommand hog does goes by.
struct HogOptions {
    CommonOptions common;
    InputOptions input;
    HogParameters hog;
    std::string output;
    std::string window = "64x128";  ///< of a model
    bool json = false;
};

/// A model without weights: the window and the descriptor that are asked for. Throws Error{usage} on a window that is
/// not WxH.
WindowModel window_of(const HogOptions& options);

}  // namespace framewire::app
