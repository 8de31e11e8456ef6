#pragma once

#include "framewire/jobs/broadcast.hpp"
#include "framewire/net/address.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace framewire::jobs {

/// Returns the address if a source's text names a stream of another server: tcp://, tls://, ws:// or wss:// without a
/// query (with one, it is a URL for FFmpeg). Empty for any other source. Throws as net::parse_stream_address() does.
std::optional<net::StreamAddress> relayed_stream(const std::string& source);

/// Checks what can be checked of a source to be served without opening it. Throws as relayed_stream() and
/// check_source() do.
void check_served_source(const std::string& source);

/// Throws Error{usage} if options are set that a relay leaves to the original server: filters, a detector and similar
/// ones.
void check_relay(const BroadcastOptions& options);

/// A relay: a viewer that serves. It forwards another server's stream as it is; delta frames are passed on as received,
/// without encoding them again. What it sends is that server's R, so errors do not accumulate over several relays. A
/// job runs once.
class RelayJob {
public:
    /// Connects to the stream that `options.input.source` names, with the credentials of `options.upstream`, and serves
    /// it as BroadcastJob does. Throws as check_relay(), net::Client and net::Listener do.
    explicit RelayJob(const BroadcastOptions& options);
    ~RelayJob();

    /// Address at which viewers find the stream.
    const net::StreamAddress& address() const;
    /// Address of the upstream server, as given.
    const std::string& source() const;

    // Queries while the job runs, from any thread.

    /// Description of the stream. Constant.
    const net::StreamInfo& info() const;
    /// True while pictures arrive; false while the upstream server is lost.
    bool up() const;
    /// Number of times that the upstream server was lost and came back.
    std::int64_t reconnects() const;
    /// Traffic to viewers so far.
    net::StreamMetrics viewers() const;
    /// Version of the picture that viewers see; 0 before the first.
    std::uint64_t picture_version() const;
    /// Copies that picture to `to`, a view of info().shape, and returns its version.
    std::uint64_t copy_picture(HostView<std::uint8_t> to) const;

    /// Forwards until the stream ends; may be called once. Throws Error{source_lost} if the stream was lost or came
    /// back with other properties, such as another size.
    const BroadcastResult& run();
    /// Result of run(), valid even if it threw.
    const BroadcastResult& result() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace framewire::jobs
