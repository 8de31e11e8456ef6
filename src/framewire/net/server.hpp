#pragma once

#include "framewire/net/address.hpp"
#include "framewire/net/listener.hpp"
#include "framewire/net/stream/stream_state.hpp"

#include <chrono>
#include <stop_token>
#include <string>

namespace framewire::net {

struct ServerOptions : ListenerOptions {
    std::string stream{default_stream};  ///< the one stream's name
};

/// A listener for one stream, which ends with it.
class Server {
public:
    /// Listens from here on. `state` lives longer. Throws Error{usage} on options that are not allowed and
    /// Error{config} when the address cannot be listened on, or is a name that is not resolved before the deadline or
    /// the stop.
    Server(StreamState& state, const ServerOptions& options, std::stop_token stop = {});

    /// Where viewers find the stream, with the port in use.
    const StreamAddress& address() const { return stream_.address(); }
    /// As ServedStream's.
    void publish() { stream_.publish(); }
    bool wait_for_viewers(int count, std::stop_token stop) const;
    bool wait_for_first_states(int count, std::stop_token stop) const;

    /// As ServedStream's; no new connections are taken from here on.
    int finish(std::chrono::milliseconds deadline, const std::string& failure = {});

    ServerMetrics metrics() const { return listener_.metrics(); }

private:
    Listener listener_;
    ServedStream stream_;
};

}  // namespace framewire::net
