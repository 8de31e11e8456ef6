#pragma once

#include "framewire/core/rows.hpp"
#include "framewire/filters/gray_input.hpp"

#include <cstdint>
#include <optional>

namespace framewire {

/// A filter of the CPU that can make some rows of its result from some rows of its image, without a frame before or
/// another one beside: so that a chain of such goes through a picture while its rows are in a core's cache. All rows
/// together are what Filter::run() gives. For one frame at a time.
class RowFilter {
public:
    virtual ~RowFilter() = default;

    /// Before the rows of each frame.
    virtual void begin_rows() {}
    /// Number of rows of the result that are made at a time, such as those of a cell.
    virtual int rows_together() const { return 1; }
    /// The rows of the image that these of the result are made from.
    virtual RowRange rows_needed(const RowRange& made) const { return made; }
    /// The area in which the next frame's result may differ from its image; nothing if that may be anywhere.
    virtual std::optional<ImageArea> changed_area() const { return {}; }
    /// True if the result's three channels are equal: then run_rows() can make one of them alone.
    virtual bool gives_equal_channels() const { return false; }

    /// For a filter that only reads the gray value of each pixel: the weights. run_rows() then also takes rows of one
    /// channel, which hold it.
    virtual std::optional<GrayWeights> gray_needed() const { return {}; }

    /// Makes the rows of `out`, each once, from those of `in`, which has the rows needed. On the calling thread;
    /// several at once for other rows. No overlap.
    virtual void run_rows(const ImageRows<const std::uint8_t>& in, const ImageRows<std::uint8_t>& out) = 0;
};

}  // namespace framewire
