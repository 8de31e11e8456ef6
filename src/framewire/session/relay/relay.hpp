#pragma once

#include "framewire/net/address.hpp"
#include "framewire/session/broadcast/broadcast.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace framewire::session {

/// The stream of another server that a source's text names: tcp://, tls://, ws:// or wss://, without a query, which
/// FFmpeg's have. None: it names something else. Throws as net::parse_stream_address() does.
std::optional<net::StreamAddress> relayed_stream(const std::string& source);

/// What can be told of a source that is to be served without opening it. Throws as relayed_stream() and check_source()
/// do.
void check_served_source(const std::string& source);

/// Throws Error{usage} on what a relay leaves to the server that it forwards: filters, a detector and the like.
void check_relay(const BroadcastOptions& options);

/// A viewer that serves: forwards the stream of another server as it comes, without decoding it anew. What is sent on
/// is that server's R, so errors never add up, however many relays follow each other. For one run.
class RelayJob {
public:
    /// Connects to the stream that `options.input.source` names, as `options.upstream` says, and serves it as
    /// BroadcastJob does. Throws as net::Client and net::Listener do.
    explicit RelayJob(const BroadcastOptions& options);
    ~RelayJob();

    /// Where viewers find the stream, and what is forwarded.
    const net::StreamAddress& address() const;
    const std::string& source() const;

    // For whoever asks while it runs, from any thread.

    const net::StreamInfo& info() const;
    /// Pictures come; else the server was lost.
    bool up() const;
    std::int64_t reconnects() const;
    net::StreamMetrics viewers() const;
    /// As BroadcastJob's.
    std::uint64_t picture_version() const;
    std::uint64_t copy_picture(HostView<std::uint8_t> to) const;

    /// To be called once; returns when the stream ends. Throws Error{source_lost} when it was lost, or came back as
    /// another one: in another size, say.
    const BroadcastResult& run();
    /// Of run(), when it threw, too.
    const BroadcastResult& result() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace framewire::session
