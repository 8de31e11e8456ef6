#include "framewire/pipeline/frames/frame_detector.hpp"

#include "framewire/colour/yuv_to_image/yuv_to_image.hpp"
#include "framewire/pipeline/frames/cached_rows.hpp"
#include "framewire/pipeline/planes/channel_weights.hpp"

#include <cstring>
#include <utility>

namespace framewire {

// Objects and masks are copied separately, so both are waited for.
void FrameObjects::wait() {
    objects_.wait();
    mask_transfer_.wait();
}

FrameDetector::FrameDetector(const DetectorParameters& parameters, const Shape& frame, Executor& executor,
                             std::optional<MaskRegion> region, bool with_masks)
    : executor_(&executor),
      region_(std::move(region)),
      with_masks_(with_masks),
      detector_(parameters, frame, executor, region_ ? &*region_ : nullptr) {}

FrameObjects FrameDetector::make_objects() const {
    FrameObjects objects;
    objects.objects_ = detector_.make_objects();
    if (!with_masks_) return objects;
    objects.mask_ = cuda::Twin<BitMask>(*executor_, detector_.shape());
    objects.mask_transfer_ = cuda::Transfer(*executor_);
    return objects;
}

// The objects are written directly to the lists of `objects`.
void FrameDetector::start(Frame& frame, FrameObjects& objects) {
    executor_->in_its_space([&]<MemorySpace space>() {
        detector_.run(frame.in<space>(), objects.objects_.lists<space>());
        keep<space>(objects);
    });
}

// Planes are converted to what the detector wants: channels for a mixture, gray for the others.
void FrameDetector::start(const HostYuv<const std::uint8_t>& picture, FrameObjects& objects) {
    const int channels = detector_.shape().channels;
    const YuvToImage convert(picture.info, channels, executor_->pool());
    const auto lists = objects.objects_.lists<MemorySpace::host>();
    if (!detector_.rows_are_gray())
        detector_.run([&](const ChannelRows& rows) { convert.run_rows(picture, rows); }, lists);
    else
        detector_.run(
            [&](const ImageRows<std::uint8_t>& rows) {
                if (channels == 3)
                    convert.run_rows(picture, rows, channel_weights(gray_weights(GrayMethod::weighted)));
                else
                    convert.run_rows(picture, rows);
            },
            lists);
    keep<MemorySpace::host>(objects);
}

// Rows with channels are converted in the same way.
void FrameDetector::start(const MakeRows& make, FrameObjects& objects) {
    const auto lists = objects.objects_.lists<MemorySpace::host>();
    const int channels = detector_.shape().channels;
    if (detector_.rows_are_gray())
        detector_.run(gray_rows(make, channels), lists);
    else
        detector_.run(channel_rows(make, detector_.shape().width, channels), lists);
    keep<MemorySpace::host>(objects);
}

// Starts the download of the objects, and keeps and downloads the mask if masks are wanted.
template <MemorySpace space>
void FrameDetector::keep(FrameObjects& objects) {
    if constexpr (space == MemorySpace::device)
        executor_->step("download", [&] { objects.objects_.download(); });
    else
        objects.objects_.download();
    if (!with_masks_) return;
    // The next frame overwrites the detector's own mask.
    const auto bytes = bit_mask_bytes(detector_.shape());
    const auto* const found = detector_.mask<space>().data();
    auto* const kept = objects.mask_.in<space>().view().data();
    if constexpr (space == MemorySpace::host)
        std::memcpy(kept, found, bytes);
    else
        cuda::copy(found, kept, bytes, executor_->stream());
    objects.mask_transfer_.down(
        [&](const cuda::Stream& stream) { cuda::download(kept, objects.mask_.host().view().data(), bytes, stream); });
}

}  // namespace framewire
