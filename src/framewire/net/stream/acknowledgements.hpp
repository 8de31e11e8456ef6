#pragma once

#include "framewire/core/time/clock.hpp"
#include "framewire/net/transport/connection.hpp"
#include "framewire/net/wire/wire.hpp"

#include <cstdint>

namespace framewire::net {

/// What a viewer tells the server of the pictures and steps that it has drawn on one connection. One is on its way at a
/// time; what comes meanwhile is told by the next.
class Acknowledgements {
public:
    /// A picture or a step has come, which took so long from its first byte to its last.
    void take(Clock::duration coming, Clock::time_point now);
    /// All that has come is drawn, up to `version`. Writes so where that is new; the connection calls back into this.
    void send(Connection& connection, std::uint64_t version, Clock::time_point now);

private:
    std::uint64_t taken_ = 0, told_ = 0;
    Clock::duration coming_{};
    Clock::time_point came_at_{};
    bool writing_ = false;
    Bytes message_;
};

}  // namespace framewire::net
