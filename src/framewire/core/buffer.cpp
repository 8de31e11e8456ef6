#include "framewire/core/buffer.hpp"

#include "framewire/core/error.hpp"

#include <new>

namespace framewire {
namespace {

constexpr std::align_val_t cache_line{64};

class Heap final : public HostMemory {
public:
    void* allocate(std::size_t bytes) override {
        void* data = ::operator new(bytes, cache_line, std::nothrow);
        if (!data) fail(ErrorCode::config, "no memory for a buffer of {} bytes", bytes);
        return data;
    }
    void release(void* data, std::size_t) noexcept override { ::operator delete(data, cache_line); }
};

}  // namespace

HostMemory& heap_memory() {
    static Heap heap;
    return heap;
}

}  // namespace framewire
