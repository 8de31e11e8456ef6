#include "framewire/delta/blocks/changes_coder.hpp"

#include "framewire/delta/blocks/step_pixels.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace framewire::delta {
namespace {

/// Whether any of `count` bytes is not 0.
bool any_of(const std::uint8_t* bytes, int count) {
    std::uint64_t any = 0, eight;
    int i = 0;
    for (; i + 8 <= count; i += 8) {
        std::memcpy(&eight, bytes + i, sizeof(eight));
        any |= eight;
    }
    for (; i < count; ++i) any |= bytes[i];
    return any != 0;
}

bool part_changes(HostView<const std::uint8_t> differences, int x, int y, int width, int height) {
    const auto channels = differences.shape().channels;
    bool any = false;
    for (int row = y; row < y + height; ++row)
        any |= any_of(differences.row(0, row) + std::int64_t{x} * channels, width * channels);
    return any;
}

/// The symbol of each folded magnitude, and the bits that follow it.
struct FoldedEntries {
    std::uint16_t symbol, bits;
};
constexpr auto folded_entries = [] {
    std::array<FoldedEntries, 2 * (max_steps + 1)> entries{};
    for (std::size_t folded = 0; folded < entries.size(); ++folded) {
        const auto token = token_of(static_cast<int>(folded));
        entries[folded] = {static_cast<std::uint16_t>(token.symbol), Symbols::bits_entry(token.value, token.bits)};
    }
    return entries;
}();

// These write the symbols of a part's row, and return where they end.

std::uint16_t* add_still(const RowSymbols& row, std::size_t pixels, std::uint16_t* entry) {
    std::memcpy(entry, row.changed.data(), sizeof(row.changed));
    return entry + pixels;
}

/// Those of a channel of a pixel, if it changes. Written in any case: whether it does nobody can guess.
std::uint16_t* add_magnitude(const RowSymbols& row, std::size_t channel, std::size_t x, bool changes,
                             std::uint16_t* entry) {
    const auto& of = folded_entries[row.folded[channel][x]];
    *entry = static_cast<std::uint16_t>(row.magnitude[channel][x] + of.symbol);
    entry += changes;
    *entry = of.bits;
    return entry + (changes && of.bits);
}

template <int channels>
std::uint16_t* add_alike(const RowSymbols& row, std::size_t pixels, std::uint16_t* entry) {
    for (std::size_t x = 0; x < pixels; ++x) {
        const auto pattern = row.pattern[x];
        entry[0] = static_cast<std::uint16_t>(row.changed[x] + 1);
        entry[1] = static_cast<std::uint16_t>(row.by[x] + (pattern == all_down));
        entry += 2;
        if constexpr (channels == 1)
            entry = add_magnitude(row, 0, x, true, entry);
        else
            for (const int channel : channel_order)
                entry = add_magnitude(row, static_cast<std::size_t>(channel), x, true, entry);
    }
    return entry;
}

template <int channels>
std::uint16_t* add_mixed(const RowSymbols& row, std::size_t pixels, std::uint16_t* entry) {
    for (std::size_t x = 0; x < pixels; ++x) {
        const auto pattern = row.pattern[x];
        *entry++ = static_cast<std::uint16_t>(row.changed[x] + (pattern != 0));
        if (!pattern) continue;
        *entry++ =
            static_cast<std::uint16_t>(row.by[x] + (channels == 1 ? pattern == all_down : pattern_ranks[pattern]));
        for (int i = 0; i < channels; ++i) {
            const auto channel = static_cast<std::size_t>(channels == 1 ? 0 : channel_order[i]);
            entry = add_magnitude(row, channel, x, pattern_signs[pattern][channel] != 0, entry);
        }
    }
    return entry;
}

}  // namespace

void clear_parts(HostView<std::uint8_t> differences, const BlockPlace& block, PartSet parts) {
    const int channels = differences.shape().channels;
    for_each_of(parts, block, [&](int left, int top, int width, int height) {
        for (int y = block.y + top; y < block.y + top + height; ++y)
            std::memset(differences.row(0, y) + std::int64_t{block.x + left} * channels, 0,
                        static_cast<std::size_t>(width * channels));
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

void ChangesEncoder::encode(HostView<std::uint8_t> differences, std::span<const BlockPlace> blocks, int threshold,
                            std::vector<std::uint8_t>& out, std::span<std::size_t> sizes) {
    while (!blocks.empty()) {
        const auto count = std::min(at_once, blocks.size());
        for (std::size_t i = 0; i < count; ++i) add_block(differences, blocks[i], threshold, symbols_[i]);
        Symbols::write(std::span(symbols_).first(count), out, sizes.first(count));
        blocks = blocks.subspan(count);
        sizes = sizes.subspan(count);
    }
}

void ChangesEncoder::add_block(HostView<std::uint8_t> differences, const BlockPlace& block, int threshold,
                               Symbols& symbols) {
    symbols.clear();
    CodedParts modes;
    PartSet parts = 0;
    for (int row = 0; row < block.part_rows(); ++row)
        for (int column = 0; column < block.part_columns(); ++column) {
            const int left = column * part_side, top = row * part_side;
            const bool any =
                part_changes(differences, block.x + left, block.y + top, std::min(part_side, block.width - left),
                             std::min(part_side, block.height - top));
            const auto mode = any ? PartMode::changes : PartMode::stays;
            symbols.add(modes.mode_model(column, row) + static_cast<int>(mode));
            modes.set(column, row, mode);
            if (!any) continue;
            parts |= part_bit(column, row);
            if (differences.shape().channels == 1)
                add_part<1>(differences, block, threshold, left, top, symbols);
            else
                add_part<3>(differences, block, threshold, left, top, symbols);
        }
    for_each_of(parts, block, [&](int left, int top, int, int) { planes_.clear_part(left, top); });
    clear_parts(differences, block, parts);
}

template <int channels>
void ChangesEncoder::add_part(HostView<const std::uint8_t> differences, const BlockPlace& block, int threshold,
                              int left, int top, Symbols& symbols) {
    const int width = std::min(part_side, block.width - left), height = std::min(part_side, block.height - top);
    PartSymbols part;
    find_part_symbols(differences, block, threshold, left, top, planes_, part);
    for (int y = 0; y < height; ++y) {
        const auto& row = part[static_cast<std::size_t>(y)];
        constexpr std::size_t most_each = 2 + 2 * channels;
        const auto pixels = static_cast<std::size_t>(width);
        auto* const entry = symbols.room(part_side * most_each);
        // What pixels do nobody can guess, what rows do rather.
        symbols.take(row.kind == RowKind::stays   ? add_still(row, pixels, entry)
                     : row.kind == RowKind::alike ? add_alike<channels>(row, pixels, entry)
                                                  : add_mixed<channels>(row, pixels, entry));
    }
}

}  // namespace framewire::delta
