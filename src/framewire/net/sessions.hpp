#pragma once

#include "framewire/core/time.hpp"
#include "framewire/net/access.hpp"
#include "framewire/net/control.hpp"
#include "framewire/net/limits.hpp"
#include "framewire/net/transport.hpp"
#include "framewire/net/viewers.hpp"
#include "framewire/net/wire.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

namespace framewire::net {

/// The pending connections of a server: those that have not completed their hello, and those that were refused but are
/// not closed yet. Both are limited in number. Everything runs on the loop's thread.
class PendingConnections {
public:
    /// Limits on pending connections.
    struct Limits {
        /// Maximum number of connections without a complete hello, in total.
        int greeting = 1;
        /// Maximum number of them per Connection::peer().
        int greeting_per_peer = 1;
        /// Maximum time from the connection to the end of its hello.
        std::chrono::milliseconds hello_deadline{};
        /// Time for a refused connection to close.
        std::chrono::milliseconds farewell_deadline{};
        /// Trusted proxies. Each of their connections counts as a separate peer.
        TrustedProxies proxies{};
    };
    /// Takes over the connection of a viewer, or returns why it is refused and leaves the connection in place.
    using Admit = std::function<std::optional<ServerError>(const ViewerHello& hello, ConnectionPointer&)>;
    /// Takes over a connection that speaks HTTP, with the bytes read so far.
    using HandOver = std::function<void(ConnectionPointer, ByteSpan heard)>;
    /// Called with the number of connections refused and the number of bytes sent to refuse them.
    using Count = std::function<void(std::int64_t refused, std::int64_t word_bytes)>;

    /// `loop` must outlive this object. Viewers need `token` unless it is empty. If `hand_over` is null, HTTP is not
    /// recognised.
    PendingConnections(const Limits& limits, std::string_view token, Loop& loop, Admit admit, Count count,
                       HandOver hand_over = nullptr);

    /// Adds a new connection. If too many are pending, an older one is refused. If `stream` is not empty, the
    /// connection does not speak HTTP, and its hello must name that stream.
    void come(ConnectionPointer connection, std::string stream = {});
    /// Refuses all connections that have not completed their hello.
    void turn_away(const ServerError& why);
    /// Applies the deadlines. Call it periodically.
    void check_deadlines();
    /// The token check, for other code that uses the same token.
    Gate& gate() { return gate_; }

private:
    struct PendingConnection;
    using PendingPointer = std::shared_ptr<PendingConnection>;

    std::string pending_name_of(const PendingConnection& pending) const;
    void admit(const PendingPointer& pending);
    void read_on(PendingConnection& pending);
    void take_piece(const PendingPointer& pending, std::size_t bytes);
    void take_header(const PendingPointer& pending);
    void take_hello(const PendingPointer& pending);
    void refuse(const PendingPointer& pending, const ServerError& why);
    void discard_piece(const PendingPointer& pending, std::size_t bytes);
    void forget(PendingConnection& pending);
    void close(const PendingPointer& pending);

    const Limits limits_;
    Loop& loop_;
    Admit admit_;
    Count count_;
    HandOver hand_over_;
    std::uint64_t come_so_far_ = 0;
    std::map<std::uint64_t, PendingPointer> greeting_, refused_;  // by age, the oldest first
    HandshakeLimiter pending_limiter_, farewells_;
    Gate gate_;
    std::array<std::uint8_t, 4096> discarded_{};  // read buffer for all refused connections
    LimitedLog refusals_{LogLevel::info, "refused connections"};
};

/// Runs the stream protocol on all connections of a server, over any transport: first as pending connections, then as
/// viewers of the named streams. Everything runs on the loop's thread unless stated otherwise.
class Sessions {
public:
    /// Limits on connections and memory.
    struct Limits {
        /// Maximum number of viewers over all streams.
        int viewers = 1;
        PendingConnections::Limits pending_connections{};
        Viewers::Deadlines viewer_deadlines{};
        /// Maximum memory in bytes that pending responses to viewers may hold. 0: 512 MiB, or the size of four
        /// keyframes of the largest stream if that is more.
        std::size_t pinned_bytes = 0;
    };

    /// `loop` must outlive this object and must not run any task after this object is destroyed. Viewers need `token`
    /// unless it is empty. Connections that speak HTTP go to `hand_over`.
    Sessions(const Limits& limits, Loop& loop, std::string_view token = {},
             PendingConnections::HandOver hand_over = nullptr);

    /// Adds a new connection. If `stream` is not empty, it is a WebSocket for that stream.
    void come(ConnectionPointer connection, std::string stream = {});
    /// The token check, for other code that uses the same token.
    Gate& gate() { return pending_connections_.gate(); }
    /// Refuses all pending connections.
    void turn_away(const ServerError& why) { pending_connections_.turn_away(why); }
    /// Applies the deadlines. Call it periodically.
    void check_deadlines();

    /// Serves `state`, which must outlive the stream, under `name`. `control` handles viewers' control requests; if it
    /// is null, they are not accepted. Throws Error{usage} if the name is invalid or in use.
    Stream& add(const std::string& name, StreamState& state, Control control = nullptr);
    /// Ends the stream: refuses new viewers and sends the current ones the last state and then the end, or `failure` as
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
    /// Blocks until `count` viewers have received a complete state or, if some have left, until all remaining ones
    /// have. Returns false if `stop` is requested first.
    bool wait_for_first_states(const Stream& stream, int count, std::stop_token stop) const;
    /// Blocks until the end was sent to all viewers and they have disconnected, or until the deadline has passed.
    void wait_for_the_end(const Stream& stream, std::chrono::milliseconds deadline) const;
    /// Returns the statistics of one stream.
    StreamMetrics metrics(const Stream& stream) const;
    /// Returns the statistics over all streams.
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
    PendingConnections pending_connections_;
};

}  // namespace framewire::net
