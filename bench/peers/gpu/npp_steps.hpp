#pragma once

#include "framewire/core/view.hpp"
#include "framewire/cuda/stream.hpp"

#include <cstdint>
#include <functional>
#include <vector>

namespace framewire::bench::npp {

/// Processes one frame from device memory to device memory, queued on a stream.
using DeviceStep = std::function<void(DeviceView<const std::uint8_t> in, DeviceView<std::uint8_t> out)>;
/// Makes a DeviceStep for frames of a shape; throws Error{config} if this machine does not have the library. Empty if
/// NPP has no such function.
using Step = std::function<DeviceStep(const Shape& in, const Shape& out, const cuda::Stream& stream)>;

// NVIDIA's Performance Primitives of CUDA 13 or 12, loaded on first use. They replicate edges.
Step gray();
Step mean(int size);
Step gaussian(int size);
Step median(int size);
Step dilate(const std::vector<std::uint8_t>& mask, int size);
Step erode(const std::vector<std::uint8_t>& mask, int size);
Step area();
Step bilinear();
/// Labels one single-channel mask with 8-connectivity; 32 bits per pixel.
using Labels = std::function<void(DeviceView<std::uint8_t> mask, std::uint32_t* labels)>;
/// Makes Labels for masks of a shape. Throws Error{config} if this machine does not have the library, or the build
/// has no CUDA.
Labels labels(const Shape& mask, const cuda::Stream& stream);

}  // namespace framewire::bench::npp
