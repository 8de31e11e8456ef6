#pragma once

#include "framewire/media/conversion/colour.hpp"
#include "framewire/pipeline/source.hpp"

#include <utility>

namespace framewire {

/// A picture as it was decoded, of FFmpeg's kind.
class DecodedPicture final : public OwnPicture {
public:
    /// `frame` is of `coding`, as the user has it or its tags.
    DecodedPicture(FramePointer frame, const YuvCoding& coding) : frame_(std::move(frame)), coding_(coding) {}

    const AVFrame& frame() const { return *frame_; }

    void to_image(HostView<std::uint8_t> image) const override;
    /// Of planar pictures of 8 bits, where no chroma sample comes to lie between two of the result's: crops and edges
    /// at even places, mirrored where chroma is in the middle of its pixels.
    std::shared_ptr<const OwnPicture> moved(const PixelMove& move, Executor& executor) const override;

private:
    FramePointer frame_;
    YuvCoding coding_;
};

}  // namespace framewire
