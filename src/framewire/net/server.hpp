#pragma once

#include "framewire/net/address.hpp"
#include "framewire/net/name_lookup.hpp"
#include "framewire/net/stream_state.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>

namespace framewire::net {

struct ServerOptions {
    Address listen{"127.0.0.1", 7878};
    std::string stream{default_stream};
    int viewers_limit = 64;
    /// Connections that have not said hello, all told and of one peer (an address; for IPv6 its first 64 bits). One
    /// more takes the place of an older one, which is told so.
    int greeting_limit = 128, greeting_limit_per_peer = 64;
    /// What answers on their way to viewers may keep in memory together, where more than one is; who takes theirs the
    /// slowest is dropped for those that would exceed it. 0: 512 MiB, or four whole pictures where that is more.
    std::size_t pinned_limit_bytes = 0;
    std::chrono::milliseconds lookup_deadline{5'000};     ///< for the address of `listen`, where it is a name
    std::chrono::milliseconds handshake_deadline{5'000};  ///< from the connection to the viewer's whole hello
    std::chrono::milliseconds write_deadline{10'000};     ///< without a byte taken by a viewer that has some coming
    std::chrono::milliseconds keep_alive{1'000};          ///< the longest silence towards a viewer
    HostLookup lookup = system_lookup;                    ///< how `listen` is resolved
};

/// What went over a server's connections so far. What was sent counts once it was taken as a whole.
struct ServerMetrics {
    int viewers = 0;                 ///< now
    std::int64_t viewers_total = 0;  ///< who got the stream's hello
    std::int64_t refused = 0;        ///< turned away: no such stream, too many, no valid hello, too slow with it
    std::int64_t dropped = 0;        ///< viewers cut off: stuck, the slowest of too many, or talking out of turn
    std::int64_t pictures = 0;       ///< whole pictures sent, each viewer's counted
    std::int64_t steps = 0;          ///< steps sent, each viewer's counted
    std::int64_t skipped = 0;        ///< versions passed over by viewers too slow for them
    std::int64_t picture_bytes = 0;
    std::int64_t step_bytes = 0;
    std::int64_t other_bytes = 0;   ///< hellos, keep-alives, ends and errors
    std::int64_t pinned_bytes = 0;  ///< now: what answers on their way keep in memory, shared ones once
};

/// Serves one stream to any number of viewers over TCP, from a thread of its own. Each viewer is sent what it lacks
/// (StreamState::missing()) when it has taken what it was sent before: a slow one skips states and costs nobody else
/// anything, what waits for it never exceeds one whole picture, and what waits for all of them is limited.
class Server {
public:
    /// Listens from here on. `state` lives longer. Throws Error{usage} on options that are not allowed and
    /// Error{config} when the address cannot be listened on, or is a name that is not resolved before the deadline or
    /// the stop.
    Server(StreamState& state, ServerOptions options, std::stop_token stop = {});
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
    /// Gives how many viewers were; connections that are none are not waited for.
    int finish(std::chrono::milliseconds deadline, const std::string& failure = {});

    ServerMetrics metrics() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace framewire::net
