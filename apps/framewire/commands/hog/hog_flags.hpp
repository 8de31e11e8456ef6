#pragma once

#include "commands/batch.hpp"
#include "options/access_options.hpp"
#include "options/common.hpp"

#include "framewire/core/parameters/values.hpp"
#include "framewire/hog/window_model.hpp"
#include "framewire/session/options.hpp"

#include <string>

namespace framewire::app {

/// The flags of all that the subcommand hog does.
struct HogFlags {
    CommonOptions common;
    BatchFlags many;
    session::InputOptions input;
    ParameterValues given;  ///< those of hog_fields() on the command line, and the window
    HogParameters hog;      ///< made of them
    std::string output;
    bool json = false;
    EntryFlags entry;

    /// A model without weights: the window and the descriptor that are asked for.
    WindowModel window() const;
};

}  // namespace framewire::app
