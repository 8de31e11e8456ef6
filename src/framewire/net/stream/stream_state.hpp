#pragma once

#include "framewire/core/time/frame_time.hpp"
#include "framewire/core/view.hpp"
#include "framewire/cuda/executor.hpp"
#include "framewire/delta/changes.hpp"
#include "framewire/net/stream/state_message.hpp"
#include "framewire/net/stream/whole_state.hpp"
#include "framewire/net/wire/wire.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace framewire::net {

/// Statistics of the encoding of a stream.
struct StreamCounts {
    /// The newest version.
    std::uint64_t version = 0;
    /// Delta frames packed, which happens only while there are viewers.
    std::int64_t steps = 0;
    /// Keyframes packed.
    std::int64_t pictures = 0;
    /// Blocks encoded, including those of keyframes.
    std::int64_t blocks = 0;
    /// Bytes of all delta frames, as sent to one viewer.
    std::int64_t step_bytes = 0;
    /// Bytes of all keyframes.
    std::int64_t picture_bytes = 0;
    /// Bytes for a viewer that is always up to date: the first keyframe and every delta frame.
    std::int64_t up_to_date_bytes = 0;
};

/// The server's side of a stream: a host copy of R with a version per block, the latest delta frames, and independently
/// coded blocks, which are encoded on demand. It serves states, not packets: what a viewer needs follows from the block
/// versions it holds. Thread-safe, with one feeding thread.
class StreamState {
public:
    /// Most delta frames stored for viewers that are slightly behind.
    static constexpr int steps_kept = 32;

    /// `executor` must outlive this object. Throws Error{usage} if `info` is invalid, and Error{config} if memory runs
    /// out.
    StreamState(const StreamInfo& info, Executor& executor);
    virtual ~StreamState();
    StreamState(const StreamState&) = delete;
    StreamState& operator=(const StreamState&) = delete;

    /// The stream's parameters.
    const StreamInfo& info() const;
    /// Number of blocks in a picture.
    std::size_t blocks() const;

    // The following functions are for the feeding thread. `threshold` is the bound of this frame; the default is the
    // stream's. They throw Error{usage} if it is negative or exceeds the stream's.

    /// Replaces R with `picture`, as version 1 or the next version. `objects` are the objects detected in the frame.
    /// `packed`: the picture packed as a keyframe, if it already is.
    void start(HostView<const std::uint8_t> picture, const FrameTime& time, std::span<const Component> objects = {},
               std::span<const std::uint8_t> packed = {}, std::optional<int> threshold = {});
    /// Returns true if there are viewers, so delta frames have to be packed. Any thread may call it.
    bool watched() const;
    /// Applies one delta frame to R, and packs it if there are viewers. `packed`: the output of delta::Packer for
    /// `changes`, if it already exists. Throws Error{internal} before start() and if `changes` do not fit R.
    void advance(const delta::ChangesView<MemorySpace::host>& changes, const FrameTime& time,
                 std::span<const Component> objects = {}, std::span<const std::uint8_t> packed = {},
                 std::optional<int> threshold = {});
    /// Like above, for a packed delta frame that leads to `picture`. If there are no viewers, the packed bytes are not
    /// stored.
    void advance(HostView<const std::uint8_t> picture, std::span<const std::uint8_t> packed, const FrameTime& time,
                 std::span<const Component> objects = {}, std::optional<int> threshold = {});
    /// Like above, without a packed delta frame: `picture` differs from R in `blocks` only, and viewers are sent those
    /// blocks.
    void advance_blocks(HostView<const std::uint8_t> picture, const delta::BlockSet& blocks, const FrameTime& time,
                        std::span<const Component> objects = {}, std::optional<int> threshold = {});
    /// Withdraws everything before the version that the next start() or advance() creates: once that call has returned,
    /// no older state, delta frame or block is sent. A viewer that is receiving an older state starts again with the
    /// newest. For changes that hide something, such as a privacy mask.
    void withdraw_before_next();
    /// Marks the end of the source. R stays.
    void finish();

    // The following functions are for the network:

    /// Counts a viewer. Delta frames are packed only while there are viewers.
    void attach();
    /// Counts a viewer that left.
    void detach();

    /// Identifies one life of the stream; never 0. Versions are comparable only within the same epoch.
    std::uint64_t epoch() const;
    /// The newest version that viewers can be brought to, or 0 before start().
    std::uint64_t version() const;
    /// The oldest version that may still be sent, see withdraw_before_next().
    std::uint64_t oldest_allowed() const;
    /// Returns true after finish().
    bool ended() const;
    /// Returns the delta frames from `version` to version() in order, or nothing if they are not all stored.
    std::vector<StateMessage> steps(std::uint64_t version) const;
    /// Missing blocks of a viewer.
    struct Lacking {
        /// Version of the blocks that are not missing; 0: all are missing.
        std::uint64_t version = 0;
        /// One entry per block; not 0: missing.
        delta::BlockSet blocks{};
    };
    /// Returns which blocks a viewer that holds `held` is missing. All blocks, if `held` belongs to another stream or
    /// is inconsistent.
    Lacking lacking(const HeldBlocks& held) const;

    /// Returns the newest state. Its blocks that are `wanted` or changed after version `changed_after` are encoded;
    /// other blocks are included if they were encoded before. Returns null before start(). Blocks the caller during
    /// encoding, while R may advance. Virtual so that a test can delay it.
    virtual std::shared_ptr<const WholeState> whole(delta::BlockSet wanted, std::uint64_t changed_after = max_version);
    /// Estimates the encoded size in bytes of the blocks that are `wanted` or changed after version `changed_after`.
    std::size_t estimated_bytes(delta::BlockSet wanted, std::uint64_t changed_after) const;

    /// Statistics of the encoding.
    StreamCounts counts() const;
    /// Copies R to `to`, which must have the stream's shape, and returns its version.
    std::uint64_t copy_reference(HostView<std::uint8_t> to) const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace framewire::net
