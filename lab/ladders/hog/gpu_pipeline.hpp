#pragma once

#include "framewire/cuda/buffer.hpp"
#include "framewire/cuda/stream.hpp"

#include <cstdint>
#include <functional>
#include <vector>

namespace framewire::bench::hog_report {

/// The steps on the GPU, in their order.
enum class HogStep { grayscale, gamma, gradients, directions, votes };
inline constexpr int gpu_steps = 5;

/// The pipeline of HOG 2022 on the GPU: gray, histogram and gamma in parts on 1, 2 or 4 streams, the rest on one.
/// Memory is taken once, for the largest image.
class GpuPipeline {
public:
    /// `work`: where the steps are queued, and the parts join. `block_px`: side of the votes' blocks.
    GpuPipeline(std::uint32_t most_pixels, int streams, int block_px, const cuda::Stream& work);

    /// A dense BGR image from the host.
    void upload(HostView<const std::uint8_t> bgr);
    /// Of the image uploaded last. Between histogram and gamma the host computes (section 4.2): that step waits for it.
    void queue(HogStep step);
    void queue(int first_step, int end_step);
    /// The descriptors, to the host.
    void download(std::vector<float>& descriptors);

private:
    void for_parts(
        const std::function<void(std::uint32_t first, std::uint32_t count, const cuda::Stream& stream)>& queue_part);
    void queue_whole_gamma();

    const cuda::Stream* work_;
    int block_px_;
    Shape shape_{};
    std::vector<cuda::Stream> parts_;  // none where all goes on the stream of work
    std::vector<cuda::Event> parts_done_;
    cuda::Event begun_;
    HostBuffer levels_on_host_;
    cuda::DeviceBuffer bgr_, gray_, levels_, across_, down_, magnitudes_, directions_, descriptors_;
};

}  // namespace framewire::bench::hog_report
