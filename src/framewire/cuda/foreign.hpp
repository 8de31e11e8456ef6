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

/// Keeps the work of another library's stream and that of a Stream on the same GPU in order, without blocking the
/// caller. `foreign` is a `cudaStream_t`, or null for CUDA's default stream. Not thread-safe.
class ForeignOrder {
public:
    /// Allocates two events on the current GPU. Throws Error{config} if there is none.
    ForeignOrder() : entered_(Event::Timing::none), left_(Event::Timing::none) {}

    /// Makes work that is queued on `stream` from now on wait for everything queued on `foreign` before.
    void enter(void* foreign, const Stream& stream);
    /// Makes work that is queued on `foreign` from now on wait for everything queued on `stream` before.
    void leave(const Stream& stream, void* foreign);

private:
    Event entered_, left_;
};

/// Returns true if `data` is an address in memory that GPU `device` allocated, or in memory that CUDA manages for all
/// processors. Takes about a microsecond.
bool is_device_memory(const void* data, int device);

}  // namespace framewire::cuda
