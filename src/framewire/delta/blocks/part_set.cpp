#include "framewire/delta/blocks/part_set.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace framewire::delta {

void clear_parts(HostView<std::uint8_t> differences, const BlockPlace& block, PartSet parts) {
    const int channels = differences.shape().channels;
    for_each_of(parts, block, [&](int left, int top, int width, int height) {
        constexpr std::size_t most = 3 * part_side;  // of most parts: a length that is known needs no call
        const auto bytes = static_cast<std::size_t>(width * channels);
        for (int y = block.y + top; y < block.y + top + height; ++y) {
            auto* const row = differences.row(0, y) + std::int64_t{block.x + left} * channels;
            if (bytes == most)
                std::memset(row, 0, most);
            else
                std::memset(row, 0, bytes);
        }
    });
}

namespace {

constexpr std::uint64_t highest = 0x8080808080808080;
/// Eight bytes each, modulo 256.
struct Plus {
    static std::uint64_t eight(std::uint64_t a, std::uint64_t b) {
        return ((a & ~highest) + (b & ~highest)) ^ ((a ^ b) & highest);
    }
    static int one(int a, int b) { return a + b; }
};
struct Minus {
    static std::uint64_t eight(std::uint64_t a, std::uint64_t b) {
        return ((a | highest) - (b & ~highest)) ^ ((a ^ ~b) & highest);
    }
    static int one(int a, int b) { return a - b; }
};

template <class Sum>
void change_parts(HostView<const std::uint8_t> tile, const BlockPlace& block, PartSet parts,
                  HostView<std::uint8_t> held) {
    const int channels = tile.shape().channels;
    for_each_of(parts, block, [&](int left, int top, int width, int height) {
        const auto from = std::int64_t{left} * channels, to = std::int64_t{block.x} * channels + from;
        for (int y = top; y < top + height; ++y) {
            const auto* more = tile.row(0, y) + from;
            auto* byte = held.row(0, block.y + y) + to;
            int i = 0;
            for (; i + 8 <= width * channels; i += 8) {
                std::uint64_t a, b;
                std::memcpy(&a, byte + i, sizeof(a));
                std::memcpy(&b, more + i, sizeof(b));
                a = Sum::eight(a, b);
                std::memcpy(byte + i, &a, sizeof(a));
            }
            for (; i < width * channels; ++i) byte[i] = static_cast<std::uint8_t>(Sum::one(byte[i], more[i]));
        }
    });
}

}  // namespace

void add_parts(HostView<const std::uint8_t> tile, const BlockPlace& block, PartSet parts, HostView<std::uint8_t> held) {
    change_parts<Plus>(tile, block, parts, held);
}
void take_parts_back(HostView<const std::uint8_t> tile, const BlockPlace& block, PartSet parts,
                     HostView<std::uint8_t> held) {
    change_parts<Minus>(tile, block, parts, held);
}

}  // namespace framewire::delta
