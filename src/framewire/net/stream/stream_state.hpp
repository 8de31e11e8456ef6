#pragma once

#include "framewire/core/time/frame_time.hpp"
#include "framewire/core/view.hpp"
#include "framewire/cuda/executor.hpp"
#include "framewire/delta/changes.hpp"
#include "framewire/net/wire/wire.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace framewire::net {

/// A picture or a step as it goes over the wire, made once for all who need it.
struct StateMessage {
    std::uint64_t version = 0;  ///< what a viewer holds once it has taken the message
    std::shared_ptr<const Bytes> bytes;
};

/// What the encoding of a stream cost so far.
struct StreamCounts {
    std::uint64_t version = 0;
    std::int64_t steps = 0;          ///< steps packed: those that came while somebody watched
    std::int64_t pictures = 0;       ///< whole pictures packed
    std::int64_t step_bytes = 0;     ///< on the wire, for one viewer
    std::int64_t picture_bytes = 0;  ///< of all the pictures packed
    /// The stream of one viewer who is always up to date: the first picture packed, then every step packed.
    std::int64_t up_to_date_bytes = 0;
};

/// The broadcaster's side of a stream: the host's mirror of R with its version, the last steps, and the newest whole
/// picture, packed when somebody asks for it. It streams state, not packets: what a viewer needs follows from the
/// version it holds. Thread-safe; one thread feeds it.
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
    /// The source ended; R stays.
    void finish();

    // The network.

    /// A viewer came or went; steps are packed only between the two.
    void attach();
    void detach();

    struct Missing {
        std::vector<StateMessage> steps;  ///< in their order; empty when there is nothing to send
        bool picture = false;             ///< the steps are not there or cost more than the whole picture()
        bool ended = false;               ///< the source ended, and `steps` lead to its last version
    };
    /// What a viewer that holds `version` (0: nothing) lacks.
    Missing missing(std::uint64_t version) const;

    /// The newest whole picture, packed once a version; empty (version 0) before start(). The caller waits for the
    /// packing, while R goes on. Virtual so that a test can hold it up.
    virtual StateMessage picture();

    StreamCounts counts() const;
    /// Copies R and gives its version.
    std::uint64_t copy_reference(HostView<std::uint8_t> to) const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace framewire::net
