#pragma once

#include "framewire/cuda/buffer.hpp"
#include "framewire/cuda/stream.hpp"

#include <cstdint>
#include <functional>
#include <vector>

namespace framewire::bench::hog_report {

/// The GPU's steps, in order.
enum class HogStep { grayscale, gamma, gradients, directions, votes };
inline constexpr int gpu_steps = 5;

/// The pipeline of HOG 2022 on the GPU: gray, histogram and gamma in parts on 1, 2 or 4 streams, the other steps on
/// one. Allocates memory once, for the largest image.
class GpuPipeline {
public:
    /// `work` is the stream on which the steps are queued and the parts join; `block_px` is the side of the blocks for
    /// votes.
    GpuPipeline(std::uint32_t most_pixels, int streams, int block_px, const cuda::Stream& work);

    /// Uploads a dense BGR image from the host.
    void upload(HostView<const std::uint8_t> bgr);
    /// Queues steps for the image uploaded last. The host computes between histogram and gamma (section 4.2): the gamma
    /// step waits for it.
    void queue(HogStep step);
    void queue(int first_step, int end_step);
    /// Copies the descriptors to the host.
    void download(std::vector<float>& descriptors);

private:
    void for_parts(
        const std::function<void(std::uint32_t first, std::uint32_t count, const cuda::Stream& stream)>& queue_part);
    void queue_whole_gamma();

    const cuda::Stream* work_;
    int block_px_;
    Shape shape_{};
    std::vector<cuda::Stream> parts_;  // empty if everything uses the work stream
    std::vector<cuda::Event> parts_done_;
    cuda::Event begun_;
    HostBuffer levels_on_host_;
    cuda::DeviceBuffer bgr_, gray_, levels_, across_, down_, magnitudes_, directions_, descriptors_;
};

}  // namespace framewire::bench::hog_report
