#pragma once

#include "framewire/core/rows/image_rows.hpp"
#include "framewire/filters/gray_input/gray_weights.hpp"

#include <cstdint>
#include <optional>

namespace framewire {

/// A CPU filter that can make some rows of its result from some rows of its image, without the previous frame. A chain
/// of such filters runs through a frame while its rows are in a core's cache. The rows together equal the result of
/// Filter::run(). For one frame at a time.
class RowFilter {
public:
    virtual ~RowFilter() = default;

    /// Call before the rows of each frame.
    virtual void begin_rows() {}
    /// Height, in rows, of the groups in which the result is made, counted from its first row: the height of a cell.
    virtual int rows_together() const { return 1; }
    /// The rows of the image from which the rows `made` of the result are computed.
    virtual RowRange rows_needed(const RowRange& made) const { return made; }
    /// The area in which the next frame's result may differ from its image; nothing if that may be anywhere.
    virtual std::optional<ImageArea> changed_area() const { return {}; }
    /// True if the result's three channels are equal. run_rows() can then make one of them alone.
    virtual bool gives_equal_channels() const { return false; }

    /// For a filter that only reads the gray value of each pixel: the weights. run_rows() then also takes rows of one
    /// channel, which hold it.
    virtual std::optional<GrayWeights> gray_needed() const { return {}; }

    /// Makes the rows of `out`, each once, from `in`, which holds the rows needed. Runs on the calling thread; several
    /// threads may make different rows at once. `in` and `out` must not overlap.
    virtual void run_rows(const ImageRows<const std::uint8_t>& in, const ImageRows<std::uint8_t>& out) = 0;
};

}  // namespace framewire
