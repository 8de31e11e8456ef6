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

/// The changes of one frame of a stream, during and after their download to the host. Move-only.
class FrameChanges {
public:
    FrameChanges() = default;

    /// Blocks until the changes are on the host and, if StreamEncoder::sharpen() was called, its delta frame
    /// too. Throws if computing them failed.
    void wait();
    /// Returns true for the first frame of the stream: R is then the frame itself,
    /// StreamEncoder::first_picture(), and there are no changes.
    bool first() const { return first_; }
    /// Returns the changes, which are those of one stream.
    const delta::ChangesView<MemorySpace::host>& changes() const { return found_; }

private:
    friend class StreamEncoder;

    void wait_for_changes();

    class StreamEncoder* encoder_ = nullptr;
    bool first_ = false;
    delta::ChangesView<MemorySpace::host> found_{};
    delta::HostChanges host_;  // holds a change of every byte; the system provides its memory as it is written
    // CUDA only. The expected number of changes is downloaded at once, into a small staging buffer of pinned
    // memory.
    delta::DeviceChanges device_;
    delta::HostChanges landing_;
    std::int64_t expected_ = 0;
    delta::SharperStep* sharper_ = nullptr;  // also waited for, if not null
    cuda::Transfer transfer_;                // last member: it waits before the changes are destroyed
};

/// The difference encoder for the frames of a run, of which several may be in flight. Owns R, the reference
/// picture. One thread starts frames; another one may wait for them.
class StreamEncoder {
public:
    /// For single frames of shape `frame`. Keeps a reference to `executor`. Throws what delta::Encoder throws,
    /// and Error{usage} for a batch.
    StreamEncoder(const delta::EncoderParameters& parameters, const Shape& frame, Executor& executor);
    StreamEncoder(const StreamEncoder&) = delete;
    StreamEncoder& operator=(const StreamEncoder&) = delete;

    /// Returns the shape of the frames and of R.
    const Shape& shape() const { return encoder_.shape(); }
    /// Returns the parameters that the encoder was made with.
    const delta::EncoderParameters& parameters() const { return encoder_.parameters(); }

    /// Returns memory for the changes of one frame. The encoder must outlive it.
    FrameChanges make_changes();
    /// Starts the next frame; its changes are in `changes` after their wait(). `threshold` applies to this
    /// frame, 0 to 254; if empty, the parameters' threshold does. On the CUDA backend only changes are
    /// downloaded. Allocates nothing. Throws Error{usage} if the shape differs.
    void start(Frame& frame, FrameChanges& changes, std::optional<int> threshold = {});

    /// After start() of the same frame, on the same thread: refines the static regions of R as `moment` allows.
    /// The change is in `step` after the wait() of `changes`, whose errors are then those after it. Frames
    /// started later see the refined R. `sharpener` and `step` must have been made for the same executor.
    void sharpen(Frame& frame, FrameChanges& changes, delta::RestSharpener& sharpener,
                 const delta::RestSharpener::Moment& moment, delta::SharperStep& step);

    /// Returns R after the first frame, once its changes were waited for. It never changes afterwards.
    HostView<const std::uint8_t> first_picture() const { return first_picture_.view(); }

private:
    friend class FrameChanges;

    Executor* executor_;
    delta::Encoder encoder_;
    bool started_ = false;
    BackendImage reference_;
    HostImage first_picture_;
    std::atomic<std::int64_t> last_count_ = 0;  // changes of the last frame that was waited for
};

}  // namespace framewire
