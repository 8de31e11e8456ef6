#include "framewire/core/buffer.hpp"

#include "framewire/core/error.hpp"

#ifdef __linux__
#include <sys/mman.h>
#endif

#include <new>

namespace framewire {
namespace {

constexpr std::align_val_t cache_line{64};
// What is as large as a 1080p frame has pages of 2 MiB where the kernel gives such: walks from place to place in it, as
// from row to row of a block, wait for page tables otherwise.
constexpr std::size_t huge_page_bytes = 2 * 1024 * 1024, least_huge_bytes = 2 * huge_page_bytes;
constexpr std::align_val_t huge_page{huge_page_bytes};

constexpr bool is_huge(std::size_t bytes) { return bytes >= least_huge_bytes; }

// Only a wish: nothing is wrong where the kernel has no such pages.
void ask_for_huge_pages([[maybe_unused]] void* data, [[maybe_unused]] std::size_t bytes) {
#ifdef __linux__
    madvise(data, bytes / huge_page_bytes * huge_page_bytes, MADV_HUGEPAGE);
#endif
}

class Heap final : public HostMemory {
public:
    void* allocate(std::size_t bytes) override {
        void* data = ::operator new(bytes, is_huge(bytes) ? huge_page : cache_line, std::nothrow);
        if (!data) fail(ErrorCode::config, "no memory for a buffer of {} bytes", bytes);
        if (is_huge(bytes)) ask_for_huge_pages(data, bytes);
        return data;
    }
    void release(void* data, std::size_t bytes) noexcept override {
        ::operator delete(data, is_huge(bytes) ? huge_page : cache_line);
    }
};

}  // namespace

HostMemory& heap_memory() {
    static Heap heap;
    return heap;
}

}  // namespace framewire
