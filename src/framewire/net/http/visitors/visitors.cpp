#include "framewire/net/http/visitors/visitors.hpp"

#include "framewire/core/error.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace framewire::net::http {

namespace {

using Phase = Visitor::Phase;

// Read and thrown away of who has nothing to say: closing on unread bytes could cost it the answer.
constexpr std::size_t discarded_most_bytes = 64 * 1024;
// A WebSocket to which nothing was sent for so long is asked whether it lives: who is gone takes no ping.
constexpr std::chrono::seconds ping_after{10};

// A request is seen to, or its answer is on its way: then it is none of those who wait.
bool is_under_way(Phase phase) { return phase != Phase::waiting && phase != Phase::leaving && phase != Phase::gone; }

}  // namespace

Visitors::Visitors(const Limits& limits, Loop& loop, Admission admission, TakeViewer take_viewer)
    : limits_(limits),
      loop_(loop),
      admission_(std::move(admission)),
      take_viewer_(std::move(take_viewer)),
      places_(limits.waiting, limits.waiting_per_peer),
      self_(std::make_shared<Visitors*>(this)) {}

void Visitors::come(ConnectionPointer connection, ByteSpan heard) {
    if (closed_) return;
    const auto visitor = std::make_shared<Visitor>(++come_so_far_, std::move(connection), loop_.now());
    visitors_.emplace(visitor->number, visitor);
    make_place(visitor);
    if (visitor->phase == Phase::waiting) take_request_bytes(visitor, heard);
}

// Whoever waits has a place; the oldest of the peer with most of them gives one up.
void Visitors::make_place(const VisitorPointer& visitor) {
    const auto eviction = places_.enter(visitor->number, visitor->connection->peer());
    if (!eviction) return;
    if (const auto loser = visitors_.find(eviction->connection); loser != visitors_.end()) {
        refusals_.line("{} cut off: too many HTTP connections wait", loser->second->connection->name());
        close(VisitorPointer(loser->second));
    }
}

void Visitors::enter(Visitor& visitor, Phase phase) {
    under_way_ += is_under_way(phase) - is_under_way(visitor.phase);
    if (phase != Phase::waiting) places_.leave(visitor.number);
    visitor.phase = phase;
    visitor.since = visitor.progress = loop_.now();
}

void Visitors::close(const VisitorPointer& visitor) {
    if (visitor->phase == Phase::gone) return;
    enter(*visitor, Phase::gone);
    visitor->feed.reset();
    if (visitor->connection) visitor->connection->close();
    visitors_.erase(visitor->number);
}

// --- reading ---

// What came with the last request may be a whole one already. Not from inside its answer: there may be many.
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

void Visitors::take_piece(const VisitorPointer& visitor, std::size_t bytes) {
    switch (visitor->phase) {
        case Phase::waiting: take_request_bytes(visitor, ByteSpan(visitor->piece).first(bytes)); break;
        case Phase::proving: take_first_message(visitor, bytes); break;
        default: discard(visitor, bytes);
    }
}

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

// What is said while an answer goes on, or after the last one, is of no interest; without end it is a nuisance.
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
    const auto all = visitors_;  // a copy, for what is done to one may end it
    for (const auto& [number, visitor] : all) check_deadline(visitor, now);
    for (auto* log : {&refusals_, &trouble_}) log->tell_left_out(now);
}

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
        case Phase::handled:
        case Phase::gone: break;
    }
}

}  // namespace framewire::net::http
