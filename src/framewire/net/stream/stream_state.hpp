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

/// What the encoding of a stream cost so far.
struct StreamCounts {
    std::uint64_t version = 0;
    std::int64_t steps = 0;          ///< steps packed: those that came while somebody watched
    std::int64_t pictures = 0;       ///< whole pictures packed
    std::int64_t blocks = 0;         ///< blocks of pictures packed, those of whole ones included
    std::int64_t step_bytes = 0;     ///< on the wire, for one viewer
    std::int64_t picture_bytes = 0;  ///< of all the pictures packed
    /// The stream of one viewer who is always up to date: the first picture packed, then every step packed.
    std::int64_t up_to_date_bytes = 0;
};

/// The broadcaster's side of a stream: the host's mirror of R with a version for each of its blocks, the last steps,
/// and blocks that stand for themselves, coded when somebody asks for them. It streams state, not packets: what a
/// viewer needs follows from the versions it holds. Thread-safe; one thread feeds it.
class StreamState {
public:
    /// The steps kept for viewers that are a little behind.
    static constexpr int steps_kept = 32;

    /// `executor` lives longer. Throws Error{usage} on a stream that is not allowed, Error{config} without memory.
    StreamState(const StreamInfo& info, Executor& executor);
    virtual ~StreamState();
    StreamState(const StreamState&) = delete;
    StreamState& operator=(const StreamState&) = delete;

    const StreamInfo& info() const;
    /// How many blocks a picture has.
    std::size_t blocks() const;

    // The feeding thread. `threshold` is what R is within of the camera's picture, where that is not the stream's: no
    // more than that. Throw Error{usage} where it is.

    /// Sets R, as version 1 or the one after the version there is. Viewers see the boxes of `objects` with it. `packed`
    /// is the picture as a delta packer made it, where that was done already.
    void start(HostView<const std::uint8_t> picture, const FrameTime& time, std::span<const Component> objects = {},
               std::span<const std::uint8_t> packed = {}, std::optional<int> threshold = {});
    /// Whether somebody watches, so that a step is to be packed. Any thread may ask, to pack several steps at once.
    bool watched() const;
    /// Brings R forward by one step, packing it when somebody watches. `packed` is what delta::Packer made of
    /// `changes`, where that was done already. Throws Error{internal} before start() and on changes that do not fit R.
    void advance(const delta::ChangesView<MemorySpace::host>& changes, const FrameTime& time,
                 std::span<const Component> objects = {}, std::span<const std::uint8_t> packed = {},
                 std::optional<int> threshold = {});
    /// The same for a step that is packed and leads to `picture`. Where nobody watches, nothing of it is kept.
    void advance(HostView<const std::uint8_t> picture, std::span<const std::uint8_t> packed, const FrameTime& time,
                 std::span<const Component> objects = {}, std::optional<int> threshold = {});
    /// The same without a packed delta frame, for a picture that differs in these `blocks` only: viewers are sent
    /// those.
    void advance_blocks(HostView<const std::uint8_t> picture, const delta::BlockSet& blocks, const FrameTime& time,
                        std::span<const Component> objects = {}, std::optional<int> threshold = {});
    /// Nothing from before the version that the next start() or advance() makes is sent once that call has returned: no
    /// step to an older version, and no block of an older state. A viewer in the middle of one begins anew with the
    /// newest. For changes that hide something, which must not be seen late.
    void withdraw_before_next();
    /// The source ended; R stays.
    void finish();

    // The network.

    /// A viewer came or went; steps are packed only between the two.
    void attach();
    void detach();

    /// Tells this stream's versions from those of any other; not 0.
    std::uint64_t epoch() const;
    /// The version that viewers can be brought to; 0 before start().
    std::uint64_t version() const;
    /// The oldest version that may still be sent; see withdraw_before_next().
    std::uint64_t oldest_allowed() const;
    bool ended() const;
    /// The steps from `version` to version(), in their order; none where they are not all kept.
    std::vector<StateMessage> steps(std::uint64_t version) const;
    struct Lacking {
        std::uint64_t version = 0;  ///< that the other blocks have; 0: all are lacking
        delta::BlockSet blocks{};
    };
    /// What somebody lacks who holds these blocks; all of them where that is of another stream or makes no sense.
    Lacking lacking(const HeldBlocks& held) const;

    /// The newest state, with those of its blocks coded that are `wanted` or changed after version `changed_after`, and
    /// others that were before; null before start(). Blocks the caller on coding, while R goes on. Virtual so that a
    /// test can delay it.
    virtual std::shared_ptr<const WholeState> whole(delta::BlockSet wanted, std::uint64_t changed_after = max_version);
    /// About how many bytes the blocks of the newest state take that are `wanted` or changed after a version.
    std::size_t estimated_bytes(delta::BlockSet wanted, std::uint64_t changed_after) const;

    StreamCounts counts() const;
    /// Copies R and gives its version.
    std::uint64_t copy_reference(HostView<std::uint8_t> to) const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace framewire::net
