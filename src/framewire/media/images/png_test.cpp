#include "framewire/media/images/png.hpp"

#include <gtest/gtest.h>
#include <png.h>

#include <cstdint>
#include <string>
#include <vector>

namespace framewire {
namespace png_test {

TEST(Png, Gray16KeepsItsValuesWithoutGammaChunks) {
    constexpr int width = 7, height = 3;
    std::vector<std::uint16_t> values;
    for (int at = 0; at < width * height; ++at) values.push_back(static_cast<std::uint16_t>(at * 3121 % 65536));
    values.back() = 65535;
    const auto bytes = encode_gray_png_16(values.data(), width, height);
    const std::string file(bytes.begin(), bytes.end());
    EXPECT_EQ(file.find("gAMA"), file.npos);
    EXPECT_EQ(file.find("cHRM"), file.npos);

    png_image png{};
    png.version = PNG_IMAGE_VERSION;
    ASSERT_TRUE(png_image_begin_read_from_memory(&png, bytes.data(), bytes.size()));
    EXPECT_EQ(png.width, static_cast<png_uint_32>(width));
    EXPECT_EQ(png.height, static_cast<png_uint_32>(height));
    EXPECT_EQ(png.format, static_cast<png_uint_32>(PNG_FORMAT_LINEAR_Y)) << "gray, 16 bits";
    std::vector<std::uint16_t> read(values.size());
    ASSERT_TRUE(png_image_finish_read(&png, nullptr, read.data(), width, nullptr)) << png.message;
    EXPECT_EQ(read, values);
}

}  // namespace png_test
}  // namespace framewire
