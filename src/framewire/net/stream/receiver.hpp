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
    std::int64_t parts = 0;     ///< messages of blocks that stand for themselves
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
    explicit Receiver(const ServerHello& hello);

    /// The most bytes one picture or one step can have on the wire, without its front.
    std::size_t max_packed_bytes() const { return max_packed_bytes_; }

    /// Takes one message of the server. `picture` means that picture(), threshold(), state() and counts() are new.
    /// Throws Error{source_lost} on what no server sends and when the message is the server's error; picture() is then
    /// unspecified.
    Outcome take(MessageType type, ByteSpan payload);

    /// For a new connection, whose server says `hello`, of the same shape. Where the stream is the same, its state goes
    /// on from what is held; else its versions count anew, and what is held stays until they lead to a whole picture.
    void restart(const ServerHello& hello);

    /// What a new connection can go on from.
    HeldBlocks held() const;
    /// Whether no block of picture() is of an older version than state().
    bool complete() const { return !state_.partial; }

    HostView<const std::uint8_t> picture() const { return picture_.view(); }
    /// Of the picture held; version 0 before the first.
    const StateHeader& state() const { return state_; }
    /// What no byte of the newest state's blocks is further than from the source.
    int threshold() const { return state_.threshold; }
    /// What the server detected in the frame of the picture held; without sums of coordinates.
    std::span<const Component> objects() const { return objects_; }
    const ReceiverCounts& counts() const { return counts_; }
    /// What the last step changed in picture(), for which it needs room; nothing after a whole picture. Throws
    /// Error{usage} without that room.
    void last_changes(const delta::ChangesView<MemorySpace::host>& changes) const { unpacker_.last_changes(changes); }

private:
    Outcome take_picture(ByteSpan payload);
    Outcome take_changes(ByteSpan payload);
    StateHeader read_front(ByteSpan& payload);
    Outcome move_on(const StateHeader& next, const delta::BlockSet& blocks);
    void count_skipped(std::uint64_t versions);

    HostImage picture_;
    delta::Unpacker unpacker_;
    int greatest_threshold_;  // the hello's
    std::size_t max_packed_bytes_ = 0;
    std::uint64_t epoch_;
    StateHeader state_{};
    std::vector<std::uint64_t> versions_;  // in which each block came last; 0: not of this stream
    bool follows_ = false;                 // the picture held is of this stream
    bool resumes_ = false;                 // nothing has come over this connection yet
    bool whole_ = false;                   // all blocks have come, of this stream
    std::vector<Component> objects_;
    ReceiverCounts counts_{};
};

}  // namespace framewire::net
