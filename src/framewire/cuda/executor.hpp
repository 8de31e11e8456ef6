#pragma once

#include "framewire/core/buffer.hpp"
#include "framewire/core/thread_pool.hpp"
#include "framewire/cuda/device.hpp"
#include "framewire/cuda/stream.hpp"

#include <optional>
#include <string_view>

namespace framewire {

enum class Backend { cpu, cuda };

/// "cpu" or "cuda".
std::string_view to_string(Backend backend);

/// What `--backend` may say.
enum class BackendChoice { automatic, cpu, cuda };

/// Reads "auto", "cpu" or "cuda"; throws Error{usage} on anything else.
BackendChoice parse_backend(std::string_view text);

/// What a plan runs on: the CPU's thread pool, and with the CUDA backend a stream of its own. Plans keep a reference
/// to the executor they were made for and run on its backend. Move-only, but do not move one that plans refer to.
class Executor {
public:
    /// `automatic` takes CUDA when there is a GPU. The choice is made here, once, and logged; Error{config} when the
    /// one asked for cannot serve, never a silent change to the other. `threads` as in ThreadPool.
    explicit Executor(BackendChoice choice = BackendChoice::automatic, int threads = 0);

    Backend backend() const { return backend_; }
    const ThreadPool& pool() const { return pool_; }
    /// The stream of the CUDA backend. Throws Error{internal} on the CPU backend.
    const cuda::Stream& stream() const;
    /// What plans of the CUDA backend fit their blocks to; nothing on the CPU backend.
    const cuda::SharedMemory& shared_memory() const { return shared_memory_; }
    /// Plans made from now on make do with so much, or with what there is where that is less: a smaller GPU, for tests.
    void limit_shared_memory(const cuda::SharedMemory& most);
    /// The memory frames should live in so that the backend reads them fastest: pinned for CUDA, else the heap.
    HostMemory& frame_memory() const;

private:
    Backend backend_;
    ThreadPool pool_;
    std::optional<cuda::Stream> stream_;
    cuda::SharedMemory shared_memory_;
};

}  // namespace framewire
