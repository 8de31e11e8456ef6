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

/// Sub-blocks of a block in the order of coding, and their folded residuals in the same order.
struct PictureParts {
    /// Maximum number of sub-blocks: those of three planes.
    static constexpr std::size_t most = 3 * parts_per_row * parts_per_row;
    std::array<Predictor, most> by;        ///< predictor of each sub-block
    std::array<ResidualPart, most> sizes;  ///< class and number of residuals of each sub-block
    std::array<std::uint8_t, std::size_t{3} * block_side * block_side>
        residuals;  ///< `sizes[i].count` numbers per sub-block, one after the other
};

/// Lossless encoder for blocks of keyframes, in the forms "whole" and "plain" of format.md. Not thread-safe.
///
/// The idea is that of JPEG-LS (ITU-T T.87) and PNG: predict each sample from its neighbours and code the residual.
/// Here each 8x8 sub-block signals its predictor and a class, which selects one of 12 fixed models, so that nothing
/// adapts and all residuals can be decoded in parallel.
class PictureEncoder {
public:
    /// Appends a block of `picture` to `out`, in the shorter one of the two forms.
    void encode(HostView<const std::uint8_t> picture, const BlockPlace& block, std::vector<std::uint8_t>& out);

private:
    void choose(const BlockPlace& block, int planes);

    BlockPlanes planes_;
    PictureParts parts_;
    std::vector<std::uint16_t> words_;
};

/// Decoder for the same forms. Not thread-safe.
class PictureDecoder {
public:
    /// Returns true if the bytes begin like one of these forms, and not like a block of a delta frame.
    static bool is_picture(std::span<const std::uint8_t> bytes);
    /// Writes a block to `picture`. Returns false if `bytes` are broken; the content of the block is then unspecified.
    bool decode(std::span<const std::uint8_t> bytes, const BlockPlace& block, HostView<std::uint8_t> picture);

private:
    bool decode_whole(std::span<const std::uint8_t> bytes, const BlockPlace& block, int planes);

    BlockPlanes planes_;
    PictureParts parts_;
};

}  // namespace framewire::delta
