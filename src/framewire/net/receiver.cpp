#include "framewire/net/receiver.hpp"

#include "framewire/core/error.hpp"

namespace framewire::net {

Receiver::Receiver(const StreamInfo& info)
    : picture_((validate(info), info.shape)),
      unpacker_(info.shape),
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
            if (next.version <= state_.version)
                fail(ErrorCode::source_lost, "the server goes back from version {} to {}", state_.version,
                     next.version);
            unpacker_.apply_picture(payload, picture_.view());
            if (state_.version > 0) counts_.skipped += static_cast<std::int64_t>(next.version - state_.version - 1);
            ++counts_.pictures;
            state_ = next;
            return Outcome::picture;
        }
        case MessageType::changes: {
            const auto next = read_state(payload, picture_.shape(), objects_);
            if (state_.version == 0 || next.version != state_.version + 1)
                fail(ErrorCode::source_lost, "the server sends the step to version {} while version {} is held",
                     next.version, state_.version);
            unpacker_.apply_changes(payload, picture_.view());
            counts_.changed_bytes += unpacker_.last_count();
            ++counts_.changes;
            state_ = next;
            return Outcome::picture;
        }
    }
    fail(ErrorCode::source_lost, "a message of the unknown type {}", static_cast<int>(type));
}

void Receiver::restart() { state_ = {}; }

}  // namespace framewire::net
