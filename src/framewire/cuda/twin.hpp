#pragma once

#include "framewire/core/view.hpp"
#include "framewire/cuda/executor.hpp"

namespace framewire::cuda {

/// A mirrored buffer: an object on the host, and with the CUDA backend a second one of the same size on the
/// GPU, between which data is copied. `Of` is a template that owns memory in one space, such as BufferIn,
/// ImageIn, BitMask and ComponentBuffer. Uninitialised. Move-only.
template <template <MemorySpace> class Of>
class Twin {
public:
    Twin() = default;
    /// Makes both objects from `arguments`, the host's in the executor's frame_memory(). Throws what their
    /// constructors throw.
    template <class... Arguments>
    explicit Twin(const Executor& executor, Arguments... arguments) : host_(arguments..., executor.frame_memory()) {
        if (executor.backend() == Backend::cuda) device_ = Of<MemorySpace::device>(arguments...);
    }

    /// Makes only the object on the GPU, for callers with their own memory on the host. Throws Error{internal}
    /// on the CPU backend.
    template <class... Arguments>
    static Twin on_gpu(const Executor& executor, Arguments... arguments) {
        executor.require_space<MemorySpace::device>("a twin on the GPU alone");
        Twin twin;
        twin.device_ = Of<MemorySpace::device>(arguments...);
        return twin;
    }

    /// Returns the object in `space`. On the CPU backend the one on the GPU is empty.
    template <MemorySpace space>
    auto& in() {
        if constexpr (space == MemorySpace::host)
            return host_;
        else
            return device_;
    }
    template <MemorySpace space>
    const auto& in() const {
        return const_cast<Twin*>(this)->in<space>();
    }
    /// The object on the host, and the one on the GPU.
    auto& host() { return host_; }
    const auto& host() const { return host_; }
    auto& device() { return device_; }
    const auto& device() const { return device_; }

private:
    Of<MemorySpace::host> host_;
    Of<MemorySpace::device> device_;
};

}  // namespace framewire::cuda
