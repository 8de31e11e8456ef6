#pragma once

#include "framewire/core/view.hpp"
#include "framewire/cuda/executor.hpp"
#include "framewire/filters/mosaic/mosaic.hpp"
#include "framewire/pipeline/frames/frame.hpp"

#include <cstdint>
#include <vector>

namespace framewire {

/// Parts of pictures that are hidden in them, before anything else is done with them: under cells of a mosaic, each its
/// mean as of the filter `mosaic`, zone by zone, and then in black. On every backend the same bytes. Does not change.
class HiddenZones {
public:
    HiddenZones() = default;
    /// For pictures of `frame`, which the zones lie in. Throws Error{usage} on a zone that does not.
    HiddenZones(std::vector<Zone> mosaic, std::vector<Zone> black, const Shape& frame);

    bool empty() const { return mosaic_.empty() && black_.empty(); }
    /// Side of a cell: a fortieth of the picture's longer side, and 16 at least.
    static int cell_px(const Shape& frame);

    /// Hides them where the frame's picture is, before it goes up. Device: queued on the executor's stream.
    void run(Frame& frame, const Executor& executor) const;
    /// In place; of the shape said before. Host: returns when done. Device: queued.
    void run(HostView<std::uint8_t> picture) const;
    void run(DeviceView<std::uint8_t> picture, const cuda::Stream& stream) const;

private:
    std::vector<Zone> mosaic_, black_;
    int cell_px_ = 0;
};

}  // namespace framewire
