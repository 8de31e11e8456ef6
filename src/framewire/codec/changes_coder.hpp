#pragma once

#include "framewire/codec/blocks.hpp"
#include "framewire/codec/models.hpp"
#include "framewire/codec/prediction.hpp"
#include "framewire/codec/sub_block_contexts.hpp"
#include "framewire/codec/symbols.hpp"
#include "framewire/core/view.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace framewire::codec {

/// Codes the sub-block at (left, top) of a block of changes: computes its steps from the differences of the frame,
/// stores them in `planes`, and adds the symbols of its pixels to `symbols`. `planes` must contain the sub-blocks coded
/// before.
void add_part_entries(HostView<const std::uint8_t> differences, const BlockPlace& block, int threshold, int left,
                      int top, StepPlanes& planes, Symbols& symbols);

/// Position of a sub-block in its block in pixels, its size, and how its steps are coded.
struct QuantizedPlace {
    int left, top, width, height;
    Predicted by;  ///< source of the prediction
    bool fine;     ///< result of Quantizer::fine()
};
/// Adds the symbols of the pixels of a sub-block that is predicted with steps, and stores the steps in `planes`, which
/// must contain the sub-blocks coded before. SIMD version of what PredictionEncoder does pixel by pixel.
void add_quantized_entries(const QuantizedPart& part, const QuantizedPlace& at, int channels, StepPlanes& planes,
                           Symbols& symbols);

}  // namespace framewire::codec

// The form "changes in runs" of format.md. If a run of pixels in a row of a sub-block changes all channels in the same
// direction, the row is a single symbol. The magnitudes of all pixels follow after all rows, coded like the residuals
// of keyframes. A decoder thus reads fewer symbols that depend on the previous symbol.

namespace framewire::codec {

/// Kind of a row of a sub-block: which of its pixels change, and in which direction. The values are those of the
/// format.
enum class RowKind : std::uint8_t {
    stays = 0,      ///< no pixel changes
    up = 1,         ///< all channels of all pixels go up
    down = 2,       ///< all channels of all pixels go down
    mixed = 3,      ///< anything else; coded pixel by pixel
    up_from = 4,    ///< pixels at and after the edge go up, the others are unchanged
    up_to = 5,      ///< pixels before the edge go up, the others are unchanged
    down_from = 6,  ///< pixels at and after the edge go down, the others are unchanged
    down_to = 7     ///< pixels before the edge go down, the others are unchanged
};

/// One row of a sub-block in runs.
struct RunRow {
    RowKind kind = RowKind::stays;
    std::uint8_t edge = 0;  ///< 1 to the row's width - 1 if the kind has an edge, else 0

    /// Returns true if a row of this kind has an edge, which follows the kind in the stream.
    FRAMEWIRE_HOST_DEVICE static constexpr bool has_edge(RowKind kind) { return kind >= RowKind::up_from; }
    /// Returns the changed pixels of a row of `width` pixels as bits. Not for mixed rows.
    FRAMEWIRE_HOST_DEVICE constexpr unsigned pixels(int width) const {
        const unsigned all = (1u << width) - 1, before = (1u << edge) - 1;
        if (!has_edge(kind)) return kind == RowKind::stays ? 0 : all;
        return static_cast<int>(kind) % 2 ? before : all & ~before;
    }
    /// Variant of pixels() with a byte of 0 or 255 per pixel; the first pixel is in the lowest byte.
    FRAMEWIRE_HOST_DEVICE constexpr std::uint64_t bytes(int width) const {
        const auto all = ~std::uint64_t{0} >> (8 * (part_side - width));
        if (!has_edge(kind)) return kind == RowKind::stays ? 0 : all;
        const auto before = ~std::uint64_t{0} >> (8 * (part_side - edge));
        return static_cast<int>(kind) % 2 ? before : all & ~before;
    }
    /// Returns true if the changed pixels go down.
    FRAMEWIRE_HOST_DEVICE constexpr bool goes_down() const {
        return kind == RowKind::down || kind >= RowKind::down_from;
    }

    /// Returns the number of the row model. `above` is the row above in the same column of sub-blocks, `direction_left`
    /// the direction (D of format.md) of the pixel to the left of the row's first one.
    FRAMEWIRE_HOST_DEVICE static constexpr int model(const RunRow& above, int direction_left) {
        return static_cast<int>(above.kind) + 8 * direction_left;
    }
    /// Returns the number of the edge model.
    FRAMEWIRE_HOST_DEVICE constexpr int edge_model(const RunRow& above) const {
        return kind == above.kind ? above.edge : 0;
    }
};

/// Returns the kind and edge of a row of `width` pixels. Bit x of `changed` is set if pixel x changes, bit x of `up` if
/// all its channels go up, and bit x of `down` if all go down.
FRAMEWIRE_HOST_DEVICE constexpr RunRow run_row(unsigned changed, unsigned up, unsigned down, int width) {
    if (!changed) return {};
    if (changed != up && changed != down) return {RowKind::mixed, 0};
    const bool goes_down = changed == down;
    const unsigned all = (1u << width) - 1, stays = all & ~changed;
    if (!stays) return {goes_down ? RowKind::down : RowKind::up, 0};
    const bool is_to = (changed & (changed + 1)) == 0, is_from = (stays & (stays + 1)) == 0;
    if (!is_to && !is_from) return {RowKind::mixed, 0};
    std::uint8_t edge = 0;
    for (auto low = is_to ? changed : stays; low; low >>= 1) ++edge;
    return {is_to       ? goes_down ? RowKind::down_to : RowKind::up_to
            : goes_down ? RowKind::down_from
                        : RowKind::up_from,
            edge};
}

/// Returns the number of the model for a sub-block's class. `class_before` is the class of the last sub-block in which
/// the same channel changes, or 0 if there is none. `first`: whether the channel is the first in coding order.
FRAMEWIRE_HOST_DEVICE constexpr int part_class_model(int class_before, bool first) {
    return class_before + picture_models::classes * first;
}

/// Returns true if it is worth trying to code a block in runs: it must have enough changes to outweigh 32 states and a
/// class per sub-block. `samples` is the number of changed samples in `parts` sub-blocks.
FRAMEWIRE_HOST_DEVICE constexpr bool may_be_runs(int samples, int parts, int channels) {
    return samples >= 1024 && samples * 2 >= parts * part_side * part_side * channels;
}
/// Returns true if the block should be coded in runs, which requires that at least three quarters of its changed pixels
/// are in rows that are not mixed.
FRAMEWIRE_HOST_DEVICE constexpr bool are_runs(int pixels_in_runs, int pixels) {
    return pixels_in_runs * 4 >= pixels * 3;
}

/// State and result of coding a sub-block in runs, without the symbols of its rows.
struct RunsPart {
    RunRow above;  ///< in: the last row of the sub-block above; out: the last row of this one
    /// Sums over sub-blocks: number of changed pixels, and number of those in rows that are not mixed.
    int pixels = 0, pixels_in_runs = 0;
    /// Magnitudes of one channel. `folded` has room for a whole SIMD vector after the last magnitude.
    struct Channel {
        std::uint8_t folded[part_side * part_side +
                            part_side];  ///< folded magnitudes of the pixels in which the channel changes
        int count;                       ///< number of folded magnitudes
        std::uint32_t off;               ///< sum of the differences between actual and expected magnitudes
    };
    std::array<Channel, 3> channels;  ///< in coding order
};
/// Variant of add_part_entries() for blocks in runs: adds only the symbols of the sub-block's rows, and stores the
/// magnitudes in `part`, because they are written at the end of the block.
void add_part_runs(HostView<const std::uint8_t> differences, const BlockPlace& block, int threshold, int left, int top,
                   StepPlanes& planes, RunsPart& part, Symbols& symbols);

/// A block and its changed sub-blocks.
struct ChangedBlock {
    BlockPlace place;  ///< position in the frame
    PartSet parts;     ///< the changed sub-blocks
    int samples;       ///< number of changed samples
};

/// Encoder for the forms "changes" and "changes in runs" of format.md. It needs only the differences, not the pictures.
/// Not thread-safe; keeps its memory between calls.
class ChangesEncoder {
public:
    /// Codes at most `at_once` blocks, appends them to `out`, and writes their sizes to `sizes`. `differences` has the
    /// shape of the frame, without gaps between rows, and holds the new value minus the old one, modulo 256, for each
    /// byte; each nonzero difference must exceed `threshold`. Clears the differences of the changed sub-blocks.
    void encode(HostView<std::uint8_t> differences, std::span<const ChangedBlock> blocks, int threshold,
                std::vector<std::uint8_t>& out, std::span<std::size_t> sizes);

    /// Maximum number of blocks per call of encode(), which interleaves their rANS states.
    static constexpr std::size_t at_once = 8;

private:
    void add_block(HostView<const std::uint8_t> differences, const ChangedBlock& of, int threshold, Symbols& symbols);
    /// Tries to code the block in runs. Returns false and leaves `symbols` empty if too few of its pixels are in runs.
    bool add_runs(HostView<const std::uint8_t> differences, const ChangedBlock& of, int threshold, Symbols& symbols);

    StepPlanes planes_;
    RunsPart runs_part_;
    std::array<Symbols, at_once> symbols_;
};

/// View of the differences of one sub-block.
struct PartDifferences {
    const std::uint8_t* first;                     ///< first byte of the sub-block
    std::ptrdiff_t row_stride;                     ///< bytes between rows
    int channels, width, height, threshold, x, y;  ///< (x, y) is the position of the sub-block in the block, in pixels
};

/// Returns a view of the sub-block at (left, top) of `block` in the differences of the whole frame.
inline PartDifferences part_of(HostView<const std::uint8_t> differences, const BlockPlace& block, int threshold,
                               int left, int top) {
    const int channels = differences.shape().channels;
    return {differences.row(0, block.y + top) + static_cast<std::ptrdiff_t>(block.x + left) * channels,
            static_cast<std::ptrdiff_t>(differences.row_stride_bytes()),
            channels,
            std::min(part_side, block.width - left),
            std::min(part_side, block.height - top),
            threshold,
            left,
            top};
}

/// Returns the maximum number of entries of a sub-block, plus room for a whole SIMD vector after the last entry.
inline std::size_t most_part_entries(int channels) {
    return static_cast<std::size_t>(part_side * part_side * (2 + 2 * channels) + part_side);
}

}  // namespace framewire::codec
