#pragma once

#include "framewire/core/view.hpp"
#include "framewire/cuda/executor.hpp"
#include "framewire/filters/mosaic.hpp"
#include "framewire/plan/frame.hpp"

#include <cstdint>
#include <vector>

namespace framewire {

/// Privacy masks: rectangles of a picture that are hidden before anything else is done with it. Mosaic masks
/// are filled with cells of their mean, as the filter `mosaic` does, mask by mask; then black masks are filled.
/// All backends give the same bytes. Immutable.
class PrivacyMasks {
public:
    PrivacyMasks() = default;
    /// For pictures of shape `frame`, which must contain the masks. Throws Error{usage} if one is empty or not
    /// inside.
    PrivacyMasks(std::vector<Zone> mosaic, std::vector<Zone> black, const Shape& frame);

    /// Returns true if nothing is hidden; run() then does nothing.
    bool empty() const { return mosaic_.empty() && black_.empty(); }
    /// Returns the side of a cell: a fortieth of the picture's longer side, at least 16 pixels.
    static int cell_px(const Shape& frame);

    /// Hides the masks in the memory that the frame was written in, before its upload. On the device it is
    /// queued on the executor's stream.
    void run(Frame& frame, const Executor& executor) const;
    /// In place, for pictures of the given shape. On the host the call returns when done; on the device it is
    /// queued.
    void run(HostView<std::uint8_t> picture) const;
    /// On the GPU; queued on `stream`.
    void run(DeviceView<std::uint8_t> picture, const cuda::Stream& stream) const;

private:
    std::vector<Zone> mosaic_, black_;
    int cell_px_ = 0;
};

}  // namespace framewire
