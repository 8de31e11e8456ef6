#include "framewire/net/session/sessions.hpp"

#include "framewire/core/error.hpp"
#include "framewire/delta/packing/packing.hpp"
#include "framewire/net/address.hpp"

#include <algorithm>
#include <utility>

namespace framewire::net {

namespace {

// Lower limit of the default memory for pending responses.
constexpr std::size_t least_pinned_limit_bytes = std::size_t{512} << 20;
// Stream names listed in a refusal: at most this many bytes, so that they fit into an error message.
constexpr std::size_t names_bytes_told = 100;

}  // namespace

Sessions::Sessions(const Limits& limits, Loop& loop, std::string_view token, Guests::HandOver hand_over)
    : limits_(limits),
      loop_(loop),
      viewers_(limits.viewer_deadlines, loop, streams_, tally_),
      guests_(
          limits.guests, token, loop,
          [this](const ViewerHello& hello, ConnectionPointer& connection) { return admit(hello, connection); },
          [this](std::int64_t refused, std::int64_t bytes) {
              tally_.count([&] {
                  tally_.total.refused += refused;
                  tally_.total.other_bytes += bytes;
              });
          },
          std::move(hand_over)) {
    set_pinned_limit();
}

void Sessions::come(ConnectionPointer connection, std::string stream) {
    guests_.come(std::move(connection), std::move(stream));
}

// The token was checked before, so a refusal may list the streams.
std::optional<ServerError> Sessions::admit(const ViewerHello& hello, ConnectionPointer& connection) {
    const auto& name = hello.stream;
    const auto found = streams_.find(name);
    if (found == streams_.end())
        return ServerError{Refusal::no_such_stream, fmt::format("there is no stream '{}' here; {}", name, names())};
    auto& stream = *found->second;
    if (stream.ending) return ServerError{Refusal::no_such_stream, "the stream has come to its end"};
    if (viewers_.count() >= static_cast<std::size_t>(limits_.viewers) && !viewers_.make_room(connection->peer()))
        return ServerError{Refusal::too_many_viewers,
                           fmt::format("{} viewers are there already, which is the limit", limits_.viewers)};
    viewers_.come(stream, std::move(connection), hello);
    return std::nullopt;
}

// Returns for example "there is 'yard'" or "there are 'garden', 'yard' and 3 more".
std::string Sessions::names() const {
    std::string told;
    int count = 0, left_out = 0;
    for (const auto& [name, stream] : streams_) {
        if (stream->ending) continue;
        if (count > 0 && (left_out > 0 || told.size() + name.size() > names_bytes_told)) {
            ++left_out;
            continue;
        }
        told += fmt::format("{}'{}'", count++ > 0 ? ", " : "", name);
    }
    if (count == 0) return "there is none";
    if (left_out > 0) told += fmt::format(" and {} more", left_out);
    return (count + left_out == 1 ? "there is " : "there are ") + told;
}

void Sessions::check_deadlines() {
    viewers_.check_deadlines();
    guests_.check_deadlines();
}

Stream& Sessions::add(const std::string& name, StreamState& state, Control control) {
    validate_stream_name(name);
    if (streams_.contains(name)) fail(ErrorCode::usage, "there is a stream '{}' already", name);
    auto& stream = *streams_.emplace(name, std::make_unique<Stream>(name, state, std::move(control))).first->second;
    set_pinned_limit();
    return stream;
}

// The default limit depends on the largest stream, so it is computed again whenever streams change.
void Sessions::set_pinned_limit() {
    auto limit = limits_.pinned_bytes;
    if (limit == 0) {
        limit = least_pinned_limit_bytes;
        for (const auto& [name, stream] : streams_)
            limit = std::max(limit, 4 * delta::max_packed_bytes(stream->state.info().shape));
    }
    viewers_.set_pinned_limit(limit);
}

// `closed_to_new` is set last: wait_for_the_end() must not return before the end was sent.
void Sessions::end(Stream& stream, const std::string& failure) {
    stream.ending = true;
    if (!failure.empty())
        stream.last_words = std::make_shared<const Bytes>(error_message(Refusal::failed, failure, false));
    stream.state.finish();
    viewers_.send_all_missing(stream);
    tally_.count([&] { stream.closed_to_new = true; });
}

// The stream is erased when no worker uses it any more, because workers refer to it.
void Sessions::remove(Stream& stream, std::function<void()> removed) {
    stream.ending = true;
    viewers_.cut_off(stream);
    stream.when_idle = [this, &stream, removed = std::move(removed)] {
        streams_.erase(std::string(stream.name));
        set_pinned_limit();
        removed();
    };
    stream.tell_when_idle();
}

// One posted call serves all states published before it runs.
void Sessions::publish(Stream& stream) {
    if (stream.publishing.exchange(true)) return;  // the pending call will send this state, too
    loop_.post([this, &stream] {
        stream.publishing = false;
        viewers_.send_all_missing(stream);
    });
}

bool Sessions::wait_for_viewers(const Stream& stream, int count, std::stop_token stop) const {
    std::unique_lock lock(tally_.mutex);
    return tally_.changed.wait(lock, std::move(stop), [&] { return stream.metrics.viewers >= count; });
}

bool Sessions::wait_for_first_states(const Stream& stream, int count, std::stop_token stop) const {
    std::unique_lock lock(tally_.mutex);
    return tally_.changed.wait(lock, std::move(stop),
                               [&] { return stream.begun_viewers >= std::min(count, stream.metrics.viewers); });
}

void Sessions::wait_for_the_end(const Stream& stream, std::chrono::milliseconds deadline) const {
    std::unique_lock lock(tally_.mutex);
    tally_.changed.wait_for(lock, deadline, [&] {
        return stream.closed_to_new && stream.metrics.viewers == 0 && stream.ending_viewers == 0;
    });
}

StreamMetrics Sessions::metrics(const Stream& stream) const {
    const std::lock_guard lock(tally_.mutex);
    return stream.metrics;
}

ServerMetrics Sessions::metrics() const {
    const std::lock_guard lock(tally_.mutex);
    return tally_.total;
}

}  // namespace framewire::net
