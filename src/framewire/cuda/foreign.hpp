#pragma once

#include "framewire/cuda/stream.hpp"

struct CUctx_st;

namespace framewire::cuda {

/// Handles of CUDA's driver interface for another library that works on the same memory.
struct ForeignHandles {
    CUctx_st* context = nullptr;    ///< context of this library on the stream's GPU
    CUstream_st* stream = nullptr;  ///< stream whose order both libraries keep
};

/// Returns handles for a library that queues its own work on `stream`. The stream must outlive that work and is never
/// recorded for a Graph. Throws Error{config} if there is no GPU.
ForeignHandles foreign_handles(const Stream& stream);

}  // namespace framewire::cuda
