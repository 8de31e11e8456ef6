#pragma once

#include "framewire/core/buffer.hpp"
#include "framewire/core/view.hpp"
#include "framewire/cuda/backend_buffer.hpp"
#include "framewire/cuda/transfer.hpp"
#include "framewire/delta/changes.hpp"
#include "framewire/delta/delta.hpp"
#include "framewire/delta/refresh/rest_sharpener.hpp"
#include "framewire/pipeline/frames/frame.hpp"

#include <atomic>
#include <cstdint>
#include <optional>

namespace framewire {

/// What changed in one frame of a stream, on its way to the host or there. Move-only.
class FrameChanges {
public:
    FrameChanges() = default;

    /// Returns when it is there, and where StreamEncoder::sharpen() was called, its step; throws what finding it failed
    /// with.
    void wait();
    /// Whether this is the stream's first frame: R is then the frame itself, StreamEncoder::first_picture(), and there
    /// are no changes.
    bool first() const { return first_; }
    /// One stream's. Has room for those that are there.
    const delta::ChangesView<MemorySpace::host>& changes() const { return found_; }

private:
    friend class StreamEncoder;

    void wait_for_changes();

    class StreamEncoder* encoder_ = nullptr;
    bool first_ = false;
    delta::ChangesView<MemorySpace::host> found_{};
    delta::HostChanges host_;  // for every byte; its memory is taken when it is written
    // On the CUDA backend. So many as are expected travel at once, into pinned memory that has room for few.
    delta::DeviceChanges device_;
    delta::HostChanges landing_;
    std::int64_t expected_ = 0;
    delta::SharperStep* sharper_ = nullptr;  // to be waited for, too
    cuda::Transfer transfer_;  // last: it is over before the changes go
};

/// The difference encoder behind a run's frames, of which several may be under way. It owns R. One thread starts
/// frames, another may wait for them.
class StreamEncoder {
public:
    /// For frames of `frame`, one each. Throws as delta::Encoder does. Keeps a reference to `executor`.
    StreamEncoder(const delta::EncoderParameters& parameters, const Shape& frame, Executor& executor);
    StreamEncoder(const StreamEncoder&) = delete;
    StreamEncoder& operator=(const StreamEncoder&) = delete;

    /// Of the frames and R.
    const Shape& shape() const { return encoder_.shape(); }
    const delta::EncoderParameters& parameters() const { return encoder_.parameters(); }

    /// Room for what changes in one frame. The encoder lives longer.
    FrameChanges make_changes();
    /// The next frame; what changed in it is in `changes` once they are waited for. `threshold` is this frame's,
    /// 0..254; none: that of the parameters. On the CUDA backend only changes come down. Allocates nothing. Throws
    /// Error{usage} on another shape.
    void start(Frame& frame, FrameChanges& changes, std::optional<int> threshold = {});

    /// After start() of the same frame, on the same thread: makes R sharper where it rests, as `moment`
    /// allows. How is in `step` once `changes` are waited for, whose errors are those since. Frames started later find
    /// R so. `sharpener` and `step` are made for the same executor.
    void sharpen(Frame& frame, FrameChanges& changes, delta::RestSharpener& sharpener,
                 const delta::RestSharpener::Moment& moment, delta::SharperStep& step);

    /// R as the first frame made it, once its changes were waited for; stays as it is from then on.
    HostView<const std::uint8_t> first_picture() const { return first_picture_.view(); }

private:
    friend class FrameChanges;

    Executor* executor_;
    delta::Encoder encoder_;
    bool started_ = false;
    BackendImage reference_;
    HostImage first_picture_;
    std::atomic<std::int64_t> last_count_ = 0;  // changes of the last frame waited for
};

}  // namespace framewire
