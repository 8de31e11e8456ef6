#pragma once

#include "framewire/codec/delta.hpp"
#include "ladders/ladder.hpp"

#include <cstdint>
#include <string>

namespace framewire::bench {

/// Two moments of a scene. Used alternately, each finds the same changes relative to the state that the other left.
struct LadderMoments {
    HostImage images[2];
    HostImage held[2];  ///< what the viewer holds after each moment
    codec::HostChanges changes[2];

    explicit LadderMoments(const Shape& shape);

    /// Returns the minimum traffic: both frames are read once; changed bytes of the held frame, positions and
    /// differences are written.
    double fewest_bytes() const;
    /// Throws Error{internal} naming `what` unless the changes, in any order, and the held frame after them are those
    /// of the moment.
    void require(int moment, std::uint32_t count, const std::uint32_t* positions, const std::uint8_t* differences,
                 HostView<const std::uint8_t> held_after, const std::string& what) const;
};

}  // namespace framewire::bench
