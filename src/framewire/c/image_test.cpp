// Tests of images.

#include "framewire/c/c_testing.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace framewire::c {
namespace {

TEST(CImage, ImagesAreLaidOutWithoutGaps) {
    for (const auto format :
         {FW_GRAY, FW_BGR, FW_I420, FW_I422, FW_I444, FW_NV12, FW_I010, FW_I210, FW_I410, FW_P010}) {
        auto image = description(format, 7, 5);
        std::uint8_t memory[512];
        std::size_t bytes = 0;
        FW_OK_OR_FAIL(fw_image_layout(&image, memory, &bytes));
        const auto reference = reference_format(image);
        EXPECT_EQ(bytes, static_cast<std::size_t>(reference.bytes()));
        if (!reference.planes()) {
            EXPECT_EQ(image.data[0], memory);
            EXPECT_EQ(image.stride[0], reference.shape().row_bytes());
            continue;
        }
        const HostYuv<std::uint8_t> planes(memory, *reference.planes());
        for (std::size_t plane = 0; plane < 3; ++plane) {
            EXPECT_EQ(image.data[plane], planes.planes[plane].data) << plane;
            EXPECT_EQ(image.stride[plane], planes.planes[plane].row_stride_bytes) << plane;
        }
    }
    auto wrong = description(FW_BGR, 0, 5);
    EXPECT_REFUSED(fw_image_layout(&wrong, nullptr, nullptr), "image->width is 0");
    EXPECT_REFUSED(fw_image_layout(nullptr, nullptr, nullptr), "image is NULL");
}

TEST(CImage, ImagesAreCopied) {
    for (const auto format : {FW_GRAY, FW_NV12, FW_I410}) {
        Picture from(description(format, 33, 21)), to(description(format, 33, 21));
        from.fill_with_noise(4);
        FW_OK_OR_FAIL(fw_image_copy(&from.image, &to.image, nullptr));
        EXPECT_EQ(to.memory, from.memory);
        EXPECT_REFUSED(fw_image_copy(&from.image, &from.image, nullptr), "from and to overlap in memory");
    }
    Picture from(description(FW_GRAY, 33, 21)), other(description(FW_GRAY, 33, 22));
    EXPECT_REFUSED(fw_image_copy(nullptr, &other.image, nullptr), "from is NULL");
    EXPECT_REFUSED(fw_image_copy(&from.image, nullptr, nullptr), "to is NULL");
    EXPECT_REFUSED(fw_image_copy(&from.image, &other.image, nullptr), "to is 33x22 gray, but must be 33x21 gray");
}

TEST(CImage, DeviceMemoryNeedsAGpu) {
    fw_buffer* buffer = nullptr;
    EXPECT_REFUSED(fw_buffer_create(nullptr, 8, 0), "buffer is NULL");
    EXPECT_REFUSED(fw_buffer_create(&buffer, 0, 0), "bytes is 0");
    EXPECT_EQ(fw_buffer_create(&buffer, 8, -1), FW_ERROR_UNAVAILABLE);
    EXPECT_EQ(fw_buffer_create(&buffer, 8, 99), FW_ERROR_UNAVAILABLE);
    EXPECT_EQ(buffer, nullptr);
    EXPECT_EQ(fw_buffer_data(nullptr), nullptr);
    fw_buffer_destroy(nullptr);
    EXPECT_EQ(fw_stream_order(99, nullptr, nullptr), FW_ERROR_UNAVAILABLE);
}

}  // namespace
}  // namespace framewire::c
