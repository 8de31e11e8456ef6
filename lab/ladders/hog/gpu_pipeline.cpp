#include "ladders/hog/gpu_pipeline.hpp"

#include "ladders/hog/kernels.hpp"
#include "ladders/hog/steps.hpp"

#include <algorithm>

#if FRAMEWIRE_BENCHES_ON_GPU

namespace framewire::bench::hog_report {
namespace hog_gpu_pipeline {

std::uint32_t pixels_of(const Shape& shape) { return static_cast<std::uint32_t>(shape.width * shape.height); }

}  // namespace hog_gpu_pipeline

using namespace hog_gpu_pipeline;

GpuPipeline::GpuPipeline(std::uint32_t most_pixels, int streams, int block_px, const cuda::Stream& work)
    : work_(&work),
      block_px_(block_px),
      begun_(cuda::Event::Timing::none),
      levels_on_host_(sizeof(Levels), cuda::pinned_memory()),
      bgr_(3 * std::size_t{most_pixels}),
      gray_(most_pixels),
      levels_(sizeof(Levels)),
      across_(sizeof(std::int16_t) * most_pixels),
      down_(across_.bytes()),
      magnitudes_(sizeof(float) * most_pixels),
      directions_(magnitudes_.bytes()),
      descriptors_(sizeof(float) * most_pixels / (cell_px * cell_px) * direction_bins) {
    for (int part = 0; streams > 1 && part < streams; ++part) {
        parts_.emplace_back();
        parts_done_.emplace_back(cuda::Event::Timing::none);
    }
}

void GpuPipeline::upload(HostView<const std::uint8_t> bgr) {
    shape_ = bgr.shape();
    cuda::upload(bgr.data(), bgr_.data(), static_cast<std::size_t>(shape_.bytes()), *work_);
}

void GpuPipeline::for_parts(
    const std::function<void(std::uint32_t first, std::uint32_t count, const cuda::Stream& stream)>& queue_part) {
    const auto pixels = pixels_of(shape_);
    if (parts_.empty()) return queue_part(0, pixels, *work_);
    const auto each =
        (pixels + static_cast<std::uint32_t>(parts_.size()) - 1) / static_cast<std::uint32_t>(parts_.size());
    begun_.record(*work_);
    for (std::size_t part = 0; part < parts_.size(); ++part) {
        const auto first = std::min(static_cast<std::uint32_t>(part) * each, pixels);
        begun_.make_wait(parts_[part]);
        if (first < pixels) queue_part(first, std::min(each, pixels - first), parts_[part]);
        parts_done_[part].record(parts_[part]);
        parts_done_[part].make_wait(*work_);
    }
}

void GpuPipeline::queue_whole_gamma() {
    auto* levels = levels_.as<Levels>();
    cuda::fill(levels, 0, sizeof(Levels), *work_);
    for_parts([&](std::uint32_t first, std::uint32_t count, const cuda::Stream& stream) {
        queue_histogram(gray_.data() + first, count, levels->counts.data(), &levels->most, stream);
    });
    const auto* found = levels_on_host_.as<Levels>();
    cuda::download(levels, levels_on_host_.data(), sizeof(Levels), *work_);
    work_->synchronize();
    if (found->most == 0) return;
    for_parts(
        [&, exponent = gamma_exponent(*found)](std::uint32_t first, std::uint32_t count, const cuda::Stream& stream) {
            queue_gamma(gray_.data() + first, count, found->most, exponent, stream);
        });
}

void GpuPipeline::queue(HogStep step) {
    auto* across = across_.as<std::int16_t>();
    auto* down = down_.as<std::int16_t>();
    auto* magnitudes = magnitudes_.as<float>();
    auto* directions = directions_.as<float>();
    switch (step) {
        case HogStep::grayscale:
            return for_parts([&](std::uint32_t first, std::uint32_t count, const cuda::Stream& stream) {
                queue_grayscale(bgr_.data() + 3 * std::size_t{first}, count, gray_.data() + first, stream);
            });
        case HogStep::gamma: return queue_whole_gamma();
        case HogStep::gradients:
            return queue_gradients(gray_.data(), shape_.width, shape_.height, across, down, *work_);
        case HogStep::directions:
            return queue_magnitudes_and_directions(across, down, pixels_of(shape_), magnitudes, directions, *work_);
        case HogStep::votes:
            cuda::fill(descriptors_.data(), 0, sizeof(float) * descriptor_values(shape_), *work_);
            return queue_votes(magnitudes, directions, shape_.width, shape_.height, block_px_, descriptors_.as<float>(),
                               *work_);
    }
}

void GpuPipeline::queue(int first_step, int end_step) {
    for (int step = first_step; step < end_step; ++step) queue(static_cast<HogStep>(step));
}

void GpuPipeline::download(std::vector<float>& descriptors) {
    descriptors.resize(descriptor_values(shape_));
    cuda::download(descriptors_.data(), descriptors.data(), sizeof(float) * descriptors.size(), *work_);
}

}  // namespace framewire::bench::hog_report

#endif
