#pragma once

#include "framewire/net/address.hpp"
#include "framewire/net/stream_state.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>

namespace framewire::net {

struct ServerOptions {
    Address listen{"127.0.0.1", 7878};
    std::string stream{default_stream};
    int viewers_limit = 64;
    std::chrono::milliseconds handshake_deadline{5'000};  ///< from the connection to the viewer's whole hello
    std::chrono::milliseconds write_deadline{10'000};     ///< without a byte taken by a viewer that has some coming
    std::chrono::milliseconds keep_alive{1'000};          ///< the longest silence towards a viewer
};

/// What went over a server's connections so far.
struct ServerMetrics {
    int viewers = 0;                 ///< now
    std::int64_t viewers_total = 0;  ///< who got the stream's hello
    std::int64_t refused = 0;        ///< turned away: no such stream, too many, no valid hello, too slow with it
    std::int64_t dropped = 0;        ///< viewers cut off: stuck, or talking out of turn
    std::int64_t pictures = 0;       ///< whole pictures sent, each viewer's counted
    std::int64_t steps = 0;          ///< steps sent, each viewer's counted
    std::int64_t skipped = 0;        ///< versions passed over by viewers too slow for them
    std::int64_t picture_bytes = 0;
    std::int64_t step_bytes = 0;
    std::int64_t other_bytes = 0;  ///< hellos, keep-alives, ends and errors
};

/// Serves one stream to any number of viewers over TCP, from a thread of its own. Each viewer is sent what it lacks
/// (StreamState::missing()) when it has taken what it was sent before: a slow one skips states and costs nobody else
/// anything, and what waits for it never exceeds one whole picture.
class Server {
public:
    /// Listens from here on. `state` lives longer. Throws Error{usage} on options that are not allowed and
    /// Error{config} when the address cannot be listened on.
    Server(StreamState& state, ServerOptions options);
    /// Cuts off whoever is still there.
    ~Server();
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

    /// Where viewers find the stream, with the port in use.
    const StreamAddress& address() const;

    /// The state is new: viewers that wait are sent what they lack. Never blocks on viewers.
    void publish();

    /// Blocks until `count` viewers are there; false when told to stop before.
    bool wait_for_viewers(int count, std::stop_token stop);

    /// Ends the stream: takes no new viewers, sends everyone the last state and then the end, or with `failure` these
    /// words as an error, and returns when all have taken them or the deadline is over; whoever is left is cut off.
    /// Gives how many were.
    int finish(std::chrono::milliseconds deadline, const std::string& failure = {});

    ServerMetrics metrics() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace framewire::net
