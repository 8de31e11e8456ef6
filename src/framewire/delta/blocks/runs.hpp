#pragma once

#include "framewire/core/host_device.hpp"
#include "framewire/delta/blocks/grid.hpp"
#include "framewire/delta/entropy/models/models.hpp"

#include <cstdint>

// The form "changes in runs" of format.md. A row of a sub-block in which a run of pixels changes all channels in the
// same direction is one symbol. The magnitudes of all pixels come after the rows, coded like the residuals of
// keyframes. A decoder therefore has fewer symbols that depend on the symbol before them.

namespace framewire::delta {

/// Direction of change of the pixels in a row of a sub-block. The values are those of the format.
enum class RowKind : std::uint8_t {
    stays = 0,      ///< no pixel changes
    up = 1,         ///< all channels of all pixels go up
    down = 2,       ///< all channels of all pixels go down
    mixed = 3,      ///< anything else; coded pixel by pixel
    up_from = 4,    ///< pixels from the edge on go up, the others stay
    up_to = 5,      ///< pixels before the edge go up, the others stay
    down_from = 6,  ///< pixels from the edge on go down, the others stay
    down_to = 7     ///< pixels before the edge go down, the others stay
};

/// One row of a sub-block in runs.
struct RunRow {
    RowKind kind = RowKind::stays;
    std::uint8_t edge = 0;  ///< 1 to the row's width - 1 for kinds with an edge, else 0

    /// Returns true if the kind is followed by an edge in the stream.
    FRAMEWIRE_HOST_DEVICE static constexpr bool has_edge(RowKind kind) { return kind >= RowKind::up_from; }
    /// Returns the changed pixels of a row of `width` pixels, one bit each. Not for mixed rows.
    FRAMEWIRE_HOST_DEVICE constexpr unsigned pixels(int width) const {
        const unsigned all = (1u << width) - 1, before = (1u << edge) - 1;
        if (!has_edge(kind)) return kind == RowKind::stays ? 0 : all;
        return static_cast<int>(kind) % 2 ? before : all & ~before;
    }
    /// Variant of pixels() with 8 bits per pixel, all set or all clear; the first pixel is in the lowest byte.
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

/// Classifies a row of `width` pixels. In `changed`, `up` and `down`, bit x is set if pixel x changes, if all its
/// channels go up, and if all go down.
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
/// the same channel changes, 0 if there is none. `first`: the channel is the first in the order of coding.
FRAMEWIRE_HOST_DEVICE constexpr int part_class_model(int class_before, bool first) {
    return class_before + picture_models::classes * first;
}

/// Returns true if it is worth testing whether a block is one of runs: the changes must pay for 32 states and a class
/// per sub-block. `samples` is the number of changed samples in `parts` sub-blocks.
FRAMEWIRE_HOST_DEVICE constexpr bool may_be_runs(int samples, int parts, int channels) {
    return samples >= 1024 && samples * 2 >= parts * part_side * part_side * channels;
}
/// Returns true if the block is coded in runs: at least three quarters of the changed pixels are in rows that are not
/// mixed.
FRAMEWIRE_HOST_DEVICE constexpr bool are_runs(int pixels_in_runs, int pixels) {
    return pixels_in_runs * 4 >= pixels * 3;
}

}  // namespace framewire::delta
