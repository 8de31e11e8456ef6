#pragma once

#include "framewire/core/time/clock.hpp"
#include "framewire/net/stream/wishes.hpp"
#include "framewire/net/transport/connection.hpp"
#include "framewire/net/wire/wire.hpp"

#include <cstdint>

namespace framewire::net {

/// Messages that a viewer sends after its hello on one connection: acknowledgements and control requests. One write is
/// in progress at a time; later messages go with the next one. Not thread-safe.
class ViewerOutbox {
public:
    /// Records that a keyframe or delta frame has been received; `coming` is the time from its first to its last byte.
    void take(Clock::duration coming, Clock::time_point now);
    /// Acknowledges everything received, up to `version`, unless it was acknowledged before, and sends the next control
    /// request, if any. Does nothing while a write is in progress. `wishes` may be null. This object must outlive the
    /// write.
    void send(Connection& connection, std::uint64_t version, Wishes* wishes, Clock::time_point now);

private:
    std::uint64_t taken_ = 0, told_ = 0;
    Clock::duration coming_{};
    Clock::time_point came_at_{};
    bool writing_ = false;
    Bytes messages_;
};

}  // namespace framewire::net
