#include "framewire/colour/yuv_picture.hpp"

#include "framewire/core/error.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <utility>

namespace framewire {
namespace yuv_picture_test {

constexpr YuvInfo info{yuv_420, {}, {}, 1, 35, 101};

TEST(YuvPicture, HoldsItsPlanes) {
    YuvPicture picture(info);
    EXPECT_EQ(picture.info(), info);
    const auto view = picture.view();
    EXPECT_NO_THROW(validate(view, info, "it"));
    for (const auto& plane : view.planes) {
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(plane.data) % 64, 0U);
        EXPECT_EQ(plane.row_stride_bytes % 64, 0);
    }
    EXPECT_EQ(view.planes[1].data, view.planes[0].row(0, 35));
    EXPECT_EQ(view.planes[2].data, view.planes[1].row(0, 18));
    EXPECT_LE(view.planes[2].row(0, 18) - view.planes[0].data, picture.bytes());
    EXPECT_THROW(YuvPicture({yuv_420, {}, {}, 1, 0, 4}), Error);
}

TEST(YuvPicturePool, ReusesReturnedPictures) {
    std::optional<YuvPicturePool> pool(std::in_place);
    auto first = pool->take(info), second = pool->take(info);
    const auto *of_first = first.get(), *of_second = second.get();
    EXPECT_NE(of_first, of_second) << "nobody else has one that is lent";
    first.reset();
    first = pool->take(info);
    EXPECT_EQ(first.get(), of_first);
    auto other = info;
    other.width = 64;
    second.reset();
    EXPECT_EQ(pool->take(other)->info(), other);
    pool.reset();
    first.reset();  // after the pool has been destroyed
}

}  // namespace yuv_picture_test
}  // namespace framewire
