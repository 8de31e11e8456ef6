#pragma once

#include "framewire/cuda/stream.hpp"

#include <cstdint>

namespace framewire::bench {

/// Queue kernels that only do what their names say; `bytes` is a multiple of 16, pointers are on the device.
void limit_launch(const cuda::Stream& stream);
/// Reads `bytes` bytes. `sink`, a word on the device, is practically never written.
void limit_read(const void* from, std::uint32_t* sink, std::int64_t bytes, const cuda::Stream& stream);
void limit_write(void* to, std::int64_t bytes, const cuda::Stream& stream);

}  // namespace framewire::bench
