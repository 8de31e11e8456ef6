#pragma once

#include "framewire/core/buffer.hpp"
#include "framewire/delta/blocks/block_set.hpp"
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

/// The viewer's copy of R, brought forward message by message; no sockets here. What it gives is always one complete
/// state of the server: a state that comes in several messages is assembled apart from the one before. For one thread.
class Receiver {
public:
    enum class Outcome { nothing, picture, ended };

    /// Throws Error{usage} on a stream that is not allowed, Error{config} without memory.
    explicit Receiver(const ServerHello& hello);

    /// The most bytes one picture or one step can have on the wire, without its front.
    std::size_t max_packed_bytes() const { return max_packed_bytes_; }

    /// Takes one message of the server. `picture` means that a state is complete: picture(), threshold(), state(),
    /// objects() and came() are new. `nothing` is also a part of a state. Throws Error{source_lost} on what no server
    /// sends and when the message is the server's error; picture() is then unspecified.
    Outcome take(MessageType type, ByteSpan payload);

    /// For a new connection, whose server says `hello`, of the same shape. Where the stream is the same, its state goes
    /// on from what is held; else its versions count anew, and what is held stays until they lead to a whole picture.
    void restart(const ServerHello& hello);

    /// What a new connection can go on from, blocks of an unfinished state included.
    HeldBlocks held() const;

    HostView<const std::uint8_t> picture() const { return assembling() ? shown_.view() : picture_.view(); }
    /// The picture being assembled; picture() unless there is one.
    HostView<const std::uint8_t> newest_blocks() const { return picture_.view(); }
    /// Of the picture; version 0 before the first.
    const StateHeader& state() const { return state_; }
    /// No byte of the picture is further from the source.
    int threshold() const { return state_.threshold; }
    /// Blocks in which the picture may differ from the one before.
    const delta::BlockSet& came() const { return came_; }
    /// What the server detected in the frame of the picture held; without sums of coordinates.
    std::span<const Component> objects() const { return objects_; }
    const ReceiverCounts& counts() const { return counts_; }
    /// What the last message changed, for which it needs room; nothing after a whole picture. Throws Error{usage}
    /// without that room.
    void last_changes(const delta::ChangesView<MemorySpace::host>& changes) const { unpacker_.last_changes(changes); }

private:
    Outcome take_picture(ByteSpan payload);
    Outcome take_changes(ByteSpan payload);
    StateHeader read_front(ByteSpan& payload);
    Outcome move_on(const StateHeader& next, const delta::BlockSet& blocks);
    void count_skipped(std::uint64_t versions);
    bool assembling() const { return latest_.partial; }
    void keep_shown(bool next_is_partial);

    HostImage picture_;  // newest blocks; the complete state unless assembling()
    HostImage shown_;    // the complete state while a newer one is assembled; empty before the first time
    delta::Unpacker unpacker_;
    int greatest_threshold_;  // the hello's
    std::size_t max_packed_bytes_ = 0;
    std::uint64_t epoch_;
    StateHeader state_{}, latest_{};       // of the complete state; of the last message
    std::vector<std::uint64_t> versions_;  // in which each block came last; 0: not of this stream
    bool follows_ = false;                 // the picture held is of this stream
    bool resumes_ = false;                 // nothing has come over this connection yet
    bool connection_is_new_ = false;       // no complete state has come over it yet
    bool whole_ = false;                   // there was a complete state, of this stream
    delta::BlockSet came_, coming_;        // with the complete state; with parts of the next one
    std::vector<Component> objects_, latest_objects_;
    ReceiverCounts counts_{};
};

}  // namespace framewire::net
