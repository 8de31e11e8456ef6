#pragma once

#include "framewire/cuda/buffer.hpp"
#include "framewire/cuda/stream.hpp"
#include "ladders/moving_objects/frame_size.hpp"
#include "ladders/moving_objects/loops.hpp"

#include <cstdint>

namespace framewire::bench::moving_objects {

/// The report's versions: all allocations and uploads in each frame; memory and background once; tiles and constant
/// memory.
enum class GpuVersion { v1_0, v1_1, tiled };

/// The steps that are kernels, in order.
enum class DetectorStep { grayscale, blur, difference, threshold, dilate, erode, init, merge, compress };
inline constexpr int gpu_steps = 9;

/// The report's detector on the GPU (moving objects 2023, section 3 and "Optimization process"), with all work queued
/// on one stream. Version 1.0 is created and destroyed for each frame.
class GpuDetector {
public:
    /// Allocates memory. `room` is a BGR picture on the host, which must outlive the detector; all versions except v1.0
    /// process it here.
    GpuDetector(GpuVersion version, FrameSize size, int block_px, const std::uint8_t* room, const cuda::Stream& stream);

    /// Uploads a BGR frame from the host; v1.0 also uploads the room and the matrices.
    void upload(const std::uint8_t* frame);
    void queue(DetectorStep step);
    void queue(int first_step, int end_step);
    /// Copies the labels to the host.
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
