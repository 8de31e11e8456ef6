#pragma once

#include "framewire/net/address.hpp"
#include "framewire/net/http/site.hpp"
#include "framewire/net/session/control.hpp"
#include "framewire/net/session/metrics.hpp"
#include "framewire/net/stream/stream_state.hpp"
#include "framewire/net/tcp/name_lookup.hpp"
#include "framewire/net/tls/identity.hpp"

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace framewire::net {

struct ListenerOptions {
    Address listen{"127.0.0.1", 7878};
    int viewers_limit = 64;  ///< of all streams
    /// What viewers have to know, see validate_token(); empty: nothing, which is for loopback only unless `open` says
    /// that everybody is welcome who can reach the address.
    std::string token{};
    bool open = false;
    std::optional<TlsIdentity> tls{};  ///< connections are TLS's, and the server shows this
    /// Connections that have not said hello, all told and of one peer (an address; for IPv6 its first 64 bits). One
    /// more takes the place of an older one, which is told so.
    int greeting_limit = 128, greeting_limit_per_peer = 64;
    /// What answers on their way to viewers may keep in memory together, where more than one is; who takes theirs the
    /// slowest is dropped for those that would exceed it. 0: 512 MiB, or four whole pictures of the largest stream
    /// where that is more.
    std::size_t pinned_limit_bytes = 0;
    std::chrono::milliseconds lookup_deadline{5'000};     ///< for the address of `listen`, where it is a name
    std::chrono::milliseconds handshake_deadline{5'000};  ///< from the connection to the viewer's whole hello
    std::chrono::milliseconds write_deadline{10'000};     ///< without a byte taken by a viewer that has some coming
    std::chrono::milliseconds keep_alive{1'000};          ///< the longest silence towards a viewer
    /// Names that HTTP requests may ask for the server by, beside numeric addresses, localhost, this machine's name
    /// and the one of `listen`: others are of pages that want to look like this server.
    std::vector<std::string> allowed_hosts{};
    /// From an HTTP request's first byte to its last; and from an answer to the next request.
    std::chrono::milliseconds request_deadline{5'000}, idle_deadline{15'000};
    /// Reverse proxies whose X-Forwarded-For is believed: addresses and networks such as 10.0.0.0/8. What is limited
    /// for each peer is then limited for each of their clients.
    std::vector<std::string> trusted_proxies{};
    /// The path below which a reverse proxy shows this server, such as "/cams", as validate_base_path() takes it.
    /// Requests may begin with it. Empty: none.
    std::string base_path{};
    int requests_limit = 256;           ///< of HTTP that are under way, answers that come bit by bit included
    HostLookup lookup = system_lookup;  ///< how `listen` is resolved
};

/// Throws Error{usage} unless `path` is empty, or one or more parts of A-Z a-z 0-9 . _ ~ -, each after a "/".
void validate_base_path(std::string_view path);

class ServedStream;

/// Listens at one address and serves any number of named streams there, from a thread of its own. A viewer asks for one
/// of them by its name. Each is sent what it lacks (StreamState::missing()) when it has taken what it was sent before:
/// a slow one skips states and costs nobody else anything, what waits for it never exceeds one whole picture, and what
/// waits for all of them is limited. Thread-safe.
class Listener {
public:
    /// Listens from here on. Throws Error{usage} on options that are not allowed and Error{config} when the address
    /// cannot be listened on, or is a name that is not resolved before the deadline or the stop.
    explicit Listener(ListenerOptions options, std::stop_token stop = {});
    /// Cuts off whoever is still there. The streams were removed before.
    ~Listener();
    Listener(const Listener&) = delete;
    Listener& operator=(const Listener&) = delete;

    /// As asked for, with the port in use.
    const Address& address() const;

    /// Serves `state`, which lives longer than what is given, as tcp://HOST:PORT/NAME. Throws Error{usage} when the
    /// name is not allowed or taken.
    /// `control` sees to viewers' wishes, on a thread of its own; none: they are not taken.
    ServedStream add(const std::string& name, StreamState& state, Control control = nullptr);

    /// Answers HTTP at the same address by `site` from now on; none: by nothing but 503. Returns when no handler of the
    /// one before runs any more, and is not called by one. GET /NAME/stream becomes a WebSocket with a site or without.
    void set_site(std::shared_ptr<const http::Site> site);

    /// Takes no new connections, and turns away who has not said hello, in these words. Viewers stay.
    void close(const std::string& why);

    /// Over all streams, those removed included.
    ServerMetrics metrics() const;

private:
    friend class ServedStream;
    struct State;
    std::unique_ptr<State> state_;
};

/// A stream while a listener serves it. Move-only; the listener lives longer.
class ServedStream {
public:
    /// Removes the stream: cuts off whoever is still there, and its name is free again.
    ~ServedStream();
    ServedStream(ServedStream&&) noexcept;
    ServedStream& operator=(ServedStream&&) noexcept;

    /// Where viewers find the stream, with the port in use.
    const StreamAddress& address() const;

    /// The state is new: viewers that wait are sent what they lack. Never blocks on viewers.
    void publish();

    /// Blocks until `count` viewers are there; false when told to stop before.
    bool wait_for_viewers(int count, std::stop_token stop) const;

    /// Blocks until `count` viewers have taken a whole state, or all that are still there if some have gone; false when
    /// told to stop before. A viewer that takes nothing is dropped after the write deadline.
    bool wait_for_first_states(int count, std::stop_token stop) const;

    /// Ends the stream: takes no new viewers, sends everyone the last state and then the end, or with `failure` these
    /// words as an error, and returns when all have taken them or the deadline is over; whoever is left is cut off.
    /// Gives how many viewers were; connections that are none are not waited for. Other streams go on.
    int finish(std::chrono::milliseconds deadline, const std::string& failure = {});

    StreamMetrics metrics() const;

private:
    friend class Listener;
    struct State;
    explicit ServedStream(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

}  // namespace framewire::net
