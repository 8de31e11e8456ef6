#include "framewire/detect/masks/mask_region.hpp"

#include "framewire/core/error.hpp"

#include <algorithm>
#include <cstring>

namespace framewire {

namespace {

// Packs an image into a mask of one frame.
HostBitMask packed(HostView<const std::uint8_t> image) {
    HostBitMask mask(image.shape().with_frames(1));
    pack_mask(image, mask.view());
    return mask;
}

// Draws the zones into a mask. A zone that is partly outside is clipped, one that is completely outside is an
// error.
HostBitMask mask_of(std::span<const Zone> zones, const Shape& shape) {
    HostBitMask mask(shape.with_frames(1));
    const auto region = mask.view();
    std::memset(region.data(), 0, bit_mask_bytes(region.shape()));
    for (const auto& zone : zones) {
        if (zone.x >= shape.width || zone.y >= shape.height)
            fail(ErrorCode::usage, "the region at {},{} lies outside the image of {}", zone.x, zone.y,
                 to_string(shape));
        const int right = zone.x + std::min(zone.width, shape.width - zone.x);
        const int bottom = zone.y + std::min(zone.height, shape.height - zone.y);
        for (int y = zone.y; y < bottom; ++y)
            for (int x = zone.x; x < right; ++x) region.row(0, y)[x / 32] |= 1u << (x % 32);
    }
    return mask;
}

}  // namespace

MaskRegion::MaskRegion(const HostBitMask& region, Executor& executor)
    : executor_(&executor), region_(region.shape(), executor) {
    region_.memory().put(region.view().data(), bit_mask_bytes(region.shape()));
}

MaskRegion::MaskRegion(HostView<const std::uint8_t> image, Executor& executor) : MaskRegion(packed(image), executor) {}

MaskRegion::MaskRegion(std::span<const Zone> zones, const Shape& shape, Executor& executor)
    : MaskRegion(mask_of(zones, shape), executor) {}

void MaskRegion::require_same_size(const Shape& masks) const {
    if (masks.with_frames(1) != region_.shape())
        fail(ErrorCode::usage, "a region of {} for masks of {}", to_string(region_.shape()), to_string(masks));
}

void MaskRegion::apply(HostBitMaskView<std::uint32_t> masks) const {
    require_same_size(masks.shape());
    const auto* region = region_.view<MemorySpace::host>().data();
    for (int frame = 0; frame < masks.shape().frames; ++frame)
        std::transform(region, region + masks.frame_words(), masks.row(frame, 0), masks.row(frame, 0),
                       [](std::uint32_t a, std::uint32_t b) { return a & b; });
}

}  // namespace framewire
