#pragma once

#include "framewire/core/buffer.hpp"
#include "framewire/delta/packing/packing.hpp"
#include "framewire/net/wire/wire.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace framewire::net {

/// What a viewer received so far.
struct ReceiverCounts {
    std::int64_t pictures = 0;  ///< whole pictures
    std::int64_t changes = 0;   ///< steps from one version to the next
    /// Versions passed over because a connection was too slow for them; what lies between two connections is not
    /// counted.
    std::int64_t skipped = 0;
    std::int64_t changed_bytes = 0;  ///< bytes of pictures the steps changed
};

/// The viewer's copy of R, brought forward message by message; no sockets here. For one thread.
class Receiver {
public:
    enum class Outcome { nothing, picture, ended };

    /// Throws Error{usage} on a stream that is not allowed, Error{config} without memory.
    explicit Receiver(const StreamInfo& info);

    /// The most bytes one picture or one step can have on the wire, without its front.
    std::size_t max_packed_bytes() const { return max_packed_bytes_; }

    /// Takes one message of the server. `picture` means that picture(), threshold(), state() and counts() are new.
    /// Throws Error{source_lost} on what no server sends and when the message is the server's error; picture() is then
    /// unspecified.
    Outcome take(MessageType type, ByteSpan payload);

    /// For a new connection, whose server says `info`, of the same shape, and may count its versions anew: the next
    /// message has to be a whole picture, of whatever version. What is held stays so until then.
    void restart(const StreamInfo& info);

    HostView<const std::uint8_t> picture() const { return picture_.view(); }
    /// Of the picture held; version 0 before the first.
    const StateHeader& state() const { return state_; }
    /// What no byte of the picture held is further than from the source: what came with the picture tells it, or the
    /// hello did.
    int threshold() const { return threshold_; }
    /// What the server detected in the frame of the picture held; without sums of coordinates.
    std::span<const Component> objects() const { return objects_; }
    const ReceiverCounts& counts() const { return counts_; }
    /// What the last step changed in picture(), for which it needs room; nothing after a whole picture. Throws
    /// Error{usage} without that room.
    void last_changes(const delta::ChangesView<MemorySpace::host>& changes) const { unpacker_.last_changes(changes); }

private:
    void move_on(const StateHeader& next);
    void count_skipped(std::uint64_t versions);

    void check_threshold() const;

    HostImage picture_;
    delta::Unpacker unpacker_;
    int greatest_threshold_, threshold_;  // the hello's, that of the picture held
    std::size_t max_packed_bytes_ = 0;
    StateHeader state_{};
    bool follows_ = false;  // the picture held is this connection's
    std::vector<Component> objects_;
    ReceiverCounts counts_{};
};

}  // namespace framewire::net
