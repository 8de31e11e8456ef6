#include "framewire/codec/blocks.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>

// Functions that copy blocks, and that clear, add and subtract the differences of sub-blocks. Addition and subtraction
// process runs of adjacent sub-blocks in SIMD vectors.

namespace framewire::codec {

void copy_block(HostView<const std::uint8_t> from, HostView<std::uint8_t> to, const BlockPlace& block) {
    const auto channels = std::int64_t{to.shape().channels};
    for (int y = block.y; y < block.y + block.height; ++y)
        std::memcpy(to.row(0, y) + block.x * channels, from.row(0, y) + block.x * channels,
                    static_cast<std::size_t>(block.width * channels));
}

void clear_parts(HostView<std::uint8_t> differences, const BlockPlace& block, PartSet parts) {
    const int channels = differences.shape().channels;
    for_each_of(parts, block, [&](int left, int top, int width, int height) {
        constexpr std::size_t most =
            3 * part_side;  // the usual length, for which the compiler inlines memset, because it is constant
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

using Sixteen [[gnu::vector_size(16)]] = std::uint8_t;
using Eight [[gnu::vector_size(8)]] = std::uint8_t;

// Replaces the bytes at `to` by `sum` of themselves and those at `more`, modulo 256, for one vector of type `Bytes`.
template <class Bytes, class Sum>
void change(std::uint8_t* to, const std::uint8_t* more, Sum sum) {
    Bytes a, b;
    std::memcpy(&a, to, sizeof(a));
    std::memcpy(&b, more, sizeof(b));
    a = sum(a, b);
    std::memcpy(to, &a, sizeof(a));
}

// Replaces the bytes of sub-blocks by `sum` of themselves and the differences, in vectors of 16 and 8 bytes and then
// bytewise.
template <class Sum>
void change_parts(HostView<const std::uint8_t> tile, const BlockPlace& block, PartSet parts,
                  HostView<std::uint8_t> held, Sum sum) {
    const int channels = tile.shape().channels;
    for_each_run_of(parts, block, [&](int left, int top, int width, int height) {
        const auto from = std::int64_t{left} * channels, to = std::int64_t{block.x} * channels + from;
        const int bytes = width * channels;
        for (int y = top; y < top + height; ++y) {
            const auto* const more = tile.row(0, y) + from;
            auto* const byte = held.row(0, block.y + y) + to;
            int i = 0;
            for (; i + 16 <= bytes; i += 16) change<Sixteen>(byte + i, more + i, sum);
            for (; i + 8 <= bytes; i += 8) change<Eight>(byte + i, more + i, sum);
            for (; i < bytes; ++i) byte[i] = static_cast<std::uint8_t>(sum(byte[i], more[i]));
        }
    });
}

}  // namespace

void add_parts(HostView<const std::uint8_t> tile, const BlockPlace& block, PartSet parts, HostView<std::uint8_t> held) {
    change_parts(tile, block, parts, held, std::plus<>());
}
void take_parts_back(HostView<const std::uint8_t> tile, const BlockPlace& block, PartSet parts,
                     HostView<std::uint8_t> held) {
    change_parts(tile, block, parts, held, std::minus<>());
}

}  // namespace framewire::codec
