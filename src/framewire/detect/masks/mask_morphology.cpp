#include "framewire/detect/masks/mask_morphology.hpp"

#include "framewire/core/error.hpp"
#include "framewire/cuda/device/build.hpp"

namespace framewire {

MaskMorphology::MaskMorphology(MorphologyOperation operation, const StructuringElement& element, const Shape& shape,
                               Executor& executor)
    : phases_(phases_of(operation)), steps_(element), shape_(shape.with_channels(1)), executor_(&executor) {
    validate(shape_, "the mask");
    if constexpr (cuda::compiled)
        if (executor.backend() == Backend::cuda) plan_for_cuda();
    if (phases_.count > 1) between_ = BackendMask(shape_, executor);
}

}  // namespace framewire
