#pragma once

#include <string>

namespace framewire::session {

/// Files that served cameras use for control requests.
struct LiveOptions {
    /// Optional. File of the persisted state; empty: settings are not persisted.
    std::string state_path{};
    /// Optional. Folder for recordings and snapshots; empty: requests for them are refused.
    std::string record_folder{};
};

}  // namespace framewire::session
