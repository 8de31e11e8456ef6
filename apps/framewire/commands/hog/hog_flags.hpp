#pragma once

#include "commands/batch.hpp"
#include "commands/json.hpp"
#include "options/access_options.hpp"
#include "options/common.hpp"

#include "framewire/core/parameters.hpp"
#include "framewire/hog/window_model.hpp"
#include "framewire/jobs/options.hpp"

#include <string>

namespace framewire::app {

/// Flags shared by all modes of the subcommand hog.
struct HogFlags {
    CommonOptions common;
    BatchFlags many;
    jobs::InputOptions input;
    ParameterValues given;  ///< values of hog_fields() and of the window from the command line
    HogParameters hog;      ///< derived from `given`
    std::string output;
    bool json = false;
    EntryFlags entry;

    /// Returns a model without weights, which has the requested window and descriptor.
    WindowModel window() const;
};

/// Adds the parameters of the descriptor that are not sizes to a summary.
void add_descriptor(Json& summary, const HogParameters& hog);

}  // namespace framewire::app
