#pragma once

#include "framewire/delta/blocks/grid.hpp"
#include "framewire/delta/entropy/lanes.hpp"
#include "framewire/delta/pictures/planes.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace framewire::delta {

/// The parts of a block in the order in which they are coded, and their residuals, folded, in the same order.
struct PictureParts {
    static constexpr std::size_t most = 3 * parts_per_row * parts_per_row;
    std::array<Predictor, most> by;
    std::array<ResidualPart, most> sizes;
    std::array<std::uint8_t, std::size_t{3} * block_side * block_side> residuals;
};

/// A block as it is, without loss, in the forms "whole" and "plain" of format.md.
class PictureEncoder {
public:
    /// Appends the block of `picture` to `out`.
    void encode(HostView<const std::uint8_t> picture, const BlockPlace& block, std::vector<std::uint8_t>& out);

private:
    void choose(const BlockPlace& block, int planes);

    BlockPlanes planes_;
    PictureParts parts_;
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
    PictureParts parts_;
};

}  // namespace framewire::delta
