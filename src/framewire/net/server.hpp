#pragma once

#include "framewire/net/address.hpp"
#include "framewire/net/listener.hpp"
#include "framewire/net/stream/stream_state.hpp"

#include <chrono>
#include <stop_token>
#include <string>

namespace framewire::net {

/// Settings of a server with one stream.
struct ServerOptions : ListenerOptions {
    /// Name of the stream.
    std::string stream{default_stream};
};

/// A listener with one stream, which ends together with it.
class Server {
public:
    /// Starts to listen. `state` must outlive the server. Throws Error{usage} if an option is invalid, and
    /// Error{config} if the address is not available or its name is not resolved before the deadline or the stop.
    Server(StreamState& state, const ServerOptions& options, std::stop_token stop = {});

    /// The address for viewers, with the port in use.
    const StreamAddress& address() const { return stream_.address(); }
    /// See ServedStream::publish().
    void publish() { stream_.publish(); }
    /// See ServedStream::wait_for_viewers().
    bool wait_for_viewers(int count, std::stop_token stop) const;
    /// See ServedStream::wait_for_first_states().
    bool wait_for_first_states(int count, std::stop_token stop) const;

    /// See ServedStream::finish(). The listener also stops accepting connections.
    int finish(std::chrono::milliseconds deadline, const std::string& failure = {});

    /// Statistics over all viewers.
    ServerMetrics metrics() const { return listener_.metrics(); }

private:
    Listener listener_;
    ServedStream stream_;
};

}  // namespace framewire::net
