#pragma once

#include "framewire/cuda/backend_buffer.hpp"
#include "framewire/filters/filter.hpp"
#include "framewire/filters/morphology/dilation_steps.hpp"
#include "framewire/filters/morphology/operation.hpp"
#include "framewire/filters/morphology/structuring_element.hpp"

#include <functional>

namespace framewire {

/// Parameters of Morphology.
struct MorphologyParameters {
    /// The operation.
    MorphologyOperation operation = MorphologyOperation::dilate;
    int size = 3;                             ///< diameter of the structuring element; odd, 1..63
    ElementShape shape = ElementShape::disc;  ///< shape of the structuring element
};

/// Dilation, erosion and their combinations on gray values, separately for each channel (step 6 of the moving-object
/// report). The result is the largest or smallest of the pixels under the structuring element; pixels outside the image
/// are neutral, as in OpenCV. DilationSteps describes the method; squares on the CPU use dilate_by_square().
///
/// `in` and `out`: one shape with 1 or 3 channels, any strides and alignment, no overlap. One run at a time per plan.
class Morphology {
public:
    /// Throws Error{usage} on a shape or size that is not allowed.
    Morphology(MorphologyParameters parameters, const Shape& shape, Executor& executor);

    /// Shape of the result: that of the image.
    Shape output_shape() const { return shape_; }

    /// On the executor's threads; returns when done.
    void run(const FilterImages<MemorySpace::host>& images);
    /// Queued on the executor's stream.
    void run(const FilterImages<MemorySpace::device>& images);

private:
    /// One phase on the GPU, erosion or dilation; everything but the direction and the images is fixed.
    using Phase = std::function<void(bool erodes, DeviceView<const std::uint8_t> in, DeviceView<std::uint8_t> out)>;
    /// Prepares the GPU kernel.
    Phase plan_for_cuda() const;

    MorphologyPhases phases_;
    DilationSteps steps_;
    Shape shape_;
    Executor* executor_;
    Phase phase_on_device_;
    BackendImage between_;  // result of one phase for the next
};

/// Registry entry of `close`.
FilterInfo close_info();
/// Registry entry of `dilate`.
FilterInfo dilate_info();
/// Registry entry of `erode`.
FilterInfo erode_info();
/// Registry entry of `open`.
FilterInfo open_info();

}  // namespace framewire
