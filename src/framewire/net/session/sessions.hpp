#pragma once

#include "framewire/net/session/guests.hpp"
#include "framewire/net/session/metrics.hpp"
#include "framewire/net/session/stream.hpp"
#include "framewire/net/session/tally.hpp"
#include "framewire/net/session/viewers/viewers.hpp"
#include "framewire/net/transport/connection.hpp"
#include "framewire/net/transport/loop.hpp"

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

namespace framewire::net {

/// The stream protocol on all connections of a server, over any transport: pending connections first, then viewers of
/// the named streams. Everything runs on the loop's thread unless stated otherwise.
class Sessions {
public:
    /// Limits on connections and memory.
    struct Limits {
        /// Most viewers over all streams.
        int viewers = 1;
        Guests::Limits guests{};
        Viewers::Deadlines viewer_deadlines{};
        /// Most memory in bytes that pending responses to viewers may hold. 0: 512 MiB, or the size of four keyframes
        /// of the largest stream if that is more.
        std::size_t pinned_bytes = 0;
    };

    /// `loop` must outlive this object and run nothing any more when it is destroyed. Viewers need `token` unless it is
    /// empty. Connections that speak HTTP go to `hand_over`.
    Sessions(const Limits& limits, Loop& loop, std::string_view token = {}, Guests::HandOver hand_over = nullptr);

    /// Adds a new connection. If `stream` is not empty, it is a WebSocket for that stream.
    void come(ConnectionPointer connection, std::string stream = {});
    /// The token check, for other code that uses the same token.
    Gate& gate() { return guests_.gate(); }
    /// Refuses all pending connections.
    void turn_away(const ServerError& why) { guests_.turn_away(why); }
    /// Applies the deadlines. Call it periodically.
    void check_deadlines();

    /// Serves `state`, which must outlive the stream, under `name`. `control` handles viewers' control requests; if it
    /// is null, they are not accepted. Throws Error{usage} if the name is invalid or in use.
    Stream& add(const std::string& name, StreamState& state, Control control = nullptr);
    /// Ends the stream: refuses new viewers and sends the present ones the last state and then the end, or `failure` as
    /// an error if it is not empty.
    void end(Stream& stream, const std::string& failure);
    /// Closes the connections of the stream's remaining viewers and returns their number.
    int cut_off(Stream& stream) { return viewers_.cut_off(stream); }
    /// Removes the stream. Calls `removed` when the stream's state is no longer used; its name is then available again.
    void remove(Stream& stream, std::function<void()> removed);

    // The following functions may be called on any thread:

    /// Announces a new state of the stream.
    void publish(Stream& stream);
    /// Blocks until the stream has `count` viewers. Returns false if `stop` is requested first.
    bool wait_for_viewers(const Stream& stream, int count, std::stop_token stop) const;
    /// Blocks until `count` viewers have taken a complete state, or all remaining viewers have if some have left.
    /// Returns false if `stop` is requested first.
    bool wait_for_first_states(const Stream& stream, int count, std::stop_token stop) const;
    /// Blocks until the end was sent to all viewers and they have disconnected, or until the deadline has passed.
    void wait_for_the_end(const Stream& stream, std::chrono::milliseconds deadline) const;
    /// Statistics of one stream.
    StreamMetrics metrics(const Stream& stream) const;
    /// Statistics over all streams.
    ServerMetrics metrics() const;

private:
    std::optional<ServerError> admit(const ViewerHello& hello, ConnectionPointer& connection);
    std::string names() const;
    void set_pinned_limit();

    const Limits limits_;
    Loop& loop_;
    mutable Tally tally_;
    Streams streams_;
    Viewers viewers_;
    Guests guests_;
};

}  // namespace framewire::net
