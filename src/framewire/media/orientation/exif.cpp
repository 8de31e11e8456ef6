// EXIF data are a small TIFF file: a header with the byte order and the offset of a directory, whose entries have 12
// bytes.
//
//    header     "II*\0" or "MM\0*" | offset of the directory (4 bytes)
//    directory  number of entries (2 bytes) | entries
//    entry      tag (2) | type (2) | count (4) | value or its offset (4)
//
// Offsets and counts come from the file, so each is checked before it is used.

#include "framewire/media/orientation/exif.hpp"

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace framewire {
namespace {

constexpr std::uint32_t tag_orientation = 0x0112, exif_type_short = 3;
constexpr std::size_t exif_header_bytes = 8, exif_entry_bytes = 12;

// Integers in the byte order of the data.
struct ExifNumbers {
    std::span<const std::uint8_t> data;
    bool big_endian = false;

    // The integer at an offset, which must be inside the data.
    std::uint32_t at(std::size_t place, int bytes) const {
        std::uint32_t number = 0;
        for (int byte = 0; byte < bytes; ++byte) {
            const std::uint32_t value = data[place + static_cast<std::size_t>(byte)];
            number |= value << (8 * (big_endian ? bytes - 1 - byte : byte));
        }
        return number;
    }
};

// True if `data` start with `text`.
bool bytes_begin_with(std::span<const std::uint8_t> data, std::string_view text) {
    return data.size() >= text.size() && std::equal(text.begin(), text.end(), data.begin());
}

}  // namespace

int exif_orientation(std::span<const std::uint8_t> data) {
    using namespace std::string_view_literals;
    // Prefix of EXIF data in JPEG, which some PNG writers also store.
    if (bytes_begin_with(data, "Exif\0\0"sv)) data = data.subspan(6);
    const ExifNumbers numbers{data, bytes_begin_with(data, "MM\0*"sv)};
    if (data.size() < exif_header_bytes || !(numbers.big_endian || bytes_begin_with(data, "II*\0"sv))) return 0;

    const std::size_t directory = numbers.at(4, 4);
    if (directory > data.size() || data.size() - directory < 2) return 0;
    // A count that exceeds the data is reduced to the entries that fit.
    const auto entries =
        std::min<std::size_t>(numbers.at(directory, 2), (data.size() - directory - 2) / exif_entry_bytes);
    for (std::size_t entry = 0; entry < entries; ++entry) {
        const auto place = directory + 2 + entry * exif_entry_bytes;
        if (numbers.at(place, 2) != tag_orientation) continue;
        const auto number = numbers.at(place + 8, 2);
        const bool is_one = numbers.at(place + 2, 2) == exif_type_short && numbers.at(place + 4, 4) == 1;
        return is_one && number <= 8 ? static_cast<int>(number) : 0;
    }
    return 0;
}

}  // namespace framewire
