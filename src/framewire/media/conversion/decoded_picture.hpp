#pragma once

#include "framewire/media/conversion/colour.hpp"
#include "framewire/pipeline/source.hpp"

#include <utility>

namespace framewire {

/// Native frame in FFmpeg's representation.
class DecodedPicture final : public OwnPicture {
public:
    /// Takes ownership of `frame`; `coding` is what the user chose or the frame's tags say.
    DecodedPicture(FramePointer frame, const YuvCoding& coding) : frame_(std::move(frame)), coding_(coding) {}

    /// The decoded frame.
    const AVFrame& frame() const { return *frame_; }

    /// Converts to BGR or gray; see PictureConverter::to_image().
    void to_image(HostView<std::uint8_t> image) const override;
    /// Crops, mirrors or pads planar 8-bit pictures if no chroma sample moves to a position between two samples of the
    /// result: crops and borders at even positions, mirroring only if chroma is centred on its pixels. Null otherwise.
    std::shared_ptr<const OwnPicture> moved(const PixelMove& move, Executor& executor) const override;
    /// The planes, for formats that framewire::colour converts.
    std::optional<HostYuv<const std::uint8_t>> planes() const override { return planes_of(*frame_, coding_); }

private:
    FramePointer frame_;
    YuvCoding coding_;
};

}  // namespace framewire
