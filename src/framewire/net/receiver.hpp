#pragma once

#include "framewire/codec/blocks.hpp"
#include "framewire/codec/packing.hpp"
#include "framewire/core/buffer.hpp"
#include "framewire/core/time.hpp"
#include "framewire/net/wire.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace framewire::net {

/// Statistics of a receiver.
struct ReceiverCounts {
    /// Keyframes received.
    std::int64_t keyframes = 0;
    /// Delta frames received.
    std::int64_t changes = 0;
    /// Messages with independently coded blocks received.
    std::int64_t parts = 0;
    /// Versions skipped because the connection was too slow. Versions that passed between two connections do not count.
    std::int64_t skipped = 0;
    /// Bytes of the picture that delta frames changed.
    std::int64_t changed_bytes = 0;
};

/// A viewer's copy of R, updated message by message, without any I/O. It always presents one complete state of the
/// server: a state that arrives in several messages is assembled separately. Use it from one thread.
class Receiver {
public:
    /// The result of a message: no new state, a new state, or the end of the stream.
    enum class Outcome { nothing, picture, ended };

    /// Prepares for the stream that `hello` announces. Throws Error{usage} if its parameters are invalid, and
    /// Error{config} if memory runs out.
    explicit Receiver(const ServerHello& hello);

    /// Returns the maximum number of bytes that a packed keyframe or delta frame can have, without its header.
    std::size_t max_packed_bytes() const { return max_packed_bytes_; }

    /// Applies one message of the server. Returns `picture` if a state is complete; picture(), threshold(), state(),
    /// objects() and came() then describe it. Returns `nothing` for other messages, such as one part of a state. Throws
    /// Error{source_lost} if the message violates the protocol or is the server's error; picture() is then unspecified.
    Outcome take(MessageType type, ByteSpan payload);

    /// Continues with a new connection whose server sent `hello` with the same shape. If it is the same stream, updates
    /// continue from the blocks held. Otherwise versions start again, and picture() stays until a new state is
    /// complete.
    void restart(const ServerHello& hello);

    /// Returns the versions of all blocks held, including blocks of an incomplete state. A new connection can resume
    /// from them.
    BlockVersions block_versions() const;

    /// Returns the current picture. The view stays valid until the next take().
    HostView<const std::uint8_t> picture() const { return assembling() ? shown_.view() : picture_.view(); }
    /// Returns the picture being assembled, or picture() if no state is being assembled.
    HostView<const std::uint8_t> newest_blocks() const { return picture_.view(); }
    /// Returns the version and metadata of picture(). Version 0 means that there is no picture.
    const StateHeader& state() const { return state_; }
    /// Returns the bound of picture(): no byte differs from the server's frame by more.
    int threshold() const { return state_.threshold; }
    /// Returns the blocks in which picture() may differ from the previous picture.
    const codec::BlockSet& came() const { return came_; }
    /// Returns the objects that the server detected in the frame of picture(). Their coordinate sums are not
    /// transmitted.
    std::span<const Component> objects() const { return objects_; }
    /// Returns the statistics over all connections.
    const ReceiverCounts& counts() const { return counts_; }
    /// Writes the changes of the last message to `changes`; none after a keyframe. Throws Error{usage} if `changes` is
    /// too small.
    void last_changes(const codec::ChangesView<MemorySpace::host>& changes) const { unpacker_.last_changes(changes); }

private:
    Outcome take_picture(ByteSpan payload);
    Outcome take_changes(ByteSpan payload);
    StateHeader read_front(ByteSpan& payload);
    Outcome move_on(const StateHeader& next, const codec::BlockSet& blocks);
    void count_skipped(std::uint64_t versions);
    bool assembling() const { return latest_.partial; }
    void keep_shown(bool next_is_partial);

    HostImage picture_;  // newest blocks; equal to the complete state unless assembling()
    HostImage shown_;    // the complete state while a newer one is assembled; empty before that happens
    codec::Unpacker unpacker_;
    int greatest_threshold_;  // limit from the hello
    std::size_t max_packed_bytes_ = 0;
    std::uint64_t epoch_;
    StateHeader state_{}, latest_{};       // headers of the complete state and of the last message
    std::vector<std::uint64_t> versions_;  // version in which each block was last received; 0: never in this stream
    bool follows_ = false;                 // the picture belongs to this stream
    bool resumes_ = false;                 // continues an earlier connection; nothing received on this one yet
    bool connection_is_new_ = false;       // no complete state received on this connection yet
    bool whole_ = false;                   // at least one complete state of this stream has been received
    codec::BlockSet came_, coming_;        // blocks of the complete state; blocks received for the next one
    std::vector<Component> objects_, latest_objects_;
    ReceiverCounts counts_{};
};

/// An encoded keyframe or delta frame, shared by all viewers that need it.
struct StateMessage {
    /// The version that a viewer holds after the message.
    std::uint64_t version = 0;
    /// The whole message.
    std::shared_ptr<const Bytes> bytes{};
    /// Offset of the packed bytes in a delta frame's message.
    std::size_t packed_at = 0;
};

/// Returns the set of blocks that a packed frame of `shape` contains. Throws Error{internal} if their directory is
/// invalid.
codec::BlockSet blocks_of(ByteSpan packed, const Shape& shape);

/// Estimates the offset of the server's clock from the viewer's. The estimate comes from the fastest recent exchange.
/// Not thread-safe.
class ServerClock {
public:
    /// Updates the estimate from the clocks that the server returned. Ignores an exchange that would have ended before
    /// it began.
    void compare(const Clocks& clocks, Clock::time_point now);
    /// Returns the time from `server_us` on the server's clock to `now`, or nullopt before the first comparison.
    std::optional<std::chrono::microseconds> age(std::uint64_t server_us, Clock::time_point now) const;
    /// Converts a time of the server's clock to the viewer's clock, in microseconds. Returns nullopt before the first
    /// comparison.
    std::optional<std::uint64_t> here_us(std::uint64_t server_us) const;

private:
    std::optional<std::int64_t> ahead_us_;  // how far the server's clock is ahead of this one
    std::int64_t exchange_us_ = 0;          // duration of the exchange that gave `ahead_us_`
    int comparisons_since_ = 0;
};

}  // namespace framewire::net
