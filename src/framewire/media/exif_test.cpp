#include "framewire/media/orientation.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace framewire {
namespace {

using Bytes = std::vector<std::uint8_t>;

// Returns EXIF data with two tags, in either byte order.
Bytes data_with(int number, bool big_endian) {
    const auto value = static_cast<std::uint8_t>(number);
    if (big_endian)
        return {'M', 'M', 0, 42, 0, 0, 0,    8, 0, 2, 1, 0, 0, 3, 0,     0, 0,
                1,   0,   6, 0,  0, 1, 0x12, 0, 3, 0, 0, 0, 1, 0, value, 0, 0};
    return {'I', 'I', 42, 0, 8, 0,    0, 0, 2, 0, 0, 1, 3, 0,     1, 0, 0,
            0,   6,   0,  0, 0, 0x12, 1, 3, 0, 1, 0, 0, 0, value, 0, 0, 0};
}

TEST(ExifOrientation, ReadsBothByteOrders) {
    for (const bool big_endian : {false, true})
        for (int number = 1; number <= 8; ++number) {
            auto data = data_with(number, big_endian);
            EXPECT_EQ(exif_orientation(data), number);
            const std::string name("Exif\0\0", 6);
            data.insert(data.begin(), name.begin(), name.end());
            EXPECT_EQ(exif_orientation(data), number) << "as in JPEG";
        }
}

TEST(ExifOrientation, IsZeroForInvalidData) {
    EXPECT_EQ(exif_orientation({}), 0);
    for (const int number : {0, 9, 255}) EXPECT_EQ(exif_orientation(data_with(number, true)), 0);
    const auto changed = [](std::size_t at, int value) {
        auto data = data_with(6, false);
        data.at(at) = static_cast<std::uint8_t>(value);
        return exif_orientation(data);
    };
    EXPECT_EQ(changed(2, 43), 0) << "BigTIFF";
    EXPECT_EQ(changed(7, 255), 0) << "a directory far behind the end";
    EXPECT_EQ(changed(4, 33), 0) << "one at the last byte";
    EXPECT_EQ(changed(8, 1), 0) << "without the second tag";
    EXPECT_EQ(changed(24, 4), 0) << "of another type";
    EXPECT_EQ(changed(26, 2), 0) << "two of them";
    EXPECT_EQ(changed(9, 255), 6) << "more tags than there is room for";
}

TEST(ExifOrientation, IsZeroForTruncatedData) {
    for (const bool big_endian : {false, true}) {
        const auto whole = data_with(6, big_endian);
        for (std::size_t bytes = 0; bytes < whole.size(); ++bytes) {
            const Bytes cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(bytes));
            EXPECT_EQ(exif_orientation(cut), 0) << bytes;
        }
    }
}

}  // namespace
}  // namespace framewire
