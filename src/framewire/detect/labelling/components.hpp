#pragma once

#include "framewire/core/buffer.hpp"
#include "framewire/core/component.hpp"
#include "framewire/cuda/backend_buffer.hpp"
#include "framewire/cuda/buffer.hpp"
#include "framewire/cuda/executor.hpp"
#include "framewire/detect/masks/bit_mask.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>

namespace framewire {

/// The components of a batch of masks in one memory space: `capacity` places a frame, of which frame f uses the first
/// min(found[f], capacity). found[f] is how many components of allowed area the frame has, total[f] how many of any.
template <MemorySpace space>
struct ComponentLists {
    Component* components;
    std::int32_t* found;
    std::int32_t* total;
    int capacity;

    constexpr Component* of_frame(int frame) const { return components + std::int64_t{frame} * capacity; }
};

/// Owns room for the components of a batch, uninitialised. Move-only.
template <MemorySpace space>
class ComponentBuffer {
public:
    ComponentBuffer() = default;
    template <class... Memory>
    explicit ComponentBuffer(int frames, int capacity, Memory&... memory)
        : frames_(frames),
          capacity_(capacity),
          components_(static_cast<std::size_t>(frames) * static_cast<std::size_t>(capacity) * sizeof(Component),
                      memory...),
          counts_(static_cast<std::size_t>(frames) * 2 * sizeof(std::int32_t), memory...) {}

    int frames() const { return frames_; }
    int capacity() const { return capacity_; }
    ComponentLists<space> lists() const {
        auto* counts = counts_.template as<std::int32_t>();
        return {components_.template as<Component>(), counts, counts + frames_, capacity_};
    }

private:
    int frames_ = 0, capacity_ = 0;
    BufferIn<space> components_, counts_;
};

using HostComponents = ComponentBuffer<MemorySpace::host>;
using DeviceComponents = ComponentBuffer<MemorySpace::device>;

/// Queues copies of all counts and of the first `first` components of every frame (two copies whatever the batch; both
/// buffers have the same frames and capacity). With a `first` that is usually enough nothing else needs to travel;
/// where found[f] says there were more, ask again for all of them.
void download(const DeviceComponents& from, HostComponents& to, int first, const cuda::Stream& stream);

struct ComponentLabellingParameters {
    int connectivity = 8;  ///< 8, or 4: whether pixels that touch at corners belong together
    int min_area = 1;      ///< components of fewer pixels are counted and numbered but not listed; 0 and up
    int max_area = std::numeric_limits<std::int32_t>::max();  ///< likewise of more
    int capacity = 4096;                                      ///< components listed of each frame, 1 and up
    bool label_images = false;                                ///< whether run() also writes label images
};

/// A batch of label images in one memory space, 32 bits a pixel without gaps: 0 where the mask is 0, else the id of the
/// pixel's component, whatever its area.
template <MemorySpace space>
struct LabelImages {
    std::int32_t* labels = nullptr;
};

/// Finds the connected components of bit masks, numbered from 1 in raster order of their first pixels: the same
/// numbers, boxes and sums from every backend and every run.
/// CPU: runs joined row by row with union-find in bands of rows, then bands joined (He, Chao, Suzuki, "A run-based
/// two-scan labeling algorithm", 2008). CUDA: union-find of runs in shared memory a tile, then between tiles by atomic
/// minima (after Komura 2015 and Playne and Hawick 2018), statistics summed in each tile first.
class ComponentLabelling {
public:
    /// For batches of `shape`, whose channels do not matter. Throws Error{usage} on parameters or a shape that are not
    /// allowed, Error{config} when the memory for the worst mask is not there: on the CPU up to 18 bytes for each pixel
    /// of one frame, on CUDA 12 for each of all frames, and twice that with 4 neighbours.
    ComponentLabelling(ComponentLabellingParameters parameters, const Shape& shape, Executor& executor);

    const ComponentLabellingParameters& parameters() const { return parameters_; }
    const Shape& shape() const { return shape_; }

    /// Fills `lists`, whose capacity is the plan's, and, when the plan is for label images, `images`. Host: returns
    /// when done. Device: queued on the executor's stream, four launches, five with label images. Throws Error{usage}
    /// on a mask of another shape, another capacity, or label images missing or not asked for.
    void run(HostBitMaskView<const std::uint32_t> mask, const ComponentLists<MemorySpace::host>& lists,
             LabelImages<MemorySpace::host> images = {});
    void run(DeviceBitMaskView<const std::uint32_t> mask, const ComponentLists<MemorySpace::device>& lists,
             LabelImages<MemorySpace::device> images = {});

private:
    void require(const void* mask, const Shape& mask_shape, int capacity, const void* labels) const;

    ComponentLabellingParameters parameters_;
    Shape shape_;
    Executor* executor_;
    BackendBuffer workspace_;  // what bands of rows found, on CUDA what tiles found
};

}  // namespace framewire
