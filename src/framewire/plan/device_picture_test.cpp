#include "framewire/plan/device_picture.hpp"
#include "framewire/plan/frame.hpp"
#include "kit/filter_check.hpp"
#include "kit/images.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace framewire {
namespace {

class DevicePictureTest : public ::testing::Test {
protected:
    void SetUp() override {
        if (const auto why = kit::why_not(Backend::cuda)) GTEST_SKIP() << *why;
    }
};

const YuvInfo info{yuv_420, {}, {}, 1, 271, 483};

// Fills a picture on the pool's stream.
void fill(const DevicePicturePool& pool, DevicePicture& picture, const YuvPicture& from) {
    picture.write(pool.stream(), [&](const DeviceYuv<std::uint8_t>& to) {
        for (int plane = 0; plane < info.planes(); ++plane)
            cuda::upload(image_of_plane(from.view(), plane), image_of_plane(to, plane), pool.stream());
    });
}

YuvPicture noise(std::uint64_t salt, const YuvInfo& of = info) {
    YuvPicture picture(of, cuda::pinned_memory());
    for (int plane = 0; plane < of.planes(); ++plane)
        kit::fill(image_of_plane(picture.view(), plane), kit::Fill::noise, salt + static_cast<std::uint64_t>(plane));
    return picture;
}

void expect_equal(const HostYuv<const std::uint8_t>& got, const YuvPicture& want) {
    for (int plane = 0; plane < info.planes(); ++plane)
        if (const auto difference =
                kit::first_difference(image_of_plane(got, plane), image_of_plane(want.view(), plane)))
            FAIL() << "plane " << plane << ": " << *difference;
}

TEST_F(DevicePictureTest, IsDownloadedAsWritten) {
    const DevicePicturePool pool;
    const auto want = noise(1);
    const auto picture = DevicePicturePool(pool).take(info);
    fill(pool, *picture, want);
    expect_equal(pool.download(*picture, info)->view(), want);
}

// One piece of memory is written for each frame while the frame before is still being read by another stream.
TEST_F(DevicePictureTest, IsWrittenAgainOnlyAfterItWasRead) {
    Executor executor(BackendChoice::cuda);
    DevicePicturePool pool;
    std::vector<YuvPicture> frames;
    for (std::uint64_t salt = 0; salt < 16; ++salt) frames.push_back(noise(10 * salt));
    std::vector<std::unique_ptr<FramePlanes>> slots;
    std::vector<DeviceYuv<const std::uint8_t>> copies;
    const DevicePicture* first = nullptr;
    for (const auto& frame : frames) {
        const auto picture = pool.take(info);
        if (!first) first = picture.get();
        ASSERT_EQ(picture.get(), first);
        fill(pool, *picture, frame);
        slots.push_back(std::make_unique<FramePlanes>(executor));
        copies.push_back(slots.back()->source(PictureOnGpu{picture.get(), info}));
    }
    for (std::size_t index = 0; index < frames.size(); ++index) {
        slots[index]->wait();
        executor.synchronize();
        YuvPicture got(info);
        for (int plane = 0; plane < info.planes(); ++plane) {
            cuda::download(image_of_plane(copies[index], plane), image_of_plane(got.view(), plane), executor.stream());
            executor.synchronize();
        }
        SCOPED_TRACE(index);
        expect_equal(std::as_const(got).view(), frames[index]);
        if (HasFailure()) return;
    }
}

TEST_F(DevicePictureTest, ThePoolReusesMemoryOfOneSize) {
    DevicePicturePool pool;
    auto one = pool.take(info), two = pool.take(info);
    EXPECT_NE(one, two);
    const auto* const first = one.get();
    one.reset();
    EXPECT_EQ(pool.take(info).get(), first);
    auto larger = info;
    larger.height *= 2;
    EXPECT_EQ(pool.take(larger)->info(), larger);
    EXPECT_EQ(pool.take(info)->info(), info);
}

TEST_F(DevicePictureTest, OutlivesItsPool) {
    const auto want = noise(3);
    std::shared_ptr<DevicePicture> picture;
    auto pool = std::make_unique<DevicePicturePool>();
    picture = pool->take(info);
    fill(*pool, *picture, want);
    const DevicePicturePool copy = *pool;
    pool.reset();
    expect_equal(copy.download(*picture, info)->view(), want);
}

}  // namespace
}  // namespace framewire
