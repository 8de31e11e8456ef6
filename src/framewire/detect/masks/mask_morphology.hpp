#pragma once

#include "framewire/cuda/executor.hpp"
#include "framewire/detect/masks/bit_mask.hpp"
#include "framewire/filters/morphology/dilation_steps.hpp"
#include "framewire/filters/morphology/operation.hpp"
#include "framewire/filters/morphology/structuring_element.hpp"

#include <cstdint>

namespace framewire {

/// Dilation, erosion, opening and closing of bit masks (moving-object report, step 6). Pixels outside of the
/// image are neutral in every phase: unset for a dilation, set for an erosion. Input and output have the same
/// shape and must not overlap. The method, shifts of whole words, is that of DilationSteps.
class MaskMorphology {
public:
    /// Prepares an operation on masks of `shape`; its channels are ignored. Throws Error{usage} if the shape is
    /// not allowed.
    MaskMorphology(MorphologyOperation operation, const StructuringElement& element, const Shape& shape,
                   Executor& executor);

    /// Returns the shape of the masks, with one channel.
    const Shape& shape() const { return shape_; }

    /// Runs on the executor's threads and returns when done. Throws Error{usage} if the masks have another
    /// shape.
    void run(HostBitMaskView<const std::uint32_t> in, HostBitMaskView<std::uint32_t> out);
    /// The same, queued on the executor's stream.
    void run(DeviceBitMaskView<const std::uint32_t> in, DeviceBitMaskView<std::uint32_t> out);

private:
    /// Division of the masks among the blocks of a launch, for CUDA.
    struct Bands {
        int strips = 0, bands = 0, band_rows = 0;
    };
    /// Chooses the bands for launches with one phase and with two.
    void plan_for_cuda();

    MorphologyPhases phases_;
    DilationSteps steps_;
    Shape shape_;
    Executor* executor_;
    BackendMask between_;  // result of one phase for the next
    Bands bands_[2];
};

}  // namespace framewire
