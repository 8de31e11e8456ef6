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

/// The difference stream's mode `bounded` behind a run's frames, one after the other. Owns R. On the CUDA backend
/// frames stay on the GPU, and what is packed comes down, with R for those who want it whole.
class BoundedEncoder {
public:
    /// What became of R with a frame.
    struct Outcome {
        bool whole = false;                    ///< R is a new picture; else a step leads there from the one before
        delta::Summary found{};                ///< as delta::BoundedPacker has it
        std::span<const std::uint8_t> packed;  ///< the step, or the picture if it was packed; until the next frame
    };

    /// For frames of `frame`, one each, with `parameters` of the mode bounded. Throws as delta::BoundedPacker and
    /// delta::BoundedBatchPacker do. Keeps a reference to `executor`.
    BoundedEncoder(const delta::EncoderParameters& parameters, const Shape& frame, Executor& executor);
    BoundedEncoder(const BoundedEncoder&) = delete;
    BoundedEncoder& operator=(const BoundedEncoder&) = delete;

    /// What is packed of a frame: nothing, and R becomes the frame itself; a picture that needs none before; or a step
    /// to it, which is such a picture where there was no frame before.
    enum class Packs { nothing, picture, step };

    /// The next frame; returns when all is there. `threshold` is this frame's, 0..254; none: that of the parameters.
    /// Throws Error{usage} on another shape.
    Outcome encode(Frame& frame, Packs packs, std::optional<int> threshold = {});

    /// After encode() of the same frame: makes R sharper where it rests, as `moment` allows, and leaves in `step` how.
    /// Keeps `outcome.found` true. Returns when all is there. `sharpener` and `step` are made for the same executor.
    void sharpen(Frame& frame, Outcome& outcome, delta::RestSharpener& sharpener,
                 const delta::RestSharpener::Moment& moment, delta::SharperStep& step);

    HostView<const std::uint8_t> reference() const { return reference_.view(); }

private:
    delta::Summary advance(HostView<const std::uint8_t> camera, Packs packs, int within);
    delta::Summary advance(DeviceView<const std::uint8_t> camera, Packs packs, int within);
    /// Brings what was packed to the host.
    delta::Summary fetch(const delta::PackedBatch& batch);

    Executor* executor_;
    int threshold_;
    std::optional<delta::BoundedPacker> packer_;
    HostImage reference_;
    std::vector<std::uint8_t> packed_;
    bool started_ = false;

    struct OnGpu {
        delta::BoundedBatchPacker packer;
        cuda::DeviceImage reference;
        HostBuffer told;  // where the packed bytes begin and end, and what the step found
        cuda::Transfer transfer;
        const std::uint32_t* off = nullptr;  // of the last step, as PackedBatch has it
    };
    std::optional<OnGpu> on_gpu_;
};

}  // namespace framewire
