#pragma once

#include "framewire/net/address.hpp"
#include "framewire/net/control.hpp"
#include "framewire/net/http.hpp"
#include "framewire/net/stream_state.hpp"
#include "framewire/net/tcp.hpp"
#include "framewire/net/tls.hpp"

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace framewire::net {

/// Settings of a listener.
struct ListenerOptions {
    Address listen{"127.0.0.1", 7878};
    /// Maximum number of viewers over all streams.
    int viewers_limit = 64;
    /// The token that viewers have to send, see validate_token(). Empty: none, which is allowed only on a loopback
    /// address unless `open` is true.
    std::string token{};
    bool open = false;
    /// If set, every connection uses TLS and the server presents this identity.
    std::optional<TlsIdentity> tls{};
    /// Maximum number of pending connections, in total and per peer (an IPv4 address or an IPv6 /64 network). Beyond
    /// that a new connection replaces an older one, which receives a refusal.
    int greeting_limit = 128, greeting_limit_per_peer = 64;
    /// Maximum memory in bytes that responses to several viewers may hold until they are sent. If a new one would
    /// exceed it, the viewer that takes its bytes most slowly is dropped. 0: 512 MiB, or the size of four keyframes of
    /// the largest stream if that is more.
    std::size_t pinned_limit_bytes = 0;
    /// Deadline for resolving `listen` if it is a name.
    std::chrono::milliseconds lookup_deadline{5'000};
    /// Maximum time from the connection to the end of the viewer's hello.
    std::chrono::milliseconds handshake_deadline{5'000};
    /// A viewer with pending data is dropped if it accepts no byte for this long.
    std::chrono::milliseconds write_deadline{10'000};
    /// Maximum time between two messages to a viewer; keep-alives fill longer gaps.
    std::chrono::milliseconds keep_alive{1'000};
    /// Host names that HTTP requests may use for the server, in addition to numeric addresses, localhost, this
    /// machine's name and the name in `listen`. Other names are refused: they would allow DNS rebinding.
    std::vector<std::string> allowed_hosts{};
    /// Maximum time from the first to the last byte of an HTTP request, and from a response to the next request.
    std::chrono::milliseconds request_deadline{5'000}, idle_deadline{15'000};
    /// Reverse proxies whose X-Forwarded-For is believed: addresses and networks such as 10.0.0.0/8. Limits per peer
    /// then apply to each of their clients.
    std::vector<std::string> trusted_proxies{};
    /// The path under which a reverse proxy publishes this server, such as "/cams", see validate_base_path(). Requests
    /// may begin with it. If empty, there is no such path.
    std::string base_path{};
    /// Sites whose pages may show this server's pages in frames, see validate_frame_ancestor(). Empty: no site.
    std::vector<std::string> frame_ancestors{};
    /// Maximum number of HTTP requests in progress, including responses that are still being streamed.
    int requests_limit = 256;
    /// How `listen` is resolved.
    HostLookup lookup = system_lookup;
};

/// Throws Error{usage} unless `path` is empty or a sequence of "/" and a segment of A-Z a-z 0-9 . _ ~ - (at most 200
/// characters, no "." or ".." segments, no "/" at the end).
void validate_base_path(std::string_view path);

/// Throws Error{usage} unless `site` is "self" or an origin: http:// or https://, a host name or IPv4 address of at
/// most 253 characters, which may begin with "*." for all names below it, and optionally a port.
void validate_frame_ancestor(std::string_view site);

class ServedStream;

/// Listens at one address and serves any number of named streams, on its own thread. A viewer requests one stream by
/// name. Once a viewer has received everything that was sent to it, the listener sends what the viewer is missing of
/// the newest state, as delta frames or blocks. A slow viewer therefore skips states and does not delay the others, the
/// data pending for it never exceeds one keyframe, and the total over all viewers is limited. Thread-safe.
class Listener {
public:
    /// Starts to listen. Throws Error{usage} if an option is invalid, and Error{config} if the address is not available
    /// or its name is not resolved before the deadline or before `stop` is requested.
    explicit Listener(ListenerOptions options, std::stop_token stop = {});
    /// Closes the remaining connections. All streams must have been removed before.
    ~Listener();
    Listener(const Listener&) = delete;
    Listener& operator=(const Listener&) = delete;

    /// Returns the requested address with the port in use.
    const Address& address() const;

    /// Serves `state` as tcp://HOST:PORT/NAME; `state` must outlive the returned object. `control` handles viewers'
    /// control requests on a separate thread; if it is null, the server accepts none. Throws Error{usage} if the name
    /// is invalid or in use.
    ServedStream add(const std::string& name, StreamState& state, Control control = nullptr);

    /// Serves `site` to HTTP requests at the same address from now on. If null, they are answered with 503. Returns
    /// when no handler of the previous site is running, so it must not be called from a handler. GET /NAME/stream
    /// upgrades to a WebSocket with or without a site.
    void set_site(std::shared_ptr<const http::Site> site);

    /// Stops accepting connections and refuses pending ones with `why`. Viewers stay connected.
    void close(const std::string& why);

    /// Returns the statistics over all streams, including removed ones.
    ServerMetrics metrics() const;

private:
    friend class ServedStream;
    struct State;
    std::unique_ptr<State> state_;
};

/// A stream that the listener serves as long as this object exists. Move-only. The listener must outlive it.
class ServedStream {
public:
    /// Removes the stream, closes the connections of its viewers and makes its name available again.
    ~ServedStream();
    ServedStream(ServedStream&&) noexcept;
    ServedStream& operator=(ServedStream&&) noexcept;

    /// The address for viewers, with the port in use.
    const StreamAddress& address() const;

    /// Announces a new state: waiting viewers are sent what they are missing. Never blocks on viewers.
    void publish();

    /// Blocks until `count` viewers are connected. Returns false if `stop` is requested first.
    bool wait_for_viewers(int count, std::stop_token stop) const;

    /// Blocks until `count` viewers have received a complete state or, if some have left, until all remaining ones
    /// have. Returns false if `stop` is requested first. A viewer that accepts no bytes is dropped after the write
    /// deadline.
    bool wait_for_first_states(int count, std::stop_token stop) const;

    /// Ends the stream: refuses new viewers and sends everyone the last state and then the end, or `failure` as an
    /// error if it is not empty. Waits until all viewers have received it or the deadline has passed, then closes the
    /// remaining connections and returns how many viewers were cut off. Does not wait for pending connections. Other
    /// streams continue.
    int finish(std::chrono::milliseconds deadline, const std::string& failure = {});

    /// Returns the statistics of this stream.
    StreamMetrics metrics() const;

private:
    friend class Listener;
    struct State;
    explicit ServedStream(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

/// Settings of a server with one stream.
struct ServerOptions : ListenerOptions {
    /// Name of the stream.
    std::string stream{default_stream};
};

/// A listener together with its only stream.
class Server {
public:
    /// Starts to listen. `state` must outlive the server. Throws Error{usage} if an option is invalid, and
    /// Error{config} if the address is not available or its name is not resolved before the deadline or before `stop`
    /// is requested.
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

    /// Returns the statistics over all viewers.
    ServerMetrics metrics() const { return listener_.metrics(); }

private:
    Listener listener_;
    ServedStream stream_;
};

}  // namespace framewire::net
