#pragma once

#include "framewire/cuda/buffer.hpp"
#include "framewire/cuda/stream.hpp"
#include "ladders/moving_objects/frame_size.hpp"
#include "ladders/moving_objects/loops.hpp"

#include <cstdint>

namespace framewire::bench::moving_objects {

/// The report's versions: everything anew for each frame; memory and background once; tiles and constants.
enum class GpuVersion { v1_0, v1_1, tiled };

/// The steps that are kernels, in their order.
enum class DetectorStep { grayscale, blur, difference, threshold, dilate, erode, init, merge, compress };
inline constexpr int gpu_steps = 9;

/// The report's detector on the GPU (moving objects 2023, section 3 and "Optimization process"), all work queued on one
/// stream. A v1.0 is made and thrown away for each frame.
class GpuDetector {
public:
    /// Allocates. `room`: a BGR picture on the host, which lives as long; all but v1.0 work on it here.
    GpuDetector(GpuVersion version, FrameSize size, int block_px, const std::uint8_t* room, const cuda::Stream& stream);

    /// A BGR frame from the host; with v1.0 the room and the matrices, too.
    void upload(const std::uint8_t* frame);
    void queue(DetectorStep step);
    void queue(int first_step, int end_step);
    /// The labels, to the host.
    void download(std::int32_t* labels);

private:
    void upload_matrices();
    void queue_blurred(const std::uint8_t* gray, std::uint8_t* blurred);

    GpuVersion version_;
    FrameSize size_;
    int block_px_;
    const std::uint8_t* room_;
    const cuda::Stream* stream_;
    BlurMatrix blur_matrix_;
    DiscMatrix disc_matrix_;
    cuda::DeviceBuffer room_bgr_, bgr_, room_gray_, gray_, room_blurred_, blurred_, mask_, swap_, labels_;
    cuda::DeviceBuffer blur_cells_, disc_cells_;
};

}  // namespace framewire::bench::moving_objects
