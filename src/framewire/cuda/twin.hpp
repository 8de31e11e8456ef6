#pragma once

#include "framewire/core/view.hpp"
#include "framewire/cuda/executor.hpp"

namespace framewire::cuda {

/// What travels between the host and the GPU: one on the host, and with the CUDA backend its twin on the GPU. `Of` is
/// an owner of memory in a space, as BufferIn, ImageIn, BitMask and ComponentBuffer are. Uninitialised. Move-only.
template <template <MemorySpace> class Of>
class Twin {
public:
    Twin() = default;
    /// Both are made from `arguments`, the host's in the executor's frame_memory(). Throws as they do.
    template <class... Arguments>
    explicit Twin(const Executor& executor, Arguments... arguments) : host_(arguments..., executor.frame_memory()) {
        if (executor.backend() == Backend::cuda) device_ = Of<MemorySpace::device>(arguments...);
    }

    /// The one on the GPU alone, with the CUDA backend: for who has other memory on the host.
    template <class... Arguments>
    static Twin on_gpu(const Executor& executor, Arguments... arguments) {
        executor.require_space<MemorySpace::device>("a twin on the GPU alone");
        Twin twin;
        twin.device_ = Of<MemorySpace::device>(arguments...);
        return twin;
    }

    /// The one in `space`; without the CUDA backend that on the GPU is empty.
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
    auto& host() { return host_; }
    const auto& host() const { return host_; }
    auto& device() { return device_; }
    const auto& device() const { return device_; }

private:
    Of<MemorySpace::host> host_;
    Of<MemorySpace::device> device_;
};

}  // namespace framewire::cuda
