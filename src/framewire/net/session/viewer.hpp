#pragma once

#include "framewire/core/time/clock.hpp"
#include "framewire/net/limits/pinned_bytes.hpp"
#include "framewire/net/transport/connection.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace framewire::net {

struct Stream;

/// What a viewer is sent in one go.
struct Answer {
    enum class Kind { words, steps, picture };
    Kind kind = Kind::words;
    SharedMessages messages;
    std::uint64_t skipped = 0;  ///< versions that the viewer passes over by it

    std::size_t bytes() const;
    bool shares_a_message_with(const Answer& other) const;
};

/// A viewer as its server knows it. Only the loop's thread touches it.
struct Viewer : std::enable_shared_from_this<Viewer> {
    enum class Phase {
        watching,  ///< it is sent what it lacks
        ending,    ///< it was told the end, and its closing is awaited
        gone,
    };

    Viewer(ConnectionPointer connection, Stream& stream, Clock::time_point now);

    /// How quickly it takes the answer under way, in bytes a second; as good as any while that is too young to tell.
    double pace(Clock::time_point now) const;

    ConnectionPointer connection;
    Stream& stream;
    Phase phase = Phase::watching;
    std::uint64_t held = 0;  ///< the version it has when all writes are done
    bool awaits_picture = false;

    bool writing = false;
    bool pins = false;                   ///< the answer counts among the bytes pinned
    Answer answer;                       ///< under way while `writing`
    std::size_t taken_bytes = 0;         ///< of it
    Clock::time_point answered_at{};     ///< when it was begun
    Clock::time_point progress;          ///< when it last took a byte
    std::array<std::uint8_t, 1> said{};  ///< it has nothing to say
};

using ViewerPointer = std::shared_ptr<Viewer>;

}  // namespace framewire::net
