#pragma once

#include <string>

namespace framewire::session {

/// Files of what is asked and ordered of cameras while they are served.
struct LiveOptions {
    std::string state_path{};     ///< what was ordered is kept there; empty: it is not
    std::string record_folder{};  ///< recordings and snapshots go there; empty: there are none
};

}  // namespace framewire::session
