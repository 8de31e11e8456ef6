#include "viewer.hpp"

#include "framewire/codec/blocks.hpp"
#include "framewire/core/error.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <utility>

namespace framewire::web {
namespace {

using net::MessageType;

// Converts a time on JavaScript's clock, in microseconds, to a time point.
Clock::time_point time_of(double now_us) {
    return Clock::time_point(std::chrono::microseconds(static_cast<std::int64_t>(now_us)));
}

}  // namespace

net::Bytes Viewer::greet(std::string_view name, std::string_view token) {
    greeted_ = false;
    clock_ = {};
    return net::viewer_hello(
        {std::string(name), std::string(token), receiver_ ? receiver_->block_versions() : net::BlockVersions{}});
}

std::size_t Viewer::content_bytes(net::ByteSpan header) const {
    return net::read_header(header, greeted_ ? receiver_->max_packed_bytes() : 0).length_bytes;
}

// Applies one message. Errors can come before the hello, so they are handled first.
Taken Viewer::take(MessageType type, net::ByteSpan content, double now_us) {
    if (type == MessageType::error) {
        auto error = net::read_error(content);
        reason_ = static_cast<int>(error.reason);
        text_ = std::move(error.text);
        return Taken::refused;
    }
    if (!greeted_) {
        if (type != MessageType::hello) fail(ErrorCode::source_lost, "the server's first message is not a hello");
        accept(net::read_server_hello(content));
        return Taken::hello;
    }
    if (type == MessageType::clock) {
        clock_.compare(net::read_clocks(content), time_of(now_us));
        return Taken::clock;
    }
    if (type == MessageType::answer) {
        auto answer = net::read_answer(content);
        reason_ = answer.done;
        text_ = std::move(answer.text);
        return Taken::answer;
    }
    const auto before = receiver_->counts().changed_bytes;
    const auto outcome = receiver_->take(type, content);
    last_changed_ = receiver_->counts().changed_bytes - before;
    if (type == MessageType::picture || type == MessageType::changes)
        take_state(type, outcome == net::Receiver::Outcome::picture);
    switch (outcome) {
        case net::Receiver::Outcome::picture: return Taken::picture;
        case net::Receiver::Outcome::ended: return Taken::ended;
        default: return Taken::nothing;
    }
}

// Applies a server's hello. The receiver is kept if the size is the same.
void Viewer::accept(const net::ServerHello& hello) {
    const auto& shape = hello.info.shape;
    if (receiver_ && shape == info_.shape) {
        receiver_->restart(hello);
    } else {
        if (std::int64_t{shape.width} * shape.height > max_pixels)
            fail(ErrorCode::source_lost, "its frames are {}, which exceeds the limit of {} pixels", to_string(shape),
                 max_pixels);
        receiver_.reset();  // two receivers might not fit into memory
        receiver_.emplace(hello);
        touched_.assign(static_cast<std::size_t>(codec::BlockGrid(shape).count()), 1);
    }
    info_ = hello.info;
    takes_control_requests_ = hello.controls;
    greeted_ = true;
    keep_marks(keeps_marks_);
}

// Updates touched() and marks() after a message with picture data.
void Viewer::take_state(MessageType type, bool complete) {
    if (type == MessageType::picture) last_changed_ = info_.shape.frame_bytes();
    if (keeps_marks_) mark(complete);
    if (!complete) return;
    const auto& came = receiver_->came();
    for (std::size_t block = 0; block < came.size(); ++block) touched_[block] |= came[block];
}

// Marks the changes of a message. Marks of an incomplete state are collected separately and shown once it is complete.
void Viewer::mark(bool complete) {
    if (complete && std::exchange(marks_painted_, false)) std::fill(marks_.begin(), marks_.end(), std::uint8_t{0});
    auto& marks = complete ? marks_ : part_marks_;
    if (!complete) marks.resize(marks_.size());
    if (complete && !part_marks_.empty()) {
        for (std::size_t pixel = 0; pixel < marks_.size(); ++pixel)
            marks_[pixel] = std::max(marks_[pixel], part_marks_[pixel]);
        part_marks_.clear();
    }
    const auto found = changes_.view();
    receiver_->last_changes(found);
    const auto channels = static_cast<std::uint32_t>(info_.shape.channels);
    const auto* const picture = receiver_->newest_blocks().data();
    for (std::uint32_t i = 0; i < found.summaries[0].count; ++i) {
        const auto at = found.positions[i];
        const int now = picture[at], before = static_cast<std::uint8_t>(now - found.differences[i]);
        auto& most = marks[at / channels];
        most = std::max(most, static_cast<std::uint8_t>(std::abs(now - before)));
    }
}

// Turns marks on or off. They need memory for the whole picture, which is allocated only while they are on.
void Viewer::keep_marks(bool keep) {
    keeps_marks_ = keep;
    if (!receiver_) return;
    const auto pixels = static_cast<std::size_t>(info_.shape.width) * static_cast<std::size_t>(info_.shape.height);
    if (keep && marks_.size() == pixels) return;
    part_marks_.clear();
    marks_.assign(keep ? pixels : 0, 0);
    marks_.shrink_to_fit();
    changes_ = keep ? codec::HostChanges(info_.shape) : codec::HostChanges();
}

void Viewer::painted() {
    std::fill(touched_.begin(), touched_.end(), std::uint8_t{0});
    marks_painted_ = true;
}

std::optional<std::int64_t> Viewer::age_us(double now_us) const {
    const auto age = receiver_ ? clock_.age(receiver_->state().captured_us, time_of(now_us)) : std::nullopt;
    if (!age) return std::nullopt;
    return age->count();
}

}  // namespace framewire::web
