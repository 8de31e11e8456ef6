#include "framewire/detect/masks/mask_region.hpp"

#include "framewire/core/error.hpp"

#include <algorithm>
#include <cstring>

namespace framewire {

MaskRegion::MaskRegion(const Shape& shape, Executor& executor)
    : executor_(&executor), region_(shape.with_frames(1).with_channels(1)) {
    std::memset(region_.view().data(), 0, bit_mask_bytes(region_.shape()));
}

MaskRegion::MaskRegion(HostView<const std::uint8_t> image, Executor& executor) : MaskRegion(image.shape(), executor) {
    pack_mask(image, region_.view());
    upload();
}

MaskRegion::MaskRegion(std::span<const Zone> zones, const Shape& shape, Executor& executor)
    : MaskRegion(shape, executor) {
    const auto region = region_.view();
    for (const auto& zone : zones) {
        if (zone.x >= shape.width || zone.y >= shape.height)
            fail(ErrorCode::usage, "the region at {},{} lies outside the image of {}", zone.x, zone.y,
                 to_string(shape));
        const int right = zone.x + std::min(zone.width, shape.width - zone.x);
        const int bottom = zone.y + std::min(zone.height, shape.height - zone.y);
        for (int y = zone.y; y < bottom; ++y)
            for (int x = zone.x; x < right; ++x) region.row(0, y)[x / 32] |= 1u << (x % 32);
    }
    upload();
}

void MaskRegion::upload() {
    if (executor_->backend() == Backend::cpu) return;
    device_region_ = DeviceBitMask(region_.shape());
    cuda::upload(region_.view().data(), device_region_.view().data(), bit_mask_bytes(region_.shape()),
                 executor_->stream());
    executor_->stream().synchronize();
}

void MaskRegion::require_same_size(const Shape& masks) const {
    if (masks.with_frames(1) != region_.shape())
        fail(ErrorCode::usage, "a region of {} for masks of {}", to_string(region_.shape()), to_string(masks));
}

void MaskRegion::apply(HostBitMaskView<std::uint32_t> masks) const {
    require_same_size(masks.shape());
    const auto* region = region_.view().data();
    for (int frame = 0; frame < masks.shape().frames; ++frame)
        std::transform(region, region + masks.frame_words(), masks.row(frame, 0), masks.row(frame, 0),
                       [](std::uint32_t a, std::uint32_t b) { return a & b; });
}

}  // namespace framewire
