#pragma once

#include "framewire/media/conversion/libav.hpp"
#include "framewire/pipeline/source.hpp"

#include <utility>

namespace framewire {

/// A picture as FFmpeg decoded it.
class FfmpegPicture final : public OwnPicture {
public:
    explicit FfmpegPicture(FramePointer frame) : frame_(std::move(frame)) {}
    const AVFrame& frame() const { return *frame_; }

private:
    FramePointer frame_;
};

}  // namespace framewire
