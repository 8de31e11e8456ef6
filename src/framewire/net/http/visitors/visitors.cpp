// HTTP connections: accepting, reading requests, limits and deadlines. The phases of a connection:
//
//   waiting -> handled -> answering -> waiting      keep-alive
//                         answering -> leaving      last response
//              handled -> feeding -> leaving        streamed response
//              upgrading -> (viewer)                WebSocket of a stream
//              upgrading -> handled -> feeding      WebSocket of a route
//              upgrading -> proving -> handled      the same, with the token in its first message
//
// Every phase can end in `gone`.

#include "framewire/net/http/visitors/visitors.hpp"

#include "framewire/core/error.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace framewire::net::http {

namespace {

using Phase = Visitor::Phase;

// Most bytes that are read and discarded from a peer that should not send any. Closing with unread bytes would reset
// the connection, and the peer could lose the response.
constexpr std::size_t discarded_most_bytes = 64 * 1024;
// A WebSocket that was sent nothing for this long gets a ping. A peer that is gone does not take it, so the write
// deadline ends the connection.
constexpr std::chrono::seconds ping_after{10};

// A connection with a request or response in progress does not count as waiting.
bool is_under_way(Phase phase) { return phase != Phase::waiting && phase != Phase::leaving && phase != Phase::gone; }

}  // namespace

Visitors::Visitors(const Limits& limits, Front front, Loop& loop, Admission admission, TakeViewer take_viewer)
    : limits_(limits),
      front_(std::move(front)),
      loop_(loop),
      admission_(std::move(admission)),
      take_viewer_(std::move(take_viewer)),
      places_(limits.waiting, limits.waiting_per_peer),
      leaving_(std::max(1, limits.waiting / 2), std::max(1, limits.waiting_per_peer / 2)),
      self_(std::make_shared<Visitors*>(this)) {}

// The bytes already read may contain a complete request.
void Visitors::come(ConnectionPointer connection, ByteSpan heard) {
    if (closed_) return;
    const auto visitor = std::make_shared<Visitor>(++come_so_far_, std::move(connection), loop_.now());
    visitor->is_proxy = front_.proxies.trusts(*visitor->connection);
    visitors_.emplace(visitor->number, visitor);
    make_place(visitor);
    if (visitor->phase == Phase::waiting) take_request_bytes(visitor, heard);
}

// Every waiting connection occupies a place. If all are taken, the oldest connection of the peer that holds the most is
// closed. A trusted proxy holds connections for many clients, so each of them counts as a separate peer.
void Visitors::make_place(const VisitorPointer& visitor) {
    give_up(
        places_.enter(visitor->number, place_holder(visitor->number, visitor->connection->peer(), visitor->is_proxy)),
        "wait");
}

// Closes the connection that the limiter evicted.
void Visitors::give_up(const std::optional<GreetingPlaces::Eviction>& eviction, std::string_view what) {
    if (!eviction) return;
    if (const auto loser = visitors_.find(eviction->connection); loser != visitors_.end()) {
        refusals_.line_of(loser->second->peer, "{} cut off: too many HTTP connections {}", loser->second->name, what);
        close(VisitorPointer(loser->second));
    }
}

// Makes room for one more request or feed if all places are taken: the peer that holds the most loses the connection
// whose client has made no progress for the longest time. Requests whose handler runs are kept, because ending them
// would free nothing. Returns false if there is no room, or if the peer's requests keep too many handlers busy. A feed
// only displaces one of a peer that would still have as many.
bool Visitors::make_room(const Visitor& newcomer, bool feeds) {
    const int most_feeds = std::max(1, limits_.under_way * 3 / 4);
    const int most_of_a_peer = limits_.under_way - limits_.under_way / 4;
    if (!feeds && under_way_ > most_of_a_peer && std::ranges::count_if(visitors_, [&](const auto& entry) {
                                                     return entry.second->phase == Phase::handled &&
                                                            entry.second->peer == newcomer.peer;
                                                 }) > most_of_a_peer)
        return false;
    if (feeds ? feeds_ < most_feeds : under_way_ <= limits_.under_way) return true;
    std::map<std::string_view, int> counts;
    const auto gives_up = [feeds](Phase phase) {
        return feeds ? phase == Phase::feeding
                     : phase == Phase::answering || phase == Phase::upgrading || phase == Phase::proving;
    };
    for (const auto& [number, visitor] : visitors_)
        if (visitor.get() != &newcomer && gives_up(visitor->phase)) ++counts[visitor->peer];
    VisitorPointer loser;
    for (const auto& [number, visitor] : visitors_) {
        if (visitor.get() == &newcomer || !gives_up(visitor->phase)) continue;
        const auto rank = [&](const Visitor& one) { return std::pair(-counts[one.peer], one.progress); };
        if (!loser || rank(*visitor) < rank(*loser)) loser = visitor;
    }
    if (!loser || (feeds && counts[loser->peer] <= counts[newcomer.peer] + 1)) return false;
    refusals_.line_of(loser->peer, "{} cut off: too many {} are under way, most of them its peer's", loser->name,
                      feeds ? "feeds" : "requests");
    close(loser);
    return true;
}

// Changes the phase and updates all counters that depend on it.
void Visitors::enter(Visitor& visitor, Phase phase) {
    under_way_ += is_under_way(phase) - is_under_way(visitor.phase);
    feeds_ += (phase == Phase::feeding) - (visitor.phase == Phase::feeding);
    if (phase != Phase::waiting) places_.leave(visitor.number);
    if (phase != Phase::leaving) leaving_.leave(visitor.number);
    visitor.phase = phase;
    visitor.since = visitor.progress = loop_.now();
}

// A connection that was handed over to the stream protocol is null here.
void Visitors::close(const VisitorPointer& visitor) {
    if (visitor->phase == Phase::gone) return;
    enter(*visitor, Phase::gone);
    visitor->feed.reset();
    if (visitor->connection) visitor->connection->close();
    visitors_.erase(visitor->number);
}

// --- reading ---

// A pipelined next request may be complete already. It is taken in a posted task, not recursively, because there may be
// many.
void Visitors::await_request(const VisitorPointer& visitor) {
    enter(*visitor, Phase::waiting);
    if (closed_) return close(visitor);
    make_place(visitor);
    loop_.post([self = std::weak_ptr(self_), weak = std::weak_ptr(visitor)] {
        const auto held = self.lock();
        const auto waiting = weak.lock();
        if (held && waiting && waiting->phase == Phase::waiting) (*held)->take_request_bytes(waiting, {});
    });
}

// One read is pending at a time. The callback may outlive the phase in which the read was started.
void Visitors::read_on(Visitor& visitor) {
    if (visitor.reading || visitor.phase == Phase::gone) return;
    visitor.reading = true;
    visitor.connection->read_some(visitor.piece, [this, &visitor](const std::error_code& error, std::size_t bytes) {
        const auto held = visitor.shared_from_this();
        visitor.reading = false;
        if (error || bytes == 0)
            close(held);
        else
            take_piece(held, bytes);
    });
}

// Bytes mean something only while a request or a token is expected.
void Visitors::take_piece(const VisitorPointer& visitor, std::size_t bytes) {
    switch (visitor->phase) {
        case Phase::waiting: take_request_bytes(visitor, ByteSpan(visitor->piece).first(bytes)); break;
        case Phase::proving: take_first_message(visitor, bytes); break;
        default: discard(visitor, bytes);
    }
}

// Also called without bytes, for those that an earlier read left in the reader.
void Visitors::take_request_bytes(const VisitorPointer& visitor, ByteSpan bytes) {
    try {
        const bool begins = !visitor->reader.begun();
        if (visitor->reader.take(bytes)) return handle(visitor);
        if (begins && visitor->reader.begun()) visitor->since = loop_.now();
        read_on(*visitor);
    } catch (const Refused& why) {
        refuse(visitor, why, true);
    }
}

// Bytes received during or after a response are ignored, up to a limit.
void Visitors::discard(const VisitorPointer& visitor, std::size_t bytes) {
    visitor->discarded_bytes += bytes;
    if (visitor->discarded_bytes > discarded_most_bytes)
        close(visitor);
    else
        read_on(*visitor);
}

// --- deadlines ---

void Visitors::turn_away() {
    closed_ = true;
    const auto all = visitors_;
    for (const auto& [number, visitor] : all)
        if (visitor->phase == Phase::waiting) close(visitor);
}

void Visitors::check_deadlines() {
    const auto now = loop_.now();
    const auto all = visitors_;  // a copy, because handling one may erase it
    for (const auto& [number, visitor] : all) check_deadline(visitor, now);
    for (auto* log : {&refusals_, &trouble_}) log->tell_left_out(now);
}

// Deadlines by phase: request_deadline for a request or a token, idle_deadline between requests, write_deadline for
// output.
void Visitors::check_deadline(const VisitorPointer& visitor, Clock::time_point now) {
    const auto age = now - visitor->since;
    const auto silence = now - visitor->progress;
    switch (visitor->phase) {
        case Phase::waiting:
            if (visitor->reader.begun() && age >= limits_.request_deadline)
                refuse(visitor, {408, fmt::format("no whole request within {} ms", limits_.request_deadline.count())},
                       true);
            else if (age >= limits_.idle_deadline)
                close(visitor);
            break;
        case Phase::upgrading:
        case Phase::proving:
            if (age >= limits_.request_deadline) close(visitor);
            break;
        case Phase::answering:
        case Phase::leaving:
            if (silence >= limits_.write_deadline) close(visitor);
            break;
        case Phase::feeding:
            if (visitor->writing && silence >= limits_.write_deadline)
                close(visitor);
            else if (visitor->socket && !visitor->writing && silence >= ping_after)
                visitor->socket->ping(), visitor->progress = now;
            break;
        // A handler has no deadline of its own.
        case Phase::handled:
        case Phase::gone: break;
    }
}

}  // namespace framewire::net::http
