#pragma once

#include "framewire/cuda/executor.hpp"
#include "framewire/detect/masks/bit_mask.hpp"
#include "framewire/filters/mosaic/mosaic.hpp"

#include <cstdint>
#include <span>

namespace framewire {

/// The part of an image that is searched for objects: clears all bits of masks outside of it.
class MaskRegion {
public:
    /// The region is the pixels of `image` that are not 0 (one channel, one frame), for masks of the same size.
    MaskRegion(HostView<const std::uint8_t> image, Executor& executor);
    /// The region is the union of the zones, clipped to the image. Throws Error{usage} if a zone is completely
    /// outside.
    MaskRegion(std::span<const Zone> zones, const Shape& shape, Executor& executor);

    /// Clears the bits outside of the region in every frame. Throws Error{usage} if the masks have another
    /// size.
    void apply(HostBitMaskView<std::uint32_t> masks) const;
    /// The same, queued on the executor's stream.
    void apply(DeviceBitMaskView<std::uint32_t> masks) const;

private:
    MaskRegion(const HostBitMask& region, Executor& executor);
    void require_same_size(const Shape& masks) const;

    Executor* executor_;
    BackendMask region_;
};

}  // namespace framewire
