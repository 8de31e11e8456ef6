#pragma once

#include "framewire/cuda/backend_buffer.hpp"
#include "framewire/filters/filter.hpp"
#include "framewire/filters/morphology/dilation_steps.hpp"
#include "framewire/filters/morphology/operation.hpp"
#include "framewire/filters/morphology/structuring_element.hpp"

#include <functional>

namespace framewire {

struct MorphologyParameters {
    MorphologyOperation operation = MorphologyOperation::dilate;
    int size = 3;  ///< diameter of the structuring element, odd, 1 to 63
    ElementShape shape = ElementShape::disc;
};

/// Dilation, erosion and what is made of them, each channel for itself (moving-object report's step 6, on gray values):
/// the largest or smallest of the pixels that the structuring element sees in the image, what lies outside it being
/// neutral, as in OpenCV. The method is that of DilationSteps.
/// In and out: one shape, any strides, any alignment, no overlap; 1 or 3 channels.
class Morphology {
public:
    /// Throws Error{usage} on a shape or size that is not allowed.
    Morphology(MorphologyParameters parameters, const Shape& shape, Executor& executor);

    Shape output_shape() const { return shape_; }

    /// On the executor's threads; returns when done.
    void run(const FilterImages<MemorySpace::host>& images);
    /// Queued on the executor's stream.
    void run(const FilterImages<MemorySpace::device>& images);

private:
    /// One phase on the GPU, erosion or dilation; all but that and the images is settled.
    using Phase = std::function<void(bool erodes, DeviceView<const std::uint8_t> in, DeviceView<std::uint8_t> out)>;
    Phase plan_for_cuda() const;

    MorphologyPhases phases_;
    DilationSteps steps_;
    Shape shape_;
    Executor* executor_;
    Phase phase_on_device_;
    BackendImage between_;  // what one phase leaves for the next
};

/// The registry's entries.
FilterInfo close_info();
FilterInfo dilate_info();
FilterInfo erode_info();
FilterInfo open_info();

}  // namespace framewire
