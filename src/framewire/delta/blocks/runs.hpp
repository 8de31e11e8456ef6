#pragma once

#include "framewire/core/host_device.hpp"
#include "framewire/delta/blocks/grid.hpp"
#include "framewire/delta/entropy/models/models.hpp"

#include <cstdint>

// The form "changes in runs" of format.md: rows of parts in which a run of pixels changes all channels the same way are
// told as such, and the magnitudes of all pixels come behind, coded as residuals of pictures are. So few symbols wait
// for each other.

namespace framewire::delta {

/// How the pixels of a part's row change.
enum class RowKind : std::uint8_t {
    stays = 0,
    up = 1,         ///< all channels of all pixels
    down = 2,       ///< likewise
    mixed = 3,      ///< pixel by pixel
    up_from = 4,    ///< pixels from the edge on go up, those before it stay
    up_to = 5,      ///< pixels before the edge go up, the others stay
    down_from = 6,  ///< likewise
    down_to = 7
};

struct RunRow {
    RowKind kind = RowKind::stays;
    std::uint8_t edge = 0;  ///< of kinds with one, 1 to the row's width - 1; else 0

    FRAMEWIRE_HOST_DEVICE static constexpr bool has_edge(RowKind kind) { return kind >= RowKind::up_from; }
    /// Which pixels a run covers, a bit each. Not of mixed rows.
    FRAMEWIRE_HOST_DEVICE constexpr unsigned pixels(int width) const {
        const unsigned all = (1u << width) - 1, before = (1u << edge) - 1;
        if (!has_edge(kind)) return kind == RowKind::stays ? 0 : all;
        return static_cast<int>(kind) % 2 ? before : all & ~before;
    }
    /// The same as all bits of a byte each, the first pixel's in the lowest.
    FRAMEWIRE_HOST_DEVICE constexpr std::uint64_t bytes(int width) const {
        const auto all = ~std::uint64_t{0} >> (8 * (part_side - width));
        if (!has_edge(kind)) return kind == RowKind::stays ? 0 : all;
        const auto before = ~std::uint64_t{0} >> (8 * (part_side - edge));
        return static_cast<int>(kind) % 2 ? before : all & ~before;
    }
    /// Whether those go down.
    FRAMEWIRE_HOST_DEVICE constexpr bool goes_down() const {
        return kind == RowKind::down || kind >= RowKind::down_from;
    }

    /// By which model a row is coded: by the one above it in its part's column, and which way the pixel to the left of
    /// its first one goes (D of format.md).
    FRAMEWIRE_HOST_DEVICE static constexpr int model(const RunRow& above, int direction_left) {
        return static_cast<int>(above.kind) + 8 * direction_left;
    }
    FRAMEWIRE_HOST_DEVICE constexpr int edge_model(const RunRow& above) const {
        return kind == above.kind ? above.edge : 0;
    }
};

/// A row of `width` pixels. Bits say which of them change, and which of those go up, or down, with all channels.
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

/// The model of a part's class: by that of the part coded before in which the same channel changes, 0 before the first.
/// `first`: the channel is the first in the order of coding.
FRAMEWIRE_HOST_DEVICE constexpr int part_class_model(int class_before, bool first) {
    return class_before + picture_models::classes * first;
}

/// Whether an encoder looks if a block is one of runs: 32 states and a class for each part have to pay. `samples`: how
/// many change, in `parts` parts.
FRAMEWIRE_HOST_DEVICE constexpr bool may_be_runs(int samples, int parts, int channels) {
    return samples >= 1024 && samples * 2 >= parts * part_side * part_side * channels;
}
/// Whether it is one: of the pixels that change most do so in rows that are not mixed.
FRAMEWIRE_HOST_DEVICE constexpr bool are_runs(int pixels_in_runs, int pixels) {
    return pixels_in_runs * 4 >= pixels * 3;
}

}  // namespace framewire::delta
