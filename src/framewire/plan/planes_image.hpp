#pragma once

#include "framewire/colour/yuv.hpp"
#include "framewire/core/buffer.hpp"
#include "framewire/core/thread_pool.hpp"
#include "framewire/core/view.hpp"
#include "framewire/plan/chain_plan.hpp"
#include "framewire/plan/work_picture.hpp"

#include <cstdint>
#include <string>

namespace framewire {

/// The image of a native frame's planes, for a stage on the CPU that takes images. Not thread-safe.
class PlanesImage {
public:
    /// `frame` is the shape of the stage's frames. If `only_gray` is true, images have one channel: the gray of the
    /// frame, as the filter `gray` (weighted) makes it.
    PlanesImage(const Shape& frame, bool only_gray) : frame_(frame), only_gray_(only_gray) {}

    /// Converts planes as YuvToImage does, on the threads of `pool`. The image is valid until the next call. Only the
    /// first call allocates memory. Throws Error{usage} if the size of the picture does not match.
    HostView<const std::uint8_t> convert(const HostYuv<const std::uint8_t>& picture, const ThreadPool& pool);

private:
    Shape frame_;
    bool only_gray_;
    HostImage image_;
};

/// Returns the step of a stage after the filters, for users: it takes images in BGR, or gray if `only_gray`. `from` is
/// the format in which frames reach it.
PlannedStep stage_step(std::string operation, bool only_gray, const FrameFormat& from);

}  // namespace framewire
