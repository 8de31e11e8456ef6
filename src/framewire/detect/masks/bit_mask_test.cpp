#include "framewire/detect/masks/bit_mask.hpp"

#include "framewire/core/error.hpp"
#include "kit/images.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace framewire {
namespace bit_mask_test {

TEST(BitMask, PacksAndUnpacks) {
    for (const int width : {1, 31, 32, 33, 127, 128, 129, 300}) {
        const Shape shape{2, 5, width, 1};
        HostImage image(shape), again(shape);
        kit::fill(image.view(), kit::Fill::noise, 7);
        HostBitMask mask(shape);
        pack_mask(image.view(), mask.view());
        unpack_mask(mask.view(), again.view());
        for (int frame = 0; frame < shape.frames; ++frame)
            for (int y = 0; y < shape.height; ++y) {
                for (int x = 0; x < width; ++x)
                    ASSERT_EQ(again.view().row(frame, y)[x], image.view().row(frame, y)[x] ? 255 : 0) << x << ',' << y;
                const auto* words = mask.view().row(frame, y);
                for (int x = width; x < mask.view().row_words() * 32; ++x)
                    ASSERT_EQ(words[x / 32] >> (x % 32) & 1, 0u) << "a bit outside the image";
            }
    }
}

TEST(BitMask, RejectsOtherShapes) {
    HostBitMask mask({1, 4, 4, 1});
    HostImage wide({1, 4, 5, 1}), colour({1, 4, 4, 3});
    EXPECT_THROW(pack_mask(wide.view(), mask.view()), Error);
    EXPECT_THROW(unpack_mask(mask.view(), colour.view()), Error);
    EXPECT_THROW(HostBitMask({1, 0, 4, 1}), Error);
}

}  // namespace bit_mask_test
}  // namespace framewire
