#pragma once

#include "framewire/core/view.hpp"
#include "framewire/cuda/stream.hpp"

#include <cstdint>
#include <functional>
#include <vector>

namespace framewire::bench::npp {

/// One frame from device memory to device memory, queued on a stream.
using DeviceStep = std::function<void(DeviceView<const std::uint8_t> in, DeviceView<std::uint8_t> out)>;
/// Makes such a step for frames of a shape; throws Error{config} where this machine lacks the library. Empty where NPP
/// has no such function.
using Step = std::function<DeviceStep(const Shape& in, const Shape& out, const cuda::Stream& stream)>;

// NVIDIA's Performance Primitives, of CUDA 13 or 12, found when one is first made. They replicate edges.
Step gray();
Step mean(int size);
Step gaussian(int size);
Step median(int size);
Step dilate(const std::vector<std::uint8_t>& mask, int size);
Step erode(const std::vector<std::uint8_t>& mask, int size);
Step area();
Step bilinear();
/// Labels of one mask of one channel, where neighbours touch at corners, too; every pixel's in 32 bits.
using Labels = std::function<void(DeviceView<std::uint8_t> mask, std::uint32_t* labels)>;
/// Throws Error{config} where this machine lacks the library, or the build CUDA.
Labels labels(const Shape& mask, const cuda::Stream& stream);

}  // namespace framewire::bench::npp
