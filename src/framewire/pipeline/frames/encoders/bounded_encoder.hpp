#pragma once

#include "framewire/core/buffer.hpp"
#include "framewire/core/view.hpp"
#include "framewire/cuda/backend_buffer.hpp"
#include "framewire/cuda/executor.hpp"
#include "framewire/cuda/transfer.hpp"
#include "framewire/delta/batch/bounded_batch_packer.hpp"
#include "framewire/delta/delta.hpp"
#include "framewire/delta/packing/bounded_packer.hpp"
#include "framewire/delta/refresh/rest_sharpener.hpp"
#include "framewire/pipeline/frames/frame.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace framewire {

/// The difference stream in `bounded` mode for the frames of a run, one after another. Owns R, the reference
/// picture. On the CUDA backend frames stay on the GPU; the packed bytes are downloaded, and R too, for callers
/// that need all of it.
class BoundedEncoder {
public:
    /// Effect of encode() on R.
    struct Outcome {
        bool whole = false;      ///< R is a keyframe; otherwise a delta frame leads to it from the R before
        delta::Summary found{};  ///< as delta::BoundedPacker returns it
        /// The delta frame, or the keyframe if it was packed; valid until the next frame.
        std::span<const std::uint8_t> packed;
    };

    /// For single frames of shape `frame`, with `parameters` of the mode bounded. Keeps a reference to
    /// `executor`. Throws what delta::BoundedPacker and delta::BoundedBatchPacker throw, and Error{usage} for
    /// another mode.
    BoundedEncoder(const delta::EncoderParameters& parameters, const Shape& frame, Executor& executor);
    BoundedEncoder(const BoundedEncoder&) = delete;
    BoundedEncoder& operator=(const BoundedEncoder&) = delete;

    /// Choice of what encode() packs: nothing, and R becomes the frame itself; a keyframe; or a delta frame, which
    /// becomes a keyframe if there was no frame before.
    enum class Packs { nothing, picture, step };

    /// Encodes the next frame and returns when done. `threshold` applies to this frame, 0 to 254; if empty, the
    /// parameters' threshold does. Throws Error{usage} if the shape differs.
    Outcome encode(Frame& frame, Packs packs, std::optional<int> threshold = {});

    /// After encode() of the same frame: refines the static regions of R as `moment` allows, and stores the
    /// change in `step`. Updates the errors in `outcome.found`. Returns when done. `sharpener` and `step` must
    /// have been made for the same executor.
    void sharpen(Frame& frame, Outcome& outcome, delta::RestSharpener& sharpener,
                 const delta::RestSharpener::Moment& moment, delta::SharperStep& step);

    /// Returns R on the host.
    HostView<const std::uint8_t> reference() const { return reference_.view(); }

private:
    delta::Summary advance(HostView<const std::uint8_t> camera, Packs packs, int within);
    delta::Summary advance(DeviceView<const std::uint8_t> camera, Packs packs, int within);
    /// Downloads the packed bytes and returns the summary.
    delta::Summary fetch(const delta::PackedBatch& batch);

    Executor* executor_;
    int threshold_;
    std::optional<delta::BoundedPacker> packer_;
    HostImage reference_;
    std::vector<std::uint8_t> packed_;
    bool started_ = false;

    // State on the CUDA backend.
    struct OnGpu {
        delta::BoundedBatchPacker packer;
        cuda::DeviceImage reference;
        HostBuffer told;  // range of the packed bytes, and the summary
        cuda::Transfer transfer;
        const std::uint32_t* off = nullptr;  // from the last delta frame, as in PackedBatch
    };
    std::optional<OnGpu> on_gpu_;
};

}  // namespace framewire
