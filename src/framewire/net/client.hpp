#pragma once

#include "framewire/core/time.hpp"
#include "framewire/net/address.hpp"
#include "framewire/net/control.hpp"
#include "framewire/net/receiver.hpp"
#include "framewire/net/tcp.hpp"
#include "framewire/net/transport.hpp"
#include "framewire/net/wire.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>

namespace framewire::net {

/// Settings of a viewer.
struct ClientOptions {
    /// Deadline of one connection attempt, from the name lookup to the end of the server's hello.
    std::chrono::milliseconds connect_deadline{5'000};
    /// The connection counts as lost if no byte arrives for this long; servers send keep-alives.
    std::chrono::milliseconds silence_deadline{5'000};
    /// How long the client tries to reconnect after a loss, with pauses that grow from `first_pause` to
    /// `longest_pause`. 0 disables reconnecting; at most 24 h, or milliseconds::max() for no limit. Only a complete
    /// state resets the time and the pauses, so a server that closes after its hello does not.
    std::chrono::milliseconds reconnect{0};
    std::chrono::milliseconds first_pause{100};
    std::chrono::milliseconds longest_pause{2'000};
    /// If true, a stream that returns with another picture size is accepted and info() changes; otherwise it counts as
    /// lost.
    bool follows_size = false;
    /// The token to send to the server. If empty, none is sent.
    std::string token{};
    /// Only with tls:// and wss://: the expected certificate fingerprint as parse_fingerprint() returns it. If empty,
    /// the certificate is verified against the system's trusted roots and the host name.
    std::string fingerprint{};
    /// Maximum number of pixels per picture. A larger stream is refused before any memory is allocated for it.
    std::int64_t max_pixels = std::int64_t{8192} * 8192;
    /// How the server's name is resolved.
    HostLookup lookup = system_lookup;
    /// Optional. Called inside next() with the reason when the connection is lost and after each failed attempt to
    /// reconnect.
    std::function<void(const std::string& why)> on_loss{};
};

/// Statistics over all connections so far.
struct ClientCounts {
    ReceiverCounts received{};
    /// All bytes read, including hellos and keep-alives.
    std::int64_t bytes = 0;
    int reconnections = 0;
};

/// A viewer: connects to a server and keeps a copy of R, the server's reference picture. Use it from one thread.
class Client {
public:
    /// Connects and waits for the server's hello. Throws Error{no_input} if no stream is available there (nothing
    /// listens, no such stream, too many viewers, pictures too large) or if `stop` is requested first, Error{usage} if
    /// an option is invalid, and Error{config} if memory runs out.
    explicit Client(const StreamAddress& address, const ClientOptions& options = {}, std::stop_token stop = {});
    /// Like the constructor above, over the dialer's connections. `address` names the stream; the dialer decides where
    /// it connects.
    Client(std::unique_ptr<Dialer> dialer, const StreamAddress& address, const ClientOptions& options = {});
    ~Client();
    Client(Client&&) noexcept;
    Client& operator=(Client&&) noexcept;

    /// Returns the size and format of the stream, as the server announced them.
    const StreamInfo& info() const;

    /// Waits for the next complete state and applies it; picture() then equals the server's R of state().version. A
    /// state that arrives in several messages becomes visible once it is complete. Returns false if the server ended
    /// the stream or the client was stopped. Throws Error{source_lost} if the stream was lost and not restored within
    /// ClientOptions::reconnect, or if the server violates the protocol.
    bool next();

    /// Returns the current picture. The view stays valid until next() is called again.
    HostView<const std::uint8_t> picture() const;
    /// Returns the version and metadata of picture().
    const StateHeader& state() const;
    /// Returns the bound of picture(): no byte differs from the server's frame by more.
    int threshold() const;
    /// Returns the blocks in which picture() may differ from the previous picture.
    const codec::BlockSet& came() const;
    /// Returns the time since the server captured picture(), or nullopt until the clocks have been compared.
    std::optional<std::chrono::microseconds> age() const;
    /// Returns the capture time of picture() by this machine's clock, or nullopt until the clocks have been compared.
    std::optional<Clock::time_point> captured() const;
    /// Returns true if the previous picture and packed() alone produce picture(). Otherwise a recording needs a
    /// keyframe here.
    bool follows() const;
    /// Returns the packed frame received last, in the format of codec/format.md. Valid until next() is called again.
    ByteSpan packed() const;
    /// Returns the objects that the server detected in the frame of picture(). Their coordinate sums are not
    /// transmitted.
    std::span<const Component> objects() const;
    /// Returns the statistics over all connections.
    ClientCounts counts() const;
    /// Returns the object that sends control requests to the server, or null if the server accepts none.
    std::shared_ptr<RemoteControl> remote_control() const;
    /// See Receiver::last_changes().
    void last_changes(const codec::ChangesView<MemorySpace::host>& changes) const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace framewire::net
