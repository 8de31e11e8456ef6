#pragma once

#include "framewire/core/rows.hpp"
#include "framewire/filters/gray_input.hpp"

#include <cstdint>
#include <optional>

namespace framewire {

/// A CPU filter that can compute some rows of its result from some rows of one frame, without a previous frame or a
/// second image. A chain of such filters processes a picture while its rows are in a core's cache. All rows together
/// equal the result of Filter::run(). The filter processes one frame at a time.
class RowFilter {
public:
    virtual ~RowFilter() = default;

    /// Called before the rows of each frame.
    virtual void begin_rows() {}
    /// Returns the number of result rows that are computed at a time, such as the rows of a cell.
    virtual int rows_together() const { return 1; }
    /// Returns the image rows that are needed to compute the result rows `made`.
    virtual RowRange rows_needed(const RowRange& made) const { return made; }
    /// Returns true if the result's three channels are equal; run_rows() can then compute only one of them.
    virtual bool gives_equal_channels() const { return false; }

    /// Returns the weights if the filter reads only the gray value of each pixel; run_rows() then also accepts rows of
    /// one channel with the gray values.
    virtual std::optional<GrayWeights> gray_needed() const { return {}; }

    /// Computes the rows of `out`, each once, from those of `in`, which include the rows needed. Runs on the calling
    /// thread; several threads may call it at once for different rows. Memory must not overlap.
    virtual void run_rows(const ImageRows<const std::uint8_t>& in, const ImageRows<std::uint8_t>& out) = 0;
};

}  // namespace framewire
