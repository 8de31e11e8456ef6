#pragma once

#include "framewire/colour/yuv.hpp"
#include "framewire/core/rows/image_rows.hpp"
#include "framewire/core/view.hpp"
#include "framewire/cuda/transfer.hpp"
#include "framewire/cuda/twin.hpp"
#include "framewire/detect/detected_objects.hpp"
#include "framewire/detect/detector.hpp"
#include "framewire/detect/masks/mask_region.hpp"
#include "framewire/pipeline/frames/frame.hpp"

#include <cstdint>
#include <optional>
#include <span>

namespace framewire {

/// What moves in one frame, on its way to the host or there. Move-only.
class FrameObjects {
public:
    FrameObjects() = default;

    /// Returns when they are there; throws what finding them failed with.
    void wait();
    /// At most as many as the detector keeps, in raster order.
    std::span<const Component> objects() const { return objects_.of_frame(); }
    /// How many the frame has beyond those.
    std::int64_t left_out() const { return objects_.left_out(); }
    /// Where the foreground is: 255, elsewhere 0. `to`: one channel, any strides. Where masks are kept only.
    void unpack_mask(HostView<std::uint8_t> to) const { framewire::unpack_mask(mask_.host().view(), to); }

    /// The same as it is.
    HostBitMaskView<const std::uint32_t> mask() const { return mask_.host().view(); }

private:
    friend class FrameDetector;

    DetectedObjects objects_;
    cuda::Twin<BitMask> mask_;
    cuda::Transfer mask_transfer_;  // last: it is over before the masks go
};

/// Runs a MotionDetector on a run's frames, of which several may be under way. Not for two threads at once.
class FrameDetector {
public:
    /// With masks, the frames' foreground is kept, too. Throws as MotionDetector does. Keeps a reference to `executor`.
    FrameDetector(const DetectorParameters& parameters, const Shape& frame, Executor& executor,
                  std::optional<MaskRegion> region = {}, bool with_masks = false);

    /// See MotionDetector.
    void set_background(HostView<const std::uint8_t> picture) { detector_.set_background(picture); }

    /// Room for what one frame has.
    FrameObjects make_objects() const;
    /// Looks at the next frame, in the order of time; what is in it is in `objects` once they are waited for. Allocates
    /// nothing.
    void start(Frame& frame, FrameObjects& objects);
    /// The same with the image that YuvToImage makes of a picture, which is then made by rows in a core's cache.
    /// Returns when done. Where goes_by_rows().
    void start(const HostYuv<const std::uint8_t>& picture, FrameObjects& objects);
    /// The same with an image whose rows `make` makes, of the frames' channels: each once, or twice. Returns when done.
    /// Where goes_by_rows(). Throws what `make` does.
    void start(const MakeRows& make, FrameObjects& objects);
    /// See MotionDetector.
    bool goes_by_rows() const { return detector_.goes_by_rows(); }

private:
    template <MemorySpace space>
    void keep(FrameObjects& objects);

    Executor* executor_;
    std::optional<MaskRegion> region_;
    bool with_masks_;
    MotionDetector detector_;
};

}  // namespace framewire
