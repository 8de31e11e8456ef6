#pragma once

#include "framewire/core/time/clock.hpp"
#include "framewire/net/stream/wishes.hpp"
#include "framewire/net/transport/connection.hpp"
#include "framewire/net/wire/wire.hpp"

#include <cstdint>

namespace framewire::net {

/// What a viewer says on one connection after its hello: what it has drawn of the pictures and steps that came, and
/// wishes. One write is on its way at a time; what comes meanwhile goes with the next.
class ViewerOutbox {
public:
    /// A picture or a step has come, which took so long from its first byte to its last.
    void take(Clock::duration coming, Clock::time_point now);
    /// All that has come is drawn, up to `version`. Writes that where it is new, and a wish where there is one; none:
    /// the server takes none. The connection calls back into this.
    void send(Connection& connection, std::uint64_t version, Wishes* wishes, Clock::time_point now);

private:
    std::uint64_t taken_ = 0, told_ = 0;
    Clock::duration coming_{};
    Clock::time_point came_at_{};
    bool writing_ = false;
    Bytes messages_;
};

}  // namespace framewire::net
