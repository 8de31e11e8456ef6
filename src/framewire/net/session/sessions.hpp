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

/// What a server says on all its connections, whatever carries them: the greeting, then the stream that was asked for,
/// of any number of named ones. Everything happens in the loop's thread, but for what is said.
class Sessions {
public:
    struct Limits {
        int viewers = 1;  ///< of all streams
        Guests::Limits guests{};
        Viewers::Deadlines viewer_deadlines{};
        /// What answers on their way to viewers may keep in memory together. 0: 512 MiB, or four whole pictures of the
        /// largest stream where that is more.
        std::size_t pinned_bytes = 0;
    };

    /// `loop` lives longer, and runs nothing any more when this ends. Viewers need the token; empty: none. Connections
    /// that speak HTTP are handed over.
    Sessions(const Limits& limits, Loop& loop, std::string_view token = {}, Guests::HandOver hand_over = nullptr);

    /// A new connection; with a `stream` one of a WebSocket that is for that stream.
    void come(ConnectionPointer connection, std::string stream = {});
    /// For others who let in by the same token.
    Gate& gate() { return guests_.gate(); }
    /// Turns away who has not said hello.
    void turn_away(const ServerError& why) { guests_.turn_away(why); }
    /// To be called now and then.
    void check_deadlines();

    /// Serves `state`, which lives longer than the stream, to those who ask for `name`. Throws Error{usage} when the
    /// name is not allowed or taken.
    /// `control` sees to viewers' wishes; none: they are not taken.
    Stream& add(const std::string& name, StreamState& state, Control control = nullptr);
    /// Takes no new viewers of the stream, sends those there the last state and then the end, or with `failure` these
    /// words as an error.
    void end(Stream& stream, const std::string& failure);
    /// Drops whoever is left of a stream's viewers and gives how many they were.
    int cut_off(Stream& stream) { return viewers_.cut_off(stream); }
    /// The name is free again; calls `removed` when the stream's state is not needed any more.
    void remove(Stream& stream, std::function<void()> removed);

    // From any thread:

    /// The stream's state is new.
    void publish(Stream& stream);
    /// Blocks until the stream has `count` viewers; false when told to stop before.
    bool wait_for_viewers(const Stream& stream, int count, std::stop_token stop) const;
    /// Blocks until `count` viewers have taken a whole state, or all that are still there if some have gone; false when
    /// told to stop before.
    bool wait_for_first_states(const Stream& stream, int count, std::stop_token stop) const;
    /// Blocks until an end() was told to all viewers and they have gone, or the deadline is over.
    void wait_for_the_end(const Stream& stream, std::chrono::milliseconds deadline) const;
    StreamMetrics metrics(const Stream& stream) const;
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
