#include "framewire/session/config/detector_settings.hpp"

#include "framewire/core/error.hpp"

#include <utility>

namespace framewire::session {

// A region is given as rectangles or as a picture, not both.
DetectorOptions detector_of(const DetectorSettings& settings, std::string_view dashes) {
    DetectorOptions options{.parameters = detector_parameters(settings.parameters), .region = {}};
    if (!settings.zones.empty() && !settings.region_path.empty())
        fail(ErrorCode::usage, "{0}roi and {0}roi-mask together; one of them says where to look", dashes);
    if (!settings.zones.empty()) {
        std::vector<Zone> zones;
        for (const auto& text : settings.zones) zones.push_back(parse_zone(text));
        options.region = std::move(zones);
    } else if (!settings.region_path.empty()) {
        options.region = settings.region_path;
    }
    return options;
}

}  // namespace framewire::session
