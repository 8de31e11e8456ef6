#include "framewire/media/images/jpeg.hpp"

#include "framewire/core/buffer.hpp"

#include <gtest/gtest.h>
#include <turbojpeg.h>

#include <cstdlib>
#include <memory>
#include <vector>

namespace framewire {
namespace jpeg_test {

HostImage ramp(const Shape& shape) {
    HostImage image(shape);
    for (int y = 0; y < shape.height; ++y)
        for (int x = 0; x < shape.row_bytes(); ++x)
            image.view().row(0, y)[x] = static_cast<std::uint8_t>(40 + x / shape.channels + 2 * y);
    return image;
}

TEST(Jpeg, RoundTripIsSimilar) {
    for (const int channels : {1, 3}) {
        const Shape shape{1, 37, 61, channels};
        const auto image = ramp(shape);
        const auto jpeg = encode_jpeg(image.view());
        const std::unique_ptr<void, decltype(&tjDestroy)> reader(tjInitDecompress(), &tjDestroy);
        const auto* bytes = reinterpret_cast<const unsigned char*>(jpeg.data());
        int width = 0, height = 0, sampling = 0, colours = 0;
        ASSERT_EQ(tjDecompressHeader3(reader.get(), bytes, jpeg.size(), &width, &height, &sampling, &colours), 0);
        EXPECT_EQ(width, shape.width);
        EXPECT_EQ(height, shape.height);
        EXPECT_EQ(colours == TJCS_GRAY, channels == 1);
        std::vector<unsigned char> again(static_cast<std::size_t>(shape.bytes()));
        ASSERT_EQ(tjDecompress2(reader.get(), bytes, jpeg.size(), again.data(), width, 0, height,
                                channels == 1 ? TJPF_GRAY : TJPF_BGR, 0),
                  0);
        for (int y = 0; y < height; ++y)
            for (int x = 0; x < shape.row_bytes(); ++x)
                ASSERT_LE(
                    std::abs(again[static_cast<std::size_t>(y * shape.row_bytes() + x)] - image.view().row(0, y)[x]),
                    12)
                    << x << "," << y << " of " << channels;
    }
}

}  // namespace jpeg_test
}  // namespace framewire
