#include "framewire/core/buffer.hpp"
#include "framewire/core/error.hpp"

#include <new>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace framewire {
namespace {

constexpr std::align_val_t cache_line{64};
// Buffers as large as a 1080p frame are aligned for pages of 2 MiB and ask the kernel for them. With pages of 4 KiB,
// strided walks, such as those from row to row of a block, wait for page table lookups.
constexpr std::size_t large_page_bytes = 2 * 1024 * 1024, least_large_bytes = 2 * large_page_bytes;
constexpr std::align_val_t large_page{large_page_bytes};

// Returns true if a buffer is worth large pages.
constexpr bool is_large(std::size_t bytes) { return bytes >= least_large_bytes; }

// Gives the kernel a hint: if it has no large pages, madvise() fails and the memory still works.
void ask_for_large_pages([[maybe_unused]] void* data, [[maybe_unused]] std::size_t bytes) {
#ifdef __linux__
    madvise(data, bytes / large_page_bytes * large_page_bytes, MADV_HUGEPAGE);
#endif
}

// The heap without the hint about large pages. Large buffers are still aligned to large pages, so that Heap can share
// release().
class SparseHeap : public HostMemory {
public:
    void* allocate(std::size_t bytes) override {
        void* data = ::operator new(bytes, is_large(bytes) ? large_page : cache_line, std::nothrow);
        if (!data) fail(ErrorCode::config, "not enough memory for a buffer of {} bytes", bytes);
        return data;
    }
    void release(void* data, std::size_t bytes) noexcept override {
        ::operator delete(data, is_large(bytes) ? large_page : cache_line);
    }
};

// The heap with the hint about large pages.
class Heap final : public SparseHeap {
public:
    void* allocate(std::size_t bytes) override {
        void* data = SparseHeap::allocate(bytes);
        // The hint comes before the first access, so that the kernel can provide large pages at once.
        if (is_large(bytes)) ask_for_large_pages(data, bytes);
        return data;
    }
};

}  // namespace

HostMemory& heap_memory() {
    static Heap heap;
    return heap;
}

HostMemory& sparse_memory() {
    static SparseHeap heap;
    return heap;
}

}  // namespace framewire
