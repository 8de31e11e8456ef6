#pragma once

#include "framewire/core/view.hpp"
#include "framewire/cuda/executor.hpp"
#include "framewire/filters/mosaic.hpp"
#include "framewire/plan/frame.hpp"

#include <cstdint>
#include <vector>

namespace framewire {

/// Privacy masks: rectangles of a picture that are hidden before any other processing. Mosaic masks are filled with
/// cells of uniform colour, as the filter `mosaic` does, mask by mask; then black masks are filled. All backends
/// produce the same bytes. Immutable.
class PrivacyMasks {
public:
    PrivacyMasks() = default;
    /// Makes masks for pictures of shape `frame`. Throws Error{usage} if a mask is empty or not inside the picture.
    PrivacyMasks(std::vector<Zone> mosaic, std::vector<Zone> black, const Shape& frame);

    /// Returns true if nothing is hidden; run() then does nothing.
    bool empty() const { return mosaic_.empty() && black_.empty(); }
    /// Returns the side length of a cell: one fortieth of the picture's longer side, at least 16 pixels.
    static int cell_px(const Shape& frame);

    /// Hides the masks in the memory to which the frame was written, before its upload. On the GPU the work is queued
    /// on the executor's stream.
    void run(Frame& frame, const Executor& executor) const;
    /// Hides the masks in place in a picture of the given shape. Returns when done.
    void run(HostView<std::uint8_t> picture) const;
    /// Hides the masks in place on the GPU. The work is queued on `stream`.
    void run(DeviceView<std::uint8_t> picture, const cuda::Stream& stream) const;

private:
    std::vector<Zone> mosaic_, black_;
    int cell_px_ = 0;
};

}  // namespace framewire
