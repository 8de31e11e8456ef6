#pragma once

#include "framewire/cuda/executor.hpp"
#include "framewire/detect/masks/bit_mask.hpp"
#include "framewire/filters/morphology/dilation_steps.hpp"
#include "framewire/filters/morphology/operation.hpp"
#include "framewire/filters/morphology/structuring_element.hpp"

#include <cstdint>

namespace framewire {

/// Dilation, erosion and what is made of them on bit masks (moving-object report's step 6). Outside the image is
/// neutral: nothing for a dilation, all set for an erosion, and for each phase of an open or close anew. In and out:
/// one shape, no overlap. The method, shifts of whole words, is that of DilationSteps.
class MaskMorphology {
public:
    /// Throws Error{usage} on a shape that is not allowed.
    MaskMorphology(MorphologyOperation operation, const StructuringElement& element, const Shape& shape,
                   Executor& executor);

    const Shape& shape() const { return shape_; }

    /// On the executor's threads; returns when done. Throws Error{usage} on masks of another shape.
    void run(HostBitMaskView<const std::uint32_t> in, HostBitMaskView<std::uint32_t> out);
    /// Queued on the executor's stream.
    void run(DeviceBitMaskView<const std::uint32_t> in, DeviceBitMaskView<std::uint32_t> out);

private:
    /// How the blocks of a launch share the masks, for CUDA.
    struct Bands {
        int strips = 0, bands = 0, band_rows = 0;
    };
    /// Of launches with one phase and with two.
    void plan_for_cuda();

    MorphologyPhases phases_;
    DilationSteps steps_;
    Shape shape_;
    Executor* executor_;
    BackendMask between_;  // what one phase leaves for the next
    Bands bands_[2];
};

}  // namespace framewire
