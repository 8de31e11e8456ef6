#include "framewire/delta/blocks/changes_coder.hpp"

#include <algorithm>
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

void add_parts(HostView<const std::uint8_t> differences, const BlockPlace& block, PartSet parts,
               HostView<std::uint8_t> held) {
    const int channels = differences.shape().channels;
    for_each_of(parts, block, [&](int left, int top, int width, int height) {
        const auto from = std::int64_t{block.x + left} * channels;
        for (int y = block.y + top; y < block.y + top + height; ++y) {
            const auto* more = differences.row(0, y) + from;
            auto* byte = held.row(0, y) + from;
            int i = 0;
            for (; i + 8 <= width * channels; i += 8) {
                constexpr std::uint64_t highest = 0x8080808080808080;
                std::uint64_t a, b;
                std::memcpy(&a, byte + i, sizeof(a));
                std::memcpy(&b, more + i, sizeof(b));
                a = ((a & ~highest) + (b & ~highest)) ^ ((a ^ b) & highest);
                std::memcpy(byte + i, &a, sizeof(a));
            }
            for (; i < width * channels; ++i) byte[i] = static_cast<std::uint8_t>(byte[i] + more[i]);
        }
    });
}

void ChangesEncoder::encode(HostView<std::uint8_t> differences, std::span<const ChangedBlock> blocks, int threshold,
                            std::vector<std::uint8_t>& out, std::span<std::size_t> sizes) {
    for (std::size_t i = 0; i < blocks.size(); ++i) add_block(differences, blocks[i], threshold, symbols_[i]);
    Symbols::write(std::span(symbols_).first(blocks.size()), out, sizes);
}

void ChangesEncoder::add_block(HostView<std::uint8_t> differences, const ChangedBlock& of, int threshold,
                               Symbols& symbols) {
    const auto& [block, parts] = of;
    symbols.clear();
    CodedParts modes;
    for (int row = 0; row < block.part_rows(); ++row)
        for (int column = 0; column < block.part_columns(); ++column) {
            const bool any = (parts & part_bit(column, row)) != 0;
            const auto mode = any ? PartMode::changes : PartMode::stays;
            symbols.add(modes.mode_model(column, row) + static_cast<int>(mode));
            modes.set(column, row, mode);
            if (any)
                add_part_entries(differences, block, threshold, column * part_side, row * part_side, planes_, symbols);
        }
    for_each_of(parts, block, [&](int left, int top, int, int) { planes_.clear_part(left, top); });
    clear_parts(differences, block, parts);
}

}  // namespace framewire::delta
