#pragma once

#include "framewire/codec/batch_packer.hpp"
#include "framewire/codec/bounded_packer.hpp"
#include "framewire/codec/delta.hpp"
#include "framewire/codec/refinement.hpp"
#include "framewire/core/buffer.hpp"
#include "framewire/core/view.hpp"
#include "framewire/cuda/backend_buffer.hpp"
#include "framewire/cuda/executor.hpp"
#include "framewire/plan/frame.hpp"

#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace framewire {

/// Encodes the consecutive frames of a run as a difference stream in `bounded` mode. Owns R, the reference picture. On
/// the CUDA backend frames stay on the GPU; the packed bytes are downloaded, and also R for callers that need the whole
/// picture.
class BoundedEncoder {
public:
    /// Result of encode().
    struct Outcome {
        bool whole = false;      ///< true if R was replaced by a keyframe; false if a delta frame changed R
        codec::Summary found{};  ///< summary returned by codec::BoundedPacker
        /// Packed delta frame or keyframe; empty if nothing was packed. Valid until the next frame.
        std::span<const std::uint8_t> packed;
    };

    /// For single frames of shape `frame`. The mode of `parameters` must be bounded. Keeps a reference to `executor`.
    /// Throws what codec::BoundedPacker and codec::BoundedBatchPacker throw, and Error{usage} for another mode.
    BoundedEncoder(const codec::EncoderParameters& parameters, const Shape& frame, Executor& executor);
    BoundedEncoder(const BoundedEncoder&) = delete;
    BoundedEncoder& operator=(const BoundedEncoder&) = delete;

    /// Selects what encode() packs: nothing, so that R becomes the frame itself; a keyframe; or a delta frame, except
    /// that the first frame becomes a keyframe.
    enum class Packs { nothing, picture, step };

    /// Encodes the next frame and returns when done. `threshold` (0 to 254) applies to this frame; default: the
    /// threshold of the parameters. Throws Error{usage} if the shape differs.
    Outcome encode(Frame& frame, Packs packs, std::optional<int> threshold = {});

    /// Refines the static regions of R as far as `moment` allows, and stores the change in `step`. Called after
    /// encode() of the same frame. Updates the errors in `outcome.found`. Returns when done. `refiner` and `step` must
    /// have been made for the same executor.
    void refine(Frame& frame, Outcome& outcome, codec::Refiner& refiner, const codec::Refiner::Moment& moment,
                codec::RefinementDelta& step);

    /// Returns R on the host.
    HostView<const std::uint8_t> reference() const { return reference_.view(); }

private:
    codec::Summary advance(HostView<const std::uint8_t> camera, Packs packs, int within);
    codec::Summary advance(DeviceView<const std::uint8_t> camera, Packs packs, int within);
    /// Downloads the packed bytes and returns the summary.
    codec::Summary fetch(const codec::PackedBatch& batch);

    Executor* executor_;
    int threshold_;
    std::optional<codec::BoundedPacker> packer_;
    HostImage reference_;
    std::vector<std::uint8_t> packed_;
    bool started_ = false;

    // State on the CUDA backend.
    struct OnGpu {
        codec::BoundedBatchPacker packer;
        cuda::DeviceImage reference;
        HostBuffer reported;  // range of the packed bytes, followed by the summary
        cuda::Transfer transfer;
        const std::uint32_t* off = nullptr;  // output of the last delta frame, see PackedBatch
    };
    std::optional<OnGpu> on_gpu_;
};

/// The changes of one frame of a stream, during and after their download to the host. Move-only.
class FrameChanges {
public:
    FrameChanges() = default;

    /// Blocks until the changes are on the host and, if StreamEncoder::refine() was called, also the refinement. Throws
    /// if computing them failed.
    void wait();
    /// Returns true for the first frame of the stream. R is then the frame itself, StreamEncoder::first_picture(), and
    /// there are no changes.
    bool first() const { return first_; }
    /// Returns the changes, as for a batch of one stream.
    const codec::ChangesView<MemorySpace::host>& changes() const { return found_; }

private:
    friend class StreamEncoder;

    void wait_for_changes();

    class StreamEncoder* encoder_ = nullptr;
    bool first_ = false;
    codec::ChangesView<MemorySpace::host> found_{};
    codec::HostChanges host_;  // room for a change of every byte; the system provides pages only as they are written
    // CUDA only. The expected number of changes is downloaded at once to a small staging buffer of pinned memory.
    codec::DeviceChanges device_;
    codec::HostChanges landing_;
    std::int64_t expected_ = 0;
    codec::RefinementDelta* refinement_ = nullptr;  // refinement for which wait() also waits; may be null
    cuda::Transfer transfer_;                       // last member: waits before the changes are destroyed
};

/// Difference encoder for the frames of a run, several of which may be in flight. Owns R, the reference picture. One
/// thread starts frames; another one may wait for them.
class StreamEncoder {
public:
    /// For single frames of shape `frame`. Keeps a reference to `executor`. Throws what codec::Encoder throws, and
    /// Error{usage} if `frame` is a batch.
    StreamEncoder(const codec::EncoderParameters& parameters, const Shape& frame, Executor& executor);
    StreamEncoder(const StreamEncoder&) = delete;
    StreamEncoder& operator=(const StreamEncoder&) = delete;

    /// Returns the shape of the frames and of R.
    const Shape& shape() const { return encoder_.shape(); }
    /// Returns the parameters with which the encoder was made.
    const codec::EncoderParameters& parameters() const { return encoder_.parameters(); }

    /// Allocates memory for the changes of one frame. The encoder must outlive it.
    FrameChanges make_changes();
    /// Starts the next frame. `changes` holds the result once its wait() has returned. `threshold` (0 to 254) applies
    /// to this frame; default: the threshold of the parameters. On the CUDA backend only the changes are downloaded.
    /// Allocates nothing. Throws Error{usage} if the shape differs.
    void start(Frame& frame, FrameChanges& changes, std::optional<int> threshold = {});

    /// Refines the static regions of R as far as `moment` allows. Called after start() of the same frame, on the same
    /// thread. `step` holds the change once the wait() of `changes` has returned; the errors in `changes` are then
    /// those after the refinement. Frames that are started later see the refined R. `refiner` and `step` must have been
    /// made for the same executor.
    void refine(Frame& frame, FrameChanges& changes, codec::Refiner& refiner, const codec::Refiner::Moment& moment,
                codec::RefinementDelta& step);

    /// Returns R after the first frame, which never changes. Call it only after waiting for the changes of the first
    /// frame.
    HostView<const std::uint8_t> first_picture() const { return first_picture_.view(); }

private:
    friend class FrameChanges;

    Executor* executor_;
    codec::Encoder encoder_;
    bool started_ = false;
    BackendImage reference_;
    HostImage first_picture_;
    std::atomic<std::int64_t> last_count_ = 0;  // number of changes in the frame that was waited for last
};

}  // namespace framewire
