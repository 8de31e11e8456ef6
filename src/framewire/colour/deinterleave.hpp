#pragma once

#include "framewire/colour/yuv.hpp"
#include "framewire/cuda/stream.hpp"

#include <cstdint>

namespace framewire {

/// Queues on `stream` a copy of pictures with interleaved chroma to pictures with three planes, on the GPU: NV12 to
/// 4:2:0, and P010 to 4:2:0 of 10 bits. Samples keep their values; in P010 they are the upper 10 bits of each word. A
/// hardware decoder's pictures become those that FFmpeg's own decoders make. The views may have any strides and must
/// not overlap. Throws Error{usage} if the pictures differ in more than their format, or if a format is another one.
void deinterleave(const DeviceYuv<const std::uint8_t>& from, const DeviceYuv<std::uint8_t>& to,
                  const cuda::Stream& stream);

}  // namespace framewire
