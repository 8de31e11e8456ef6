#pragma once

#include "framewire/delta/changes.hpp"
#include "ladders/ladder.hpp"

#include <cstdint>
#include <string>

namespace framewire::bench {

/// Two moments of a scene. One after the other, over and over, each finds the same changes in what the other left.
struct LadderMoments {
    HostImage images[2];
    HostImage held[2];  ///< what the viewer holds after each
    delta::HostChanges changes[2];

    explicit LadderMoments(const Shape& shape);

    /// Both frames are read once; what changes of the held one, positions and differences are written.
    double fewest_bytes() const;
    /// Throws Error{internal} naming `what` unless so many changes, in any order, and what is held after them are those
    /// of the moment.
    void require(int moment, std::uint32_t count, const std::uint32_t* positions, const std::uint8_t* differences,
                 HostView<const std::uint8_t> held_after, const std::string& what) const;
};

}  // namespace framewire::bench
