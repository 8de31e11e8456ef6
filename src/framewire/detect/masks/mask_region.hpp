#pragma once

#include "framewire/cuda/executor.hpp"
#include "framewire/detect/masks/bit_mask.hpp"
#include "framewire/filters/mosaic/mosaic.hpp"

#include <cstdint>
#include <span>

namespace framewire {

/// The part of an image in which objects are looked for: everything outside it is taken out of masks.
class MaskRegion {
public:
    /// The pixels of `image` that are not 0 (one channel, one frame), for masks of its size.
    MaskRegion(HostView<const std::uint8_t> image, Executor& executor);
    /// The pixels in any of the zones, cut at the image's edges. Throws Error{usage} on a zone wholly outside.
    MaskRegion(std::span<const Zone> zones, const Shape& shape, Executor& executor);

    /// Clears the bits outside the region in every frame. Throws Error{usage} on masks of another size.
    void apply(HostBitMaskView<std::uint32_t> masks) const;
    /// Queued on the executor's stream.
    void apply(DeviceBitMaskView<std::uint32_t> masks) const;

private:
    MaskRegion(const HostBitMask& region, Executor& executor);
    void require_same_size(const Shape& masks) const;

    Executor* executor_;
    BackendMask region_;
};

}  // namespace framewire
