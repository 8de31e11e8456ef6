#pragma once

#include "framewire/delta/plain/symbols.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

// Section "Pictures" of format.md.
namespace framewire::delta::plain {

/// One plane of a block. Samples outside of it are 0.
struct Plane {
    Area block;
    std::array<std::array<std::uint8_t, block_side>, block_side> samples{};

    /// Returns a sample.
    int at(int x, int y) const { return x < 0 || y < 0 ? 0 : samples[std::size_t(y)][std::size_t(x)]; }
    /// Returns the prediction of a sample.
    int foretold(int predictor, int x, int y) const {
        if (predictor == 0) return at(x - 1, y) + at(x, y - 1) - at(x - 1, y - 1);
        return predictor == 1 ? at(x - 1, y) : at(x, y - 1);
    }
};

/// Reads the number f of a residual of a class.
inline int read_folded(Symbols& symbols, int part_class) {
    const auto& models = picture_models();
    if (part_class >= 8) return symbols.symbol(models.large_residual[std::size_t(part_class - 8)]);
    const int f = symbols.symbol(models.small_residual[std::size_t(part_class)]);
    return f == 32 ? symbols.bits(8) : f;
}

/// Reads a residual.
inline int read_residual(Symbols& symbols, int part_class) {
    const int f = read_folded(symbols, part_class);
    return f % 2 ? -(f + 1) / 2 : f / 2;
}

/// Predictor and class of a sub-block.
struct Coding {
    int predictor, part_class;
};

/// Reads predictor and class of all sub-blocks in all planes.
inline std::vector<Coding> read_codings(Symbols& symbols, const Area& block, int planes) {
    std::vector<Coding> codings;
    int part_class = 0;
    for (std::size_t i = 0; i < std::size_t(planes) * cut(block.width, block.height, part_side).size(); ++i) {
        const int symbol = symbols.symbol(picture_models().part[std::size_t(part_class)]);
        part_class = symbol % 12;
        codings.push_back({symbol / 12, part_class});
    }
    return codings;
}

/// Number of states for residuals.
inline constexpr std::size_t lanes = 32;

/// Reads a block in the form "whole". Residuals come from the 32 `symbols` in rotation.
template <class From>
void read_whole(const std::vector<Coding>& codings, std::vector<From>& symbols, const Area& block, Picture& picture) {
    const int planes = picture.shape.channels;
    std::vector<Plane> samples(std::size_t(planes), Plane{block});
    std::size_t coded_parts = 0, coded_samples = 0;
    for (auto& plane : samples)
        for (const auto& part : cut(block.width, block.height, part_side)) {
            const auto [predictor, part_class] = codings[coded_parts++];
            for (int y = part.y; y < part.y + part.height; ++y)
                for (int x = part.x; x < part.x + part.width; ++x) {
                    const int residual = read_residual(symbols[coded_samples++ % lanes], part_class);
                    plane.samples[std::size_t(y)][std::size_t(x)] =
                        static_cast<std::uint8_t>(residual + plane.foretold(predictor, x, y));
                }
        }
    for (int y = 0; y < block.height; ++y)
        for (int x = 0; x < block.width; ++x) {
            const int g = samples[0].at(x, y);
            const auto set = [&](int c, int value) {
                picture.at(block.x + x, block.y + y, c) = static_cast<std::uint8_t>(value);
            };
            if (planes == 1) {
                set(0, g);
            } else {
                set(0, samples[1].at(x, y) + g);
                set(1, g);
                set(2, samples[2].at(x, y) + g);
            }
        }
}

/// Reads a block in the form "plain".
inline void read_plain(Reader& reader, const Area& block, Picture& picture) {
    for (int y = 0; y < block.height; ++y)
        for (int x = 0; x < block.width; ++x)
            for (int c = 0; c < picture.shape.channels; ++c)
                picture.at(block.x + x, block.y + y, c) = static_cast<std::uint8_t>(reader.byte());
    if (block.width * block.height * picture.shape.channels % 2) reader.byte();
}

}  // namespace framewire::delta::plain
