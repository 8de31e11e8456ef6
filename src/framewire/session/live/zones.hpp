#pragma once

#include "framewire/core/component.hpp"
#include "framewire/core/view.hpp"
#include "framewire/filters/mosaic/mosaic.hpp"

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace framewire::session {

/// A part of the source's picture, drawn by hand.
struct LiveZone {
    enum class Kind {
        privacy,  ///< black in all that leaves the program: streams, recordings, snapshots
        mosaic,   ///< hidden under cells, likewise
        detect,   ///< objects count where they touch such a zone; without any, everywhere
    };
    Kind kind = Kind::privacy;
    Zone area{};  ///< pixels of the source

    friend bool operator==(const LiveZone&, const LiveZone&) = default;
};

inline constexpr std::size_t max_live_zones = 64;

/// "privacy", "mosaic" or "detect".
std::string_view to_string(LiveZone::Kind kind);
/// Reads it again. Throws Error{usage} that says what is allowed.
LiveZone::Kind parse_zone_kind(std::string_view text);

/// Zones, and the picture that they were drawn on.
struct LiveZones {
    std::vector<LiveZone> zones{};
    Shape drawn_on{};

    friend bool operator==(const LiveZones&, const LiveZones&) = default;
};

/// Throws Error{usage} on more than max_live_zones, and on one that is empty or not wholly in the picture.
void check_zones(std::span<const LiveZone> zones, const Shape& picture);

/// The same zones on a picture of another size: scaled with it, outwards to whole pixels.
std::vector<LiveZone> zones_on(const LiveZones& zones, const Shape& picture);

/// Replaces `counted` by the objects that touch one of the `areas`; by all, where there are none.
void count_in(std::span<const Zone> areas, std::span<const Component> objects, std::vector<Component>& counted);

}  // namespace framewire::session
