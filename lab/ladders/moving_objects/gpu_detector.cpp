#include "ladders/moving_objects/gpu_detector.hpp"

#include "ladders/moving_objects/kernels.hpp"

#if FRAMEWIRE_BENCHES_ON_GPU

namespace framewire::bench::moving_objects {

GpuDetector::GpuDetector(GpuVersion version, FrameSize size, int block_px, const std::uint8_t* room,
                         const cuda::Stream& stream)
    : version_(version),
      size_(size),
      block_px_(block_px),
      room_(room),
      stream_(&stream),
      blur_matrix_(blur_matrix()),
      disc_matrix_(disc_matrix()),
      room_bgr_(3 * size.pixels()),
      bgr_(3 * size.pixels()),
      room_gray_(size.pixels()),
      gray_(size.pixels()),
      room_blurred_(size.pixels()),
      blurred_(size.pixels()),
      mask_(size.pixels()),
      swap_(size.pixels()),
      labels_(sizeof(std::int32_t) * size.pixels()),
      blur_cells_(sizeof blur_matrix_),
      disc_cells_(sizeof disc_matrix_) {
    if (version_ == GpuVersion::v1_0) return;
    upload_matrices();
    const BlockLaunch launch{size_, block_px_, *stream_};
    cuda::upload(room_, room_bgr_.data(), room_bgr_.bytes(), *stream_);
    queue_grayscale(launch, room_bgr_.data(), room_gray_.data());
    queue_blurred(room_gray_.data(), room_blurred_.data());
    stream_->synchronize();  // the copies may still be reading the matrices
}

void GpuDetector::upload_matrices() {
    if (version_ == GpuVersion::tiled) return queue_matrices(blur_matrix_.data(), disc_matrix_.data(), *stream_);
    cuda::upload(blur_matrix_.data(), blur_cells_.data(), blur_cells_.bytes(), *stream_);
    cuda::upload(disc_matrix_.data(), disc_cells_.data(), disc_cells_.bytes(), *stream_);
}

void GpuDetector::upload(const std::uint8_t* frame) {
    cuda::upload(frame, bgr_.data(), bgr_.bytes(), *stream_);
    if (version_ != GpuVersion::v1_0) return;
    cuda::upload(room_, room_bgr_.data(), room_bgr_.bytes(), *stream_);
    upload_matrices();
}

void GpuDetector::queue_blurred(const std::uint8_t* gray, std::uint8_t* blurred) {
    const BlockLaunch launch{size_, block_px_, *stream_};
    if (version_ == GpuVersion::tiled) return queue_blur_tiled(launch, gray, blurred);
    queue_blur(launch, blur_cells_.as<float>(), gray, blurred);
}

void GpuDetector::queue(DetectorStep step) {
    const BlockLaunch launch{size_, block_px_, *stream_};
    const bool tiled = version_ == GpuVersion::tiled, with_room = version_ == GpuVersion::v1_0;
    auto* labels = labels_.as<std::int32_t>();
    switch (step) {
        case DetectorStep::grayscale:
            queue_grayscale(launch, bgr_.data(), gray_.data());
            if (with_room) queue_grayscale(launch, room_bgr_.data(), room_gray_.data());
            return;
        case DetectorStep::blur:
            queue_blurred(gray_.data(), blurred_.data());
            if (with_room) queue_blurred(room_gray_.data(), room_blurred_.data());
            return;
        case DetectorStep::difference:
            return queue_difference(launch, blurred_.data(), room_blurred_.data(), mask_.data());
        case DetectorStep::threshold: return queue_threshold(launch, mask_.data());
        case DetectorStep::dilate:
            if (tiled) return queue_dilate_tiled(launch, mask_.data(), swap_.data());
            return queue_dilate(launch, disc_cells_.data(), mask_.data(), swap_.data());
        case DetectorStep::erode:
            if (tiled) return queue_erode_tiled(launch, swap_.data(), mask_.data());
            return queue_erode(launch, disc_cells_.data(), swap_.data(), mask_.data());
        case DetectorStep::init: return queue_init_labels(launch, mask_.data(), labels);
        case DetectorStep::merge: return queue_merge_labels(launch, mask_.data(), labels);
        case DetectorStep::compress: return queue_compress_labels(launch, mask_.data(), labels);
    }
}

void GpuDetector::queue(int first_step, int end_step) {
    for (int step = first_step; step < end_step; ++step) queue(static_cast<DetectorStep>(step));
}

void GpuDetector::download(std::int32_t* labels) { cuda::download(labels_.data(), labels, labels_.bytes(), *stream_); }

}  // namespace framewire::bench::moving_objects

#endif
