#pragma once

#include "framewire/codec/blocks.hpp"
#include "framewire/core/time.hpp"
#include "framewire/core/view.hpp"
#include "framewire/net/control.hpp"
#include "framewire/net/receiver.hpp"
#include "framewire/net/transport.hpp"
#include "framewire/net/wire.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace framewire::net {

/// A complete state as independently coded blocks, each encoded once for all viewers that are missing it. Immutable
/// once built.
struct WholeState {
    /// Version and metadata.
    StateHeader header{};
    /// Objects detected in the frame.
    std::vector<Component> objects{};
    /// Version in which each block last changed.
    std::vector<std::uint64_t> changed{};
    /// Encoded blocks; null if nobody requested them.
    std::vector<std::shared_ptr<const Bytes>> blocks{};
    /// Keyframe with all blocks, if a viewer requested all of them; otherwise its version is 0.
    StateMessage picture{};

    /// Adds the blocks that changed after `version` to `missing`.
    void add_changed(std::uint64_t version, codec::BlockSet& missing) const;
    /// Returns a keyframe message. Requires that all blocks are encoded.
    StateMessage whole_picture() const;
};

/// The state to which one viewer is being brought, with the blocks that have not been sent yet. Encoded blocks are
/// shared with other viewers and do not change when newer states arrive.
class PinnedState {
public:
    /// Takes the `missing` blocks of `whole`, all of which must be encoded. For `withdraws` see StateHeader.
    PinnedState(const WholeState& whole, const codec::BlockSet& missing, bool withdraws);

    /// Returns the version of the state.
    std::uint64_t version() const { return header_.version; }
    /// Returns the encoded blocks that have not been sent.
    const std::vector<std::shared_ptr<const Bytes>>& unsent() const { return unsent_; }
    /// Returns a message with the next blocks, at most `budget` bytes but at least one block, and removes them from
    /// `missing`. The message is marked partial unless it completes the state.
    std::shared_ptr<const Bytes> next_message(std::size_t budget, codec::BlockSet& missing);

private:
    StateHeader header_;
    std::vector<Component> objects_;
    std::size_t blocks_;                                // number of blocks in a picture
    std::vector<int> numbers_;                          // numbers of the unsent blocks, ascending
    std::vector<std::shared_ptr<const Bytes>> unsent_;  // encoded blocks, in the order of `numbers_`
};

/// Statistics of a stream's encoding.
struct StreamCounts {
    /// The newest version.
    std::uint64_t version = 0;
    /// Delta frames packed, which happens only while there are viewers.
    std::int64_t delta_frames = 0;
    /// Keyframes packed.
    std::int64_t keyframes = 0;
    /// Blocks encoded, including those of keyframes.
    std::int64_t blocks = 0;
    /// Bytes of all delta frames, as sent to one viewer.
    std::int64_t delta_frame_bytes = 0;
    /// Bytes of all keyframes.
    std::int64_t keyframe_bytes = 0;
    /// Bytes for a viewer that is always up to date: the first keyframe and every delta frame.
    std::int64_t up_to_date_bytes = 0;
};

/// The server's side of a stream: R with a version per block, the latest delta frames, and independently coded blocks,
/// which are encoded on demand. It serves states, not packets: what a viewer needs follows from the block versions it
/// holds. R is either a copy of its own, fed with start(), advance() and advance_blocks(), or the picture of an
/// encoder, which announces its changes with Update. Thread-safe, but only one thread may feed it.
class StreamState {
public:
    /// Maximum number of delta frames stored for viewers that are slightly behind.
    static constexpr int delta_frames_kept = 32;

    /// Keeps its own copy of R. Throws Error{usage} if `info` is invalid, and Error{config} if memory runs out.
    explicit StreamState(const StreamInfo& info);
    /// Variant without a copy: R is `reference`, which belongs to an encoder, has the shape of the stream, and must
    /// outlive this object. Nothing reads it before the first Update.
    StreamState(const StreamInfo& info, HostView<const std::uint8_t> reference);
    virtual ~StreamState();
    StreamState(const StreamState&) = delete;
    StreamState& operator=(const StreamState&) = delete;

    /// Returns the stream's parameters.
    const StreamInfo& info() const;
    /// Returns the number of blocks in a picture.
    std::size_t blocks() const;

    class Update;

    // The following functions are for the feeding thread. `threshold` is the bound of this frame; the default is the
    // stream's threshold. They throw Error{usage} if it is negative or exceeds the stream's. The functions that take a
    // picture throw Error{usage} if R belongs to an encoder.

    /// Replaces R with `picture`, as version 1 or the next version. `objects` are the objects detected in the frame.
    /// `packed` is the picture packed as a keyframe, or empty if it has not been packed yet.
    void start(HostView<const std::uint8_t> picture, const FrameTime& time, std::span<const Component> objects = {},
               std::span<const std::uint8_t> packed = {}, std::optional<int> threshold = {});
    /// Returns true if there are viewers, so delta frames have to be packed. Any thread may call it.
    bool watched() const;
    /// Advances R by one delta frame: `packed` are its bytes, and `picture` is R afterwards. If there are no viewers,
    /// the bytes are not stored. Throws Error{internal} before start(), and if the blocks of `packed` do not fit R.
    void advance(HostView<const std::uint8_t> picture, std::span<const std::uint8_t> packed, const FrameTime& time,
                 std::span<const Component> objects = {}, std::optional<int> threshold = {});
    /// Variant of advance() without a packed delta frame: `picture` differs from R only in `blocks`, which are
    /// sent to viewers.
    void advance_blocks(HostView<const std::uint8_t> picture, const codec::BlockSet& blocks, const FrameTime& time,
                        std::span<const Component> objects = {}, std::optional<int> threshold = {});
    /// Withdraws everything before the version that the next start() or advance() creates: once that call has returned,
    /// no older state, delta frame or block is sent. A viewer that is receiving an older state starts again with the
    /// newest. For changes that hide something, such as a privacy mask.
    void withdraw_before_next();
    /// Marks the end of the source. R stays available.
    void finish();

    // The following functions are for the network:

    /// Counts a viewer. Delta frames are packed only while there are viewers.
    void attach();
    /// Stops counting a viewer that left.
    void detach();

    /// Returns the number that identifies one life of the stream; never 0. Versions are comparable only within the same
    /// epoch.
    std::uint64_t epoch() const;
    /// Returns the newest version that viewers can be brought to, or 0 before start().
    std::uint64_t version() const;
    /// Returns the oldest version that may still be sent, see withdraw_before_next().
    std::uint64_t oldest_allowed() const;
    /// Returns true after finish().
    bool ended() const;
    /// Returns the delta frames from `version` to version() in order, or nothing if they are not all stored.
    std::vector<StateMessage> delta_frames(std::uint64_t version) const;
    /// The blocks that a viewer is missing.
    struct MissingBlocks {
        /// Version of the blocks that are not missing; 0: all are missing.
        std::uint64_t version = 0;
        /// One entry per block, nonzero if the block is missing.
        codec::BlockSet blocks{};
    };
    /// Returns the blocks that a viewer with the block versions `held` is missing: all blocks if `held` belongs to
    /// another stream or is inconsistent.
    MissingBlocks missing(const BlockVersions& held) const;

    /// Returns the newest state. Its blocks that are `wanted` or changed after version `changed_after` are encoded;
    /// other blocks are included if they were encoded before. Returns null before start(), and after an Update that
    /// failed. Blocks the caller until the current Update has ended, and during encoding, while R may advance. Virtual
    /// so that a test can delay it.
    virtual std::shared_ptr<const WholeState> whole(codec::BlockSet wanted, std::uint64_t changed_after = max_version);
    /// Estimates the encoded size in bytes of the blocks that are `wanted` or changed after version `changed_after`.
    std::size_t estimated_bytes(codec::BlockSet wanted, std::uint64_t changed_after) const;

    /// Returns the statistics of the encoding.
    StreamCounts counts() const;
    /// Copies R to `to`, which must have the stream's shape, and returns its header. Waits until the current Update has
    /// ended. Throws Error{internal} after an Update that failed.
    StateHeader copy_reference(HostView<std::uint8_t> to) const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

/// Lock on an encoder's R while the feeding thread changes it. Make it before R changes, and call one of its functions
/// once R has changed: that records the new version and ends the update. Until then, threads that need pixels of R
/// wait, so versions and pixels always agree. An update that is destroyed without such a call has failed: R is then
/// unknown, and no block of it is sent until start() replaces it.
class StreamState::Update {
public:
    /// Waits until no thread reads R. Throws Error{usage} if `stream` was made without an encoder's R.
    explicit Update(StreamState& stream);
    ~Update();
    Update(const Update&) = delete;
    Update& operator=(const Update&) = delete;

    /// Records that R was replaced. Parameters as for StreamState::start().
    void start(const FrameTime& time, std::span<const Component> objects = {},
               std::span<const std::uint8_t> packed = {}, std::optional<int> threshold = {});
    /// Records that R advanced by one delta frame. Parameters and errors as for StreamState::advance().
    void advance(std::span<const std::uint8_t> packed, const FrameTime& time, std::span<const Component> objects = {},
                 std::optional<int> threshold = {});
    /// Records that R changed in `blocks`. Parameters and errors as for StreamState::advance_blocks().
    void advance_blocks(const codec::BlockSet& blocks, const FrameTime& time, std::span<const Component> objects = {},
                        std::optional<int> threshold = {});
    /// Ends the update without a new version. Requires that R did not change.
    void cancel();

private:
    // Lets others read R.
    void end();

    State* state_;  // null after the end
};

/// Control requests of a viewer that wait for the server, and the server's latest answers. Thread-safe.
class ControlRequests final : public RemoteControl {
public:
    /// Maximum number of waiting requests. If there are more, the oldest are dropped.
    static constexpr std::size_t most_waiting = 64;

    /// See RemoteControl::state().
    std::string state() const override;
    /// See RemoteControl::request().
    void request(const std::string& text) override;
    /// See RemoteControl::refusal().
    std::string refusal() const override;

    // The following functions are for the connection:

    /// Returns the next request to send, or nullopt if there is none or the previous one has not been answered.
    std::optional<std::string> next();
    /// Processes an answer of the server, either to a request or unsolicited.
    void take(const ControlAnswer& answer);
    /// Starts with a new connection: the unanswered request is lost, waiting ones are not.
    void restart();

private:
    mutable std::mutex mutex_;
    std::deque<std::string> waiting_;
    bool under_way_ = false;
    std::string state_, refusal_;
};

/// Messages that a viewer sends after its hello on one connection: acknowledgements and control requests. One write is
/// in progress at a time; later messages go with the next write. Not thread-safe.
class ViewerOutbox {
public:
    /// Records that a keyframe or delta frame has been received; `coming` is the time from its first to its last byte.
    void take(Clock::duration coming, Clock::time_point now);
    /// Acknowledges everything received, up to `version`, unless it was acknowledged before, and sends the next control
    /// request, if any. Does nothing while a write is in progress. `control_requests` may be null. This object must
    /// outlive the write.
    void send(Connection& connection, std::uint64_t version, ControlRequests* control_requests, Clock::time_point now);

private:
    std::uint64_t taken_ = 0, reported_ = 0;
    Clock::duration coming_{};
    Clock::time_point came_at_{};
    bool writing_ = false;
    Bytes messages_;
};

}  // namespace framewire::net
