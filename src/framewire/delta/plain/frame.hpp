#pragma once

#include "framewire/core/error.hpp"
#include "framewire/core/view.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

/// The section "A frame" of format.md, and what all sections read from.
namespace framewire::delta::plain {

[[noreturn]] inline void broken(const char* what) {
    fail(ErrorCode::source_lost, (std::string("packed bytes are broken: ") + what).c_str());
}

inline void check(bool holds, const char* what) {
    if (!holds) broken(what);
}

inline bool between(int low, int value, int high) { return low <= value && value <= high; }

inline int clamp_between(int value, int a, int b) { return std::clamp(value, std::min(a, b), std::max(a, b)); }

inline constexpr int block_side = 64, part_side = 8;

/// A rectangle of pixels: a block in the picture or a part in its block.
struct Area {
    int x, y, width, height;
};

/// `width` x `height` cut into squares of `side`, row by row; those at the right and the lower edge are smaller.
inline std::vector<Area> cut(int width, int height, int side) {
    std::vector<Area> areas;
    for (int y = 0; y < height; y += side)
        for (int x = 0; x < width; x += side)
            areas.push_back({x, y, std::min(side, width - x), std::min(side, height - y)});
    return areas;
}

/// One picture, rows without gaps.
struct Picture {
    Shape shape;
    std::vector<std::uint8_t> bytes;

    std::size_t place(int x, int y, int channel) const {
        return static_cast<std::size_t>((std::int64_t{y} * shape.width + x) * shape.channels + channel);
    }
    std::uint8_t& at(int x, int y, int channel) { return bytes[place(x, y, channel)]; }
    /// The nearest pixel's where (x, y) is outside.
    int nearest(int x, int y, int channel) const {
        return bytes[place(std::clamp(x, 0, shape.width - 1), std::clamp(y, 0, shape.height - 1), channel)];
    }
};

/// Takes bytes from the front of a run.
struct Reader {
    std::span<const std::uint8_t> left;

    int byte() {
        check(!left.empty(), "they end too early");
        const int value = left.front();
        left = left.subspan(1);
        return value;
    }
    std::uint32_t word() {
        const int low = byte();
        return static_cast<std::uint32_t>(low + 256 * byte());
    }
    std::uint32_t two_words() {
        const auto low = word();
        return low + 65536 * word();
    }
    /// A number of the directory.
    int number() {
        int value = 0;
        for (int i = 0; i < 4; ++i) {
            const int next = byte();
            value += next % 128 << 7 * i;
            if (next < 128) return value;
        }
        broken("a number in the directory has more than 4 bytes");
    }
    std::span<const std::uint8_t> take(std::size_t count) {
        check(count <= left.size(), "they end too early");
        const auto taken = left.first(count);
        left = left.subspan(count);
        return taken;
    }
};

/// The bytes in each block; none where it is passed over.
inline std::vector<std::span<const std::uint8_t>> read_directory(Reader& reader, std::size_t blocks) {
    std::vector<int> sizes;
    while (sizes.size() < blocks) {
        const int number = reader.number();
        if (number % 2) {
            const auto passed = static_cast<std::size_t>(number / 2 + 1);
            check(passed <= blocks - sizes.size(), "the directory passes over more blocks than there are");
            sizes.insert(sizes.end(), passed, 0);
        } else {
            check(number > 0, "a block has no bytes");
            sizes.push_back(number);
        }
    }
    std::vector<std::span<const std::uint8_t>> bytes;
    for (const int size : sizes) bytes.push_back(reader.take(static_cast<std::size_t>(size)));
    check(reader.left.empty(), "there are bytes behind the last block's");
    return bytes;
}

}  // namespace framewire::delta::plain
