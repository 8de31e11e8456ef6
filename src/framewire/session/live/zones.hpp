#pragma once

#include "framewire/core/component.hpp"
#include "framewire/core/view.hpp"
#include "framewire/filters/mosaic/mosaic.hpp"

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace framewire::session {

/// A rectangle of the source's frame with a special meaning, drawn by a user.
struct LiveZone {
    /// Purpose of a zone.
    enum class Kind {
        /// Privacy mask: black in everything that leaves the program: streams, recordings and snapshots.
        privacy,
        /// Privacy mask that shows coarse cells instead of black.
        mosaic,
        /// Detection area: objects count if they touch one of these. Without any, all objects count.
        detect,
    };
    Kind kind = Kind::privacy;
    /// Position and size in pixels of the source's frame.
    Zone area{};

    friend bool operator==(const LiveZone&, const LiveZone&) = default;
};

/// Limit for the zones of one camera.
inline constexpr std::size_t max_live_zones = 64;

/// Returns "privacy", "mosaic" or "detect".
std::string_view to_string(LiveZone::Kind kind);
/// Parses these names. Throws Error{usage} that lists them for any other text.
LiveZone::Kind parse_zone_kind(std::string_view text);

/// Zones, with the size of the frame on which they were drawn.
struct LiveZones {
    std::vector<LiveZone> zones{};
    Shape drawn_on{};

    friend bool operator==(const LiveZones&, const LiveZones&) = default;
};

/// Throws Error{usage} if there are more than max_live_zones, or if one is empty or not completely inside the frame.
void check_zones(std::span<const LiveZone> zones, const Shape& picture);

/// Returns the zones for a frame of another size. They are scaled with it and rounded outwards to whole pixels, so that
/// a mask never shrinks.
std::vector<LiveZone> zones_on(const LiveZones& zones, const Shape& picture);

/// Fills `counted` with the objects whose bounding box touches one of `areas`, or with all objects if there are no
/// areas.
void count_in(std::span<const Zone> areas, std::span<const Component> objects, std::vector<Component>& counted);

}  // namespace framewire::session
