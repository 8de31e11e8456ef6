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

/// The components of a batch of masks in one memory space: `capacity` entries per frame, of which frame f uses
/// the first min(found[f], capacity). found[f] is the number of components of allowed area in the frame,
/// total[f] the number of all components.
template <MemorySpace space>
struct ComponentLists {
    Component* components;
    std::int32_t* found;
    std::int32_t* total;
    int capacity;

    /// Returns the entries of one frame.
    constexpr Component* of_frame(int frame) const { return components + std::int64_t{frame} * capacity; }
};

/// Owns memory for the components of a batch, uninitialised. Move-only.
template <MemorySpace space>
class ComponentBuffer {
public:
    ComponentBuffer() = default;
    template <class... Memory>
    /// Makes lists for `frames` frames with `capacity` entries each. `memory` is optional: the allocator of a
    /// host buffer.
    explicit ComponentBuffer(int frames, int capacity, Memory&... memory)
        : frames_(frames),
          capacity_(capacity),
          components_(static_cast<std::size_t>(frames) * static_cast<std::size_t>(capacity) * sizeof(Component),
                      memory...),
          counts_(static_cast<std::size_t>(frames) * 2 * sizeof(std::int32_t), memory...) {}

    /// Number of lists, and entries per list.
    int frames() const { return frames_; }
    int capacity() const { return capacity_; }
    /// Returns a view of all lists; valid as long as the buffer.
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

/// Queues copies of all counts and of the first `first` components of every frame, two copies whatever the size
/// of the batch. Both buffers must have the same frames and capacity; throws Error{usage} if not. Choose
/// `first` so that it is usually enough; if found[f] is larger, call again with a larger one.
void download(const DeviceComponents& from, HostComponents& to, int first, const cuda::Stream& stream);

/// Parameters of ComponentLabelling.
struct ComponentLabellingParameters {
    int connectivity = 8;  ///< 8, or 4: only pixels that share an edge belong together
    int min_area = 1;      ///< components of fewer pixels are counted and numbered but not listed; 0 and up
    int max_area = std::numeric_limits<std::int32_t>::max();  ///< the same for components of more pixels
    int capacity = 4096;                                      ///< components listed per frame, 1 and up
    bool label_images = false;                                ///< run() also writes label images
};

/// A batch of label images in one memory space, 32 bits per pixel without gaps: 0 where the mask is 0, else the
/// id of the pixel's component, whatever its area.
template <MemorySpace space>
struct LabelImages {
    std::int32_t* labels = nullptr;
};

/// Finds the connected components of bit masks, numbered from 1 in raster order of their first pixels. Numbers,
/// boxes and sums are the same on every backend and in every run.
///
/// CPU: union-find of runs, row by row in bands of rows, then across bands (He, Chao, Suzuki, "A run-based two-scan
/// labeling algorithm", 2008). CUDA: union-find of runs in shared memory per tile, then between tiles with atomic
/// minima (after Komura 2015 and Playne and Hawick 2018); statistics are added up within each tile first.
class ComponentLabelling {
public:
    /// Prepares labelling of batches of `shape`; its channels are ignored. Throws Error{usage} if the
    /// parameters or the shape are not allowed, Error{config} if there is not enough memory for the worst mask:
    /// on the CPU up to 18 bytes per pixel of one frame, on CUDA 12 bytes per pixel of all frames, and twice as
    /// much with 4 neighbours.
    ComponentLabelling(ComponentLabellingParameters parameters, const Shape& shape, Executor& executor);

    /// The parameters, and the shape of the masks, that the plan was made for.
    const ComponentLabellingParameters& parameters() const { return parameters_; }
    const Shape& shape() const { return shape_; }

    /// Fills `lists`, whose capacity must be the plan's, and, if the plan is for label images, `images`. On the
    /// host the call returns when done. On the device it is queued on the executor's stream: four launches, or
    /// five with label images. Throws Error{usage} if the shape of the mask or the capacity differs, or if
    /// label images are missing or unexpected.
    void run(HostBitMaskView<const std::uint32_t> mask, const ComponentLists<MemorySpace::host>& lists,
             LabelImages<MemorySpace::host> images = {});
    void run(DeviceBitMaskView<const std::uint32_t> mask, const ComponentLists<MemorySpace::device>& lists,
             LabelImages<MemorySpace::device> images = {});

private:
    void require(const void* mask, const Shape& mask_shape, int capacity, const void* labels) const;

    ComponentLabellingParameters parameters_;
    Shape shape_;
    Executor* executor_;
    BackendBuffer workspace_;  // results of bands of rows or, on CUDA, of tiles
};

}  // namespace framewire
