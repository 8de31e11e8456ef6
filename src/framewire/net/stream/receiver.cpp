#include "framewire/net/stream/receiver.hpp"

#include "framewire/core/error.hpp"

#include <limits>

namespace framewire::net {

Receiver::Receiver(const StreamInfo& info)
    : picture_((validate(info), info.shape)),
      unpacker_(info.shape),
      greatest_threshold_(info.threshold),
      threshold_(info.threshold),
      max_packed_bytes_(delta::max_packed_bytes(info.shape)) {}

Receiver::Outcome Receiver::take(MessageType type, ByteSpan payload) {
    switch (type) {
        case MessageType::alive: return Outcome::nothing;
        case MessageType::end: return Outcome::ended;
        case MessageType::error: {
            const auto error = read_error(payload);
            fail(ErrorCode::source_lost, "the server says: {}", error.text);
        }
        case MessageType::hello: fail(ErrorCode::source_lost, "the server greets a second time");
        case MessageType::picture: {
            const auto next = read_state(payload, picture_.shape(), objects_);
            if (follows_ && next.version <= state_.version)
                fail(ErrorCode::source_lost, "the server goes back from version {} to {}", state_.version,
                     next.version);
            unpacker_.apply_picture(payload, picture_.view());
            check_threshold();
            threshold_ = unpacker_.last_threshold() ? unpacker_.last_threshold() : greatest_threshold_;
            if (follows_) count_skipped(next.version - state_.version - 1);
            ++counts_.pictures;
            move_on(next);
            return Outcome::picture;
        }
        case MessageType::changes: {
            const auto next = read_state(payload, picture_.shape(), objects_);
            if (!follows_)
                fail(ErrorCode::source_lost, "the server begins with the step to version {}, not with a picture",
                     next.version);
            if (next.version != state_.version + 1)
                fail(ErrorCode::source_lost, "the server sends the step to version {} while version {} is held",
                     next.version, state_.version);
            unpacker_.apply_changes(payload, picture_.view());
            check_threshold();
            threshold_ = unpacker_.last_threshold();
            counts_.changed_bytes += unpacker_.last_count();
            ++counts_.changes;
            move_on(next);
            return Outcome::picture;
        }
    }
    fail(ErrorCode::source_lost, "a message of the unknown type {}", static_cast<int>(type));
}

void Receiver::check_threshold() const {
    if (unpacker_.last_threshold() > greatest_threshold_)
        fail(ErrorCode::source_lost, "the server sends a state within {} in a stream within {}",
             unpacker_.last_threshold(), greatest_threshold_);
}

void Receiver::restart(const StreamInfo& info) {
    greatest_threshold_ = info.threshold;
    follows_ = false;
}

void Receiver::move_on(const StateHeader& next) {
    state_ = next;
    follows_ = true;
}

// No connection can pass over more versions than there are, but the next one may begin again with the first.
void Receiver::count_skipped(std::uint64_t versions) {
    constexpr auto most = std::numeric_limits<std::int64_t>::max();
    const auto room = static_cast<std::uint64_t>(most - counts_.skipped);
    counts_.skipped = versions < room ? counts_.skipped + static_cast<std::int64_t>(versions) : most;
}

}  // namespace framewire::net
