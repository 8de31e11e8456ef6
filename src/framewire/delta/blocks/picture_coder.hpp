#pragma once

#include "framewire/delta/blocks/grid.hpp"
#include "framewire/delta/entropy/symbols.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace framewire::delta {

/// The planes of a block as whole blocks are coded: a gray block's own, or green, blue less green and red less green,
/// modulo 256. Above and to the left of them lie a row and a column of zeros.
class BlockPlanes {
public:
    static constexpr int stride = block_side + 16;

    std::uint8_t* row(int plane, int y) {
        return samples_.data() + (static_cast<std::size_t>(plane) * (block_side + 1) + static_cast<std::size_t>(y + 1)) *
                                     stride + 16;
    }
    void take(HostView<const std::uint8_t> picture, const BlockPlace& block);
    void give(HostView<std::uint8_t> picture, const BlockPlace& block);

private:
    std::array<std::uint8_t, 3 * (block_side + 1) * stride + 16> samples_{};
};

/// A block as it is, without loss, in the forms "whole" and "plain" of format.md.
class PictureEncoder {
public:
    /// Appends the block of `picture` to `out`.
    void encode(HostView<const std::uint8_t> picture, const BlockPlace& block, std::vector<std::uint8_t>& out);

private:
    void choose(int plane, int left, int top, int width, int height);

    BlockPlanes planes_;
    std::vector<std::uint8_t> parts_;      // of each part predictor and class, as one symbol
    std::vector<std::uint8_t> residuals_;  // folded
    std::vector<std::uint16_t> words_;
};

class PictureDecoder {
public:
    /// Whether a block's bytes are in one of these forms, and not those of a step.
    static bool is_picture(std::span<const std::uint8_t> bytes);
    /// Writes the block; false when `bytes` are broken, and what the block is then nobody knows.
    bool decode(std::span<const std::uint8_t> bytes, const BlockPlace& block, HostView<std::uint8_t> picture);

private:
    bool decode_whole(std::span<const std::uint8_t> bytes, const BlockPlace& block, int planes);

    BlockPlanes planes_;
    std::array<std::uint8_t, 3 * parts_per_row * parts_per_row> parts_;
    std::array<std::uint8_t, 3 * block_side * block_side> residuals_;
};

}  // namespace framewire::delta
