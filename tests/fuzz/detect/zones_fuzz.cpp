// Fuzzes files of event zones: malformed ones must be refused, and others must be within the limits, survive being
// written, and work with objects anywhere.

#include "framewire/core/error.hpp"
#include "framewire/detect/zones.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

void require_of_zones(bool held) {
    if (!held) std::abort();
}

void check_event_zone(const framewire::EventZone& zone) {
    using namespace framewire;
    const auto is_fraction = [](double value) { return value >= 0 && value <= 1; };
    require_of_zones(!zone.name.empty() && zone.name.size() <= max_zone_name_bytes);
    require_of_zones(zone.points.size() >= 2 && zone.points.size() <= max_zone_corners);
    for (const auto& point : zone.points) require_of_zones(is_fraction(point.x) && is_fraction(point.y));
    require_of_zones(zone.is_line() ? !zone.enter && !zone.leave && !zone.loiter : !zone.cross);
    require_of_zones(zone.loiter_s > 0 && zone.loiter_s <= max_loiter_s);
    require_of_zones(is_fraction(zone.min_area));
    for (const auto& direction : zone.directions)
        require_of_zones(!direction.empty() && direction.size() <= max_zone_name_bytes);
}

// An object crosses the picture and disappears, once a second.
void check_zone_events(const framewire::ZoneSet& set) {
    using namespace framewire;
    constexpr int frames = 20;
    ZoneEvents zones(set, 160, 120);
    for (int frame = 0; frame <= frames; ++frame) {
        std::vector<Track> tracks;
        if (frame < frames)
            tracks.push_back({.id = 1, .x = 8.0 * frame - 4, .y = 6.0 * frame, .width = 16, .height = 12, .object = 0});
        for (const auto& event : zones.update(tracks, frame)) {
            require_of_zones(std::ranges::find(set.zones(), event.zone) != set.zones().end());
            require_of_zones(event.track == 1 && event.seconds >= 0 && event.seconds <= frames);
        }
    }
    for (const int count : zones.inside()) require_of_zones(count == 0);
    require_of_zones(zones.end().empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace framewire;
    const std::string text(reinterpret_cast<const char*>(data), size);
    try {
        const auto set = ZoneSet::parse(text, "fuzz");
        require_of_zones(set.zones().size() <= max_event_zones);
        require_of_zones(set.hysteresis() >= 0 && set.hysteresis() <= 1);
        for (const auto& zone : set.zones()) check_event_zone(*zone);
        require_of_zones(ZoneSet::parse(set.to_json(), "written") == set);
        check_zone_events(set);
    } catch (const Error& error) {
        require_of_zones(error.code() == ErrorCode::usage && std::string(error.what()).starts_with("fuzz"));
    }
    return 0;
}
