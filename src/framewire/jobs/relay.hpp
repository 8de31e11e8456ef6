#pragma once

#include "framewire/jobs/broadcast.hpp"
#include "framewire/net/address.hpp"
#include "framewire/net/wire.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace framewire::jobs {

/// Returns the address if the source's text names a stream of another server: tcp://, tls://, ws:// or wss:// without a
/// query (a URL with a query is passed to FFmpeg). Empty for any other source. Throws as net::parse_stream_address()
/// does.
std::optional<net::StreamAddress> relayed_stream(const std::string& source);

/// Checks everything about a source that can be checked without opening it. Throws as relayed_stream() and
/// check_source() do.
void check_served_source(const std::string& source);

/// Throws Error{usage} if options are set that have no effect on a relay because the original server decides them, such
/// as filters or a detector.
void check_relay(const BroadcastOptions& options);

/// Forwards another server's stream unchanged: it is a viewer of that server and passes delta frames on as received,
/// without encoding them again. Viewers receive the original server's R, so errors do not accumulate over several
/// relays. A job runs once.
class RelayJob {
public:
    /// Connects to the stream that `options.input.source` names, with the credentials of `options.upstream`, and serves
    /// it as BroadcastJob does. Throws as check_relay(), net::Client and net::Listener do.
    explicit RelayJob(const BroadcastOptions& options);
    ~RelayJob();

    /// Returns the address at which viewers find the stream.
    const net::StreamAddress& address() const;
    /// Returns the address of the upstream server, as given by the user.
    const std::string& source() const;

    // Queries while the job runs; callable from any thread.

    /// Returns the description of the stream, which never changes.
    const net::StreamInfo& info() const;
    /// Returns true while pictures arrive, and false while the upstream server is lost.
    bool up() const;
    /// Returns how many times the upstream server was lost and came back.
    std::int64_t reconnects() const;
    /// Returns the traffic to viewers so far.
    net::StreamMetrics viewers() const;
    /// Returns the version of the picture that viewers see; 0 before the first.
    std::uint64_t picture_version() const;
    /// Copies the picture that viewers see to `to`, a view of info().shape, and returns its header.
    net::StateHeader copy_picture(HostView<std::uint8_t> to) const;

    /// Forwards until the stream ends; may be called once. Throws Error{source_lost} if the stream was lost or came
    /// back with other properties, such as another size.
    const BroadcastResult& run();
    /// Returns the result of run(), which is valid even if run() threw.
    const BroadcastResult& result() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace framewire::jobs
