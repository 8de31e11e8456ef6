#pragma once

#include "framewire/core/time/clock.hpp"
#include "framewire/net/address.hpp"
#include "framewire/net/remote_control.hpp"
#include "framewire/net/stream/receiver.hpp"
#include "framewire/net/tcp/name_lookup.hpp"
#include "framewire/net/transport/dialer.hpp"
#include "framewire/net/wire/wire.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>

namespace framewire::net {

struct ClientOptions {
    /// For one attempt: from looking up the server's name to its whole hello.
    std::chrono::milliseconds connect_deadline{5'000};
    std::chrono::milliseconds silence_deadline{5'000};  ///< without a byte from the server, which sends keep-alives
    /// How long a stream that was lost is tried to be had again, with pauses growing from `first_pause` to
    /// `longest_pause`; 0 does not try, 24 h is the most but for milliseconds::max(), which is for ever. Time and
    /// pauses count from the loss to the next state that is received: a server that greets and drops does not make them
    /// begin anew.
    std::chrono::milliseconds reconnect{0};
    std::chrono::milliseconds first_pause{100};
    std::chrono::milliseconds longest_pause{2'000};
    /// A stream that is had again with pictures of another size is taken so, and info() is of it; else it is lost.
    bool follows_size = false;
    std::string token{};  ///< what the server wants to hear; empty: nothing
    /// Of tls:// and wss:// only: the certificate's, as parse_fingerprint() gives it. Empty: the certificate is
    /// verified by the system's roots and the host's name.
    std::string fingerprint{};
    std::int64_t max_pixels = std::int64_t{8192} * 8192;  ///< larger pictures are refused unallocated
    HostLookup lookup = system_lookup;                    ///< how the server's name is resolved
    /// Called in next() when the stream was lost, with why, and after each attempt to have it again that failed.
    std::function<void(const std::string& why)> on_loss{};
};

/// What came over the connections so far.
struct ClientCounts {
    ReceiverCounts received{};
    std::int64_t bytes = 0;  ///< all told, hellos and keep-alives included
    int reconnections = 0;
};

/// A viewer: connects to a server and keeps its own copy of R. For one thread.
class Client {
public:
    /// Connects and waits for the server's hello. Throws Error{no_input} when there is no stream to be had there
    /// (nobody listens, no such stream, too many viewers, pictures too large) or when told to stop before it is,
    /// Error{usage} on options that are not allowed, Error{config} without memory.
    explicit Client(const StreamAddress& address, const ClientOptions& options = {}, std::stop_token stop = {});
    /// The same over connections of another kind; where they lead is the dialer's affair, `address` names the stream.
    Client(std::unique_ptr<Dialer> dialer, const StreamAddress& address, const ClientOptions& options = {});
    ~Client();
    Client(Client&&) noexcept;
    Client& operator=(Client&&) noexcept;

    const StreamInfo& info() const;

    /// Waits for the next complete state and takes it: picture() is then the server's R of state().version, whichever
    /// way it came. What comes in parts is not to be seen before it is complete. False when the server ended the stream
    /// or when told to stop. Throws Error{source_lost} when the stream was lost, and not had again in the time allowed,
    /// or when the server sends what no server does.
    bool next();

    HostView<const std::uint8_t> picture() const;
    const StateHeader& state() const;
    /// What no byte of picture() is further than from the source.
    int threshold() const;
    /// Blocks in which picture() may differ from the one before.
    const delta::BlockSet& came() const;
    /// How long ago the server's machine had picture() from its camera; none before the clocks were compared.
    std::optional<std::chrono::microseconds> age() const;
    /// When picture() was captured, by this machine's clock; none likewise.
    std::optional<Clock::time_point> captured() const;
    /// Whether picture() came of the one before by packed() alone; else it is new.
    bool follows() const;
    /// What came last, as delta/format.md says.
    ByteSpan packed() const;
    /// What the server detected in the frame of picture(); without sums of coordinates.
    std::span<const Component> objects() const;
    ClientCounts counts() const;
    /// Orders to the server; null where it takes none.
    std::shared_ptr<RemoteControl> remote_control() const;
    /// As Receiver's.
    void last_changes(const delta::ChangesView<MemorySpace::host>& changes) const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace framewire::net
