#pragma once

#include "framewire/core/error.hpp"
#include "framewire/core/view.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

// Section "A frame" of format.md, and the input that all sections read.
namespace framewire::delta::plain {

/// Throws Error{source_lost} with a reason.
[[noreturn]] inline void broken(const char* what) {
    fail(ErrorCode::source_lost, (std::string("packed bytes are broken: ") + what).c_str());
}

/// Throws Error{source_lost} unless a condition holds.
inline void check(bool holds, const char* what) {
    if (!holds) broken(what);
}

/// Returns true if low <= value <= high.
inline bool between(int low, int value, int high) { return low <= value && value <= high; }

/// Clamps `value` to the range between `a` and `b`, in either order.
inline int clamp_between(int value, int a, int b) { return std::clamp(value, std::min(a, b), std::max(a, b)); }

/// Sides of blocks and sub-blocks in pixels.
inline constexpr int block_side = 64, part_side = 8;

/// A rectangle of pixels: a block in the picture, or a sub-block in its block.
struct Area {
    int x, y, width, height;
};

/// Divides an area of `width` x `height` into squares of `side`, row by row; those at the right and the lower edge may
/// be smaller.
inline std::vector<Area> cut(int width, int height, int side) {
    std::vector<Area> areas;
    for (int y = 0; y < height; y += side)
        for (int x = 0; x < width; x += side)
            areas.push_back({x, y, std::min(side, width - x), std::min(side, height - y)});
    return areas;
}

/// A picture in rows without gaps.
struct Picture {
    Shape shape;
    std::vector<std::uint8_t> bytes;

    /// Returns the index of a sample.
    std::size_t place(int x, int y, int channel) const {
        return static_cast<std::size_t>((std::int64_t{y} * shape.width + x) * shape.channels + channel);
    }
    /// Returns a sample.
    std::uint8_t& at(int x, int y, int channel) { return bytes[place(x, y, channel)]; }
    /// Returns a sample of the pixel nearest to (x, y), which may be outside the picture.
    int nearest(int x, int y, int channel) const {
        return bytes[place(std::clamp(x, 0, shape.width - 1), std::clamp(y, 0, shape.height - 1), channel)];
    }
};

/// Reads bytes and numbers from the front of `left`. Throws Error{source_lost} at the end.
struct Reader {
    std::span<const std::uint8_t> left;

    /// Reads a byte.
    int byte() {
        check(!left.empty(), "they end too early");
        const int value = left.front();
        left = left.subspan(1);
        return value;
    }
    /// Reads a word of 16 bits.
    std::uint32_t word() {
        const int low = byte();
        return static_cast<std::uint32_t>(low + 256 * byte());
    }
    /// Reads two words, the low one first.
    std::uint32_t two_words() {
        const auto low = word();
        return low + 65536 * word();
    }
    /// Reads a number of the directory.
    int number() {
        int value = 0;
        for (int i = 0; i < 4; ++i) {
            const int next = byte();
            value += next % 128 << 7 * i;
            if (next < 128) return value;
        }
        broken("a number in the directory has more than 4 bytes");
    }
    /// Returns the next `count` bytes.
    std::span<const std::uint8_t> take(std::size_t count) {
        check(count <= left.size(), "they end too early");
        const auto taken = left.first(count);
        left = left.subspan(count);
        return taken;
    }
};

/// Reads the directory and returns the bytes of each block; empty for skipped blocks.
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
