#include "framewire/service/live_camera.hpp"
#include "framewire/core/error.hpp"
#include "framewire/core/parameters.hpp"
#include "framewire/core/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>

namespace framewire::service {
namespace {

constexpr NamedValue<LiveZone::Kind> kinds[] = {
    {"privacy", LiveZone::Kind::privacy}, {"mosaic", LiveZone::Kind::mosaic}, {"detect", LiveZone::Kind::detect}};

// Scales a range of pixels from a side of length `from` to one of length `to`. Returns begin and end, rounded outwards.
std::pair<int, int> scaled(int begin, int length, int from, int to) {
    const auto end = std::int64_t{begin} + length;
    return {static_cast<int>(std::int64_t{begin} * to / from), static_cast<int>((end * to + from - 1) / from)};
}

// Returns true if the bounding box and the area share at least one pixel.
bool touches(const Component& object, const Zone& area) {
    return object.x < area.x + area.width && area.x < object.x + object.width && object.y < area.y + area.height &&
           area.y < object.y + object.height;
}

}  // namespace

std::string_view to_string(LiveZone::Kind kind) { return name_of(kinds, kind); }

LiveZone::Kind parse_zone_kind(std::string_view text) {
    if (const auto* kind = value_named(kinds, text)) return *kind;
    fail(ErrorCode::usage, "unknown zone kind {}; allowed: privacy, mosaic and detect", in_quotes(text));
}

// The comparisons avoid sums, which could overflow.
void check_zones(std::span<const LiveZone> zones, const Shape& picture) {
    if (zones.size() > max_live_zones)
        fail(ErrorCode::usage, "{} zones; the limit is {}", zones.size(), max_live_zones);
    for (const auto& [kind, area] : zones) {
        const bool inside = area.x >= 0 && area.y >= 0 && area.width > 0 && area.height > 0 &&
                            area.x <= picture.width - area.width && area.y <= picture.height - area.height;
        if (!inside)
            fail(ErrorCode::usage,
                 "the {} zone {},{},{},{} is empty or extends beyond the picture of {}x{}; allowed: x, y, width and "
                 "height of a rectangle inside the picture",
                 to_string(kind), area.x, area.y, area.width, area.height, picture.width, picture.height);
    }
}

std::vector<LiveZone> zones_on(const LiveZones& zones, const Shape& picture) {
    auto all = zones.zones;
    const auto& from = zones.drawn_on;
    if (all.empty() || (from.width == picture.width && from.height == picture.height)) return all;
    for (auto& [kind, area] : all) {
        const auto [left, right] = scaled(area.x, area.width, from.width, picture.width);
        const auto [top, bottom] = scaled(area.y, area.height, from.height, picture.height);
        area = {left, top, right - left, bottom - top};
    }
    return all;
}

void count_in(std::span<const Zone> areas, std::span<const Component> objects, std::vector<Component>& counted) {
    counted.clear();
    std::ranges::copy_if(objects, std::back_inserter(counted), [&](const auto& object) {
        return areas.empty() || std::ranges::any_of(areas, [&](const auto& area) { return touches(object, area); });
    });
}

}  // namespace framewire::service
