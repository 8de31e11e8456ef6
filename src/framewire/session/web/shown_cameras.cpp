#include "framewire/session/web/shown_cameras.hpp"

#include "framewire/core/error.hpp"
#include "framewire/core/text/excerpt.hpp"

#include <fmt/ranges.h>

#include <string>

namespace framewire::session::web {

ShownCameras::ShownCameras(const SiteParts& parts) : parts_(parts) {
    if (parts.cameras.empty()) fail(ErrorCode::usage, "there is no camera to show");
    for (const auto& camera : parts.cameras) all_.push_back(std::make_unique<ShownCamera>(camera));
}

ShownCamera& ShownCameras::of(const net::http::Request& request) const {
    const auto named = request.parameters.find("camera");
    if (named == request.parameters.end()) return *all_.front();
    // Collected for the message, in case no camera has the name.
    std::vector<std::string> names;
    for (const auto& shown : all_) {
        if (shown->camera->name() == named->second) return *shown;
        names.push_back(shown->camera->name());
    }
    fail(ErrorCode::no_input, "there is no camera {}; there {} {}", in_quotes(named->second),
         names.size() == 1 ? "is" : "are", fmt::join(names, ", "));
}

}  // namespace framewire::session::web
