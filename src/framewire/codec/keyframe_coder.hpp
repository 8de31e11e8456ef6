#pragma once

#include "framewire/codec/blocks.hpp"
#include "framewire/codec/coder_tables.hpp"
#include "framewire/codec/models.hpp"
#include "framewire/core/view.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace framewire::codec {

/// Prediction of a sample in a plane: left + above - above left (`slope`), the left neighbour, or the upper neighbour.
/// The values are those of the format.
enum class Predictor : std::uint8_t { slope = 0, left = 1, above = 2 };
/// Number of predictors.
using picture_models::predictors;

/// Number in the first four bytes of a keyframe's block, which identifies its form. A delta frame's block begins with a
/// state, which is never that small.
inline constexpr std::uint32_t form_whole = 1, form_plain = 2;
/// Size of the form's number in bytes.
inline constexpr int form_bytes = 4;

/// The planes of a block in the form "whole": one for gray, else green, blue - green and red - green, modulo 256. A row
/// of zeros above each plane and a column of zeros to its left represent the samples outside the block.
class BlockPlanes {
public:
    /// Distance between rows in bytes.
    static constexpr int stride = block_side + 16;

    /// Returns the address of the first sample of a row; y is at least -1. The sample to its left is readable.
    std::uint8_t* row(int plane, int y) {
        return samples_.data() +
               (static_cast<std::size_t>(plane) * (block_side + 1) + static_cast<std::size_t>(y + 1)) * stride + 16;
    }
    /// Loads a block of a picture.
    void take(HostView<const std::uint8_t> picture, const BlockPlace& block);
    /// Stores a block to a picture.
    void give(HostView<std::uint8_t> picture, const BlockPlace& block);

private:
    std::array<std::uint8_t, 3 * (block_side + 1) * stride + 16> samples_{};
};

/// Sum of the absolute residuals of a sub-block in one plane, per predictor.
using ResidualSums = std::array<std::uint32_t, predictors>;

// In the functions below, `sample` is the first sample of a sub-block in BlockPlanes: rows are `BlockPlanes::stride`
// apart, and the row above and the column to the left are readable. Residuals are folded: 0, -1, 1, -2, 2 ... become 0,
// 1, 2, 3, 4 ...

/// Computes the sums of all sub-blocks in a row of sub-blocks that begins at `sample`. The sums of sub-blocks that are
/// partly or entirely outside the block are meaningless.
void sum_residuals(const std::uint8_t* sample, std::array<ResidualSums, parts_per_row>& sums);
/// Returns the sums of one sub-block of any size.
ResidualSums sum_residuals(const std::uint8_t* sample, int width, int height);
/// Computes the folded residuals of a sub-block, in rows without gaps.
void take_residuals(const std::uint8_t* sample, Predictor by, int width, int height, std::uint8_t* residuals);
/// Inverse of take_residuals(): reconstructs the samples in place. Neighbouring sub-blocks must be reconstructed
/// already.
void add_residuals(std::uint8_t* sample, Predictor by, int width, int height, const std::uint8_t* residuals);

/// Sub-blocks of a block in coding order, and their folded residuals in the same order.
struct PictureParts {
    /// Maximum number of sub-blocks, for three planes.
    static constexpr std::size_t most = 3 * parts_per_row * parts_per_row;
    std::array<Predictor, most> by;        ///< predictor of each sub-block
    std::array<ResidualPart, most> sizes;  ///< class and number of residuals of each sub-block
    std::array<std::uint8_t, std::size_t{3} * block_side * block_side>
        residuals;  ///< `sizes[i].count` residuals of each sub-block i, one sub-block after the other
};

/// Lossless encoder for blocks of keyframes in the forms "whole" and "plain" of format.md. Not thread-safe.
///
/// As in JPEG-LS (ITU-T T.87) and PNG, each sample is predicted from its neighbours, and the residual is coded. Unlike
/// in JPEG-LS, nothing adapts: each 8x8 sub-block signals its predictor and a class, which selects one of 12 fixed
/// models, so that all residuals can be decoded in parallel.
class PictureEncoder {
public:
    /// Appends a block of `picture` to `out`, in the shorter of the two forms.
    void encode(HostView<const std::uint8_t> picture, const BlockPlace& block, std::vector<std::uint8_t>& out);

private:
    void choose(const BlockPlace& block, int planes);

    BlockPlanes planes_;
    PictureParts parts_;
    std::vector<std::uint16_t> words_;
};

/// Decoder for blocks of keyframes in the forms "whole" and "plain". Not thread-safe.
class PictureDecoder {
public:
    /// Decodes a block and writes it to `picture`. Returns false if `bytes` are broken; the content of the block is
    /// then unspecified.
    bool decode(std::span<const std::uint8_t> bytes, const BlockPlace& block, HostView<std::uint8_t> picture);

private:
    bool decode_whole(std::span<const std::uint8_t> bytes, const BlockPlace& block, int planes);

    BlockPlanes planes_;
    PictureParts parts_;
};

}  // namespace framewire::codec
