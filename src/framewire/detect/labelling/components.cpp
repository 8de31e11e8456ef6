#include "framewire/detect/labelling/components.hpp"

#include "framewire/core/error.hpp"
#include "framewire/detect/labelling/component_bands.hpp"
#include "framewire/detect/labelling/component_tiles.hpp"

namespace framewire {

void download(const DeviceComponents& from, HostComponents& to, int first, const cuda::Stream& stream) {
    if (to.frames() != from.frames() || to.capacity() != from.capacity() || first < 0 || first > from.capacity())
        fail(ErrorCode::usage,
             "{} components of {} lists of {} into {} lists of {}; the lists must match and hold as many", first,
             from.frames(), from.capacity(), to.frames(), to.capacity());
    const auto source = from.lists();
    const auto target = to.lists();
    cuda::download(source.found, target.found, static_cast<std::size_t>(from.frames()) * 2 * sizeof(std::int32_t),
                   stream);
    if (first == 0) return;
    // The starts of the lists are the rows of an image with gaps after them.
    const Shape shape{1, from.frames(), first * static_cast<int>(sizeof(Component)), 1};
    const auto stride_bytes = std::int64_t{from.capacity()} * static_cast<std::int64_t>(sizeof(Component));
    cuda::download(DeviceView<const std::uint8_t>(reinterpret_cast<const std::uint8_t*>(source.components), shape,
                                                  stride_bytes, 0),
                   HostView<std::uint8_t>(reinterpret_cast<std::uint8_t*>(target.components), shape, stride_bytes, 0),
                   stream);
}

ComponentLabelling::ComponentLabelling(ComponentLabellingParameters parameters, const Shape& shape, Executor& executor)
    : parameters_(parameters), shape_(shape.with_channels(1)), executor_(&executor) {
    validate(shape, "the mask to label");
    if (parameters.connectivity != 4 && parameters.connectivity != 8)
        fail(ErrorCode::usage, "connectivity {}; allowed are 4 and 8", parameters.connectivity);
    if (parameters.min_area < 0 || parameters.max_area < parameters.min_area)
        fail(ErrorCode::usage, "areas of {} to {} pixels; the smaller must be at least 0 and at most the larger",
             parameters.min_area, parameters.max_area);
    if (parameters.capacity < 1)
        fail(ErrorCode::usage, "room for {} components; at least 1 is needed", parameters.capacity);
    const bool eight = parameters.connectivity == 8;
    workspace_ = BackendBuffer(executor.backend() == Backend::cpu
                                   ? labelling::BandWorkspace::bytes(labelling::BandCut(shape_, eight))
                                   : labelling::TileWorkspace::bytes(shape_, eight),
                               executor, sparse_memory());
}

// Checks the arguments of run() for both backends.
void ComponentLabelling::require(const void* mask, const Shape& mask_shape, int capacity, const void* labels) const {
    if (mask_shape.with_channels(1) != shape_)
        fail(ErrorCode::usage, "the mask to label is {}; {} is needed", to_string(mask_shape), to_string(shape_));
    if (!mask) fail(ErrorCode::usage, "the mask to label has no memory");
    if (capacity != parameters_.capacity)
        fail(ErrorCode::usage, "lists of {} components; the plan is for {}", capacity, parameters_.capacity);
    if ((labels != nullptr) != parameters_.label_images)
        fail(ErrorCode::usage, "label images are {}",
             parameters_.label_images ? "missing" : "given to a plan without them");
}

}  // namespace framewire
