#include "framewire/detect/masks/mask_region.hpp"

#include "framewire/core/error.hpp"
#include "kit/filter_check.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace framewire {
namespace mask_region_test {

using MaskRegionTest = kit::BackendTest;
FRAMEWIRE_ON_EVERY_BACKEND(MaskRegionTest);

HostImage applied(const MaskRegion& region, HostView<const std::uint8_t> image, Executor& executor) {
    HostBitMask mask(image.shape());
    pack_mask(image, mask.view());
    if (executor.backend() == Backend::cpu) {
        region.apply(mask.view());
    } else if constexpr (cuda::compiled) {
        DeviceBitMask device(image.shape());
        const auto bytes = bit_mask_bytes(image.shape());
        cuda::upload(mask.view().data(), device.view().data(), bytes, executor.stream());
        region.apply(device.view());
        cuda::download(device.view().data(), mask.view().data(), bytes, executor.stream());
        executor.stream().synchronize();
    }
    HostImage result(image.shape());
    unpack_mask(mask.view(), result.view());
    return result;
}

TEST_P(MaskRegionTest, ClearsBitsOutsideTheRegion) {
    auto& executor = kit::executor(GetParam());
    for (const Shape& shape : {Shape{1, 1, 1, 1}, Shape{3, 37, 131, 1}, Shape{2, 64, 128, 1}}) {
        HostImage image(shape), want(shape), keep(shape.with_frames(1));
        kit::fill(image.view(), kit::Fill::noise, 1);
        const std::vector<Zone> zones{{0, 0, 1, 1}, {shape.width / 3, shape.height / 2, 50, 9}, {0, 0, shape.width, 1}};
        for (int y = 0; y < shape.height; ++y)
            for (int x = 0; x < shape.width; ++x) {
                bool inside = false;
                for (const auto& zone : zones)
                    inside |= x >= zone.x && x < zone.x + zone.width && y >= zone.y && y < zone.y + zone.height;
                keep.view().row(0, y)[x] = inside ? 1 : 0;
                for (int frame = 0; frame < shape.frames; ++frame)
                    want.view().row(frame, y)[x] = inside && image.view().row(frame, y)[x] ? 255 : 0;
            }
        const auto from_zones = applied(MaskRegion(zones, shape, executor), image.view(), executor);
        EXPECT_EQ(kit::first_difference(from_zones.view(), want.view()), std::nullopt);
        const auto from_image = applied(MaskRegion(keep.view(), executor), image.view(), executor);
        EXPECT_EQ(kit::first_difference(from_image.view(), want.view()), std::nullopt);
    }
}

TEST(MaskRegion, RejectsMismatchedSizes) {
    auto& executor = kit::executor(Backend::cpu);
    const Zone outside{64, 0, 5, 5};
    EXPECT_THROW(MaskRegion({&outside, 1}, {1, 48, 64, 3}, executor), Error);
    const Zone inside{0, 0, 5, 5};
    const MaskRegion region({&inside, 1}, {1, 48, 64, 3}, executor);
    HostBitMask other({1, 48, 65, 1});
    EXPECT_THROW(region.apply(other.view()), Error);
}

}  // namespace mask_region_test
}  // namespace framewire
