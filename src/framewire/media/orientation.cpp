#include "framewire/media/orientation.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string_view>
#include <utility>

// EXIF data form a small TIFF file: a header with the byte order and the offset of a directory, whose entries have 12
// bytes.
//
//    header     "II*\0" or "MM\0*" | offset of the directory (4 bytes)
//    directory  number of entries (2 bytes) | entries
//    entry      tag (2) | type (2) | count (4) | value or its offset (4)
//
// Offsets and counts come from the file, so each is checked before it is used.

namespace framewire {
namespace {

constexpr std::uint32_t tag_orientation = 0x0112, exif_type_short = 3;
constexpr std::size_t exif_header_bytes = 8, exif_entry_bytes = 12;

// Integers in the byte order of the data.
struct ExifNumbers {
    std::span<const std::uint8_t> data;
    bool big_endian = false;

    // Returns the integer at an offset, which must be inside the data.
    std::uint32_t at(std::size_t place, int bytes) const {
        std::uint32_t number = 0;
        for (int byte = 0; byte < bytes; ++byte) {
            const std::uint32_t value = data[place + static_cast<std::size_t>(byte)];
            number |= value << (8 * (big_endian ? bytes - 1 - byte : byte));
        }
        return number;
    }
};

// Returns true if `data` start with `text`.
bool bytes_begin_with(std::span<const std::uint8_t> data, std::string_view text) {
    return data.size() >= text.size() && std::equal(text.begin(), text.end(), data.begin());
}

}  // namespace

int exif_orientation(std::span<const std::uint8_t> data) {
    using namespace std::string_view_literals;
    // Skip the prefix of EXIF data in JPEG, which some PNG writers also store.
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

// The eight orientations, each as a transposition followed by two mirrors. EXIF's numbers, and
// the operation that gives the displayed picture:
//
//    1  as stored             5  transposed
//    2  mirrored across       6  rotated by 90 degrees clockwise
//    3  rotated by 180        7  transposed, then rotated by 180
//    4  mirrored down         8  rotated by 90 degrees counterclockwise

namespace framewire {

Shape Orientation::turned(const Shape& stored) const {
    auto seen = stored;
    if (transposed) std::swap(seen.width, seen.height);
    return seen;
}

// Returns the orientation of a matrix, which moves a pixel (p, q) to (a p + c q, b p + d q). Upright pictures have b =
// c = 0, transposed ones a = d = 0.
std::optional<Orientation> orientation_of_matrix(const std::int32_t* matrix) {
    const std::int64_t a = matrix[0], b = matrix[1], c = matrix[3], d = matrix[4];
    // Allow a tolerance of half a degree, as FFmpeg's tools do.
    const auto is_small = [](std::int64_t small, std::int64_t large) {
        return 100 * (small < 0 ? -small : small) < (large < 0 ? -large : large);
    };
    if (is_small(b, a) && is_small(c, d)) return Orientation{false, a < 0, d < 0};
    if (is_small(a, b) && is_small(d, c)) return Orientation{true, c < 0, b < 0};
    return std::nullopt;
}

// Returns the orientation for the eight values of the tag (EXIF 2.3, 4.6.4 A).
Orientation orientation_of_exif(std::int64_t number) {
    switch (number) {
        case 2: return {false, true, false};
        case 3: return {false, true, true};
        case 4: return {false, false, true};
        case 5: return {true, false, false};
        case 6: return {true, true, false};
        case 7: return {true, true, true};
        case 8: return {true, false, true};
        default: return {};
    }
}

void turn(HostView<const std::uint8_t> stored, const Orientation& orientation, HostView<std::uint8_t> seen) {
    const auto& from = stored.shape();
    const auto& to = seen.shape();
    const auto pixel_bytes = static_cast<std::size_t>(to.channels);
    const std::ptrdiff_t across = to.channels, down = stored.row_stride_bytes();
    for (int y = 0; y < to.height; ++y) {
        // Stored position of the row's first pixel, and the distance between its neighbours there.
        int from_x = 0, from_y = 0;
        std::ptrdiff_t step_bytes = orientation.transposed ? down : across;
        if (orientation.transposed) {
            from_x = orientation.mirrored_down ? from.width - 1 - y : y;
            from_y = orientation.mirrored_across ? from.height - 1 : 0;
        } else {
            from_x = orientation.mirrored_across ? from.width - 1 : 0;
            from_y = orientation.mirrored_down ? from.height - 1 - y : y;
        }
        if (orientation.mirrored_across) step_bytes = -step_bytes;
        const auto* pixel = stored.row(0, from_y) + from_x * across;
        auto* out = seen.row(0, y);
        for (int x = 0; x < to.width; ++x, out += across) std::memcpy(out, pixel + x * step_bytes, pixel_bytes);
    }
}

}  // namespace framewire
