#include "kit/allocations.hpp"

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

std::atomic<std::int64_t> count{0}, total_bytes{0};

void* allocate(std::size_t bytes, std::size_t alignment) noexcept {
    count.fetch_add(1, std::memory_order_relaxed);
    total_bytes.fetch_add(static_cast<std::int64_t>(bytes), std::memory_order_relaxed);
    return std::aligned_alloc(alignment, (bytes + alignment) / alignment * alignment);  // never 0 bytes
}

void* allocate_or_throw(std::size_t bytes, std::size_t alignment) {
    void* data = allocate(bytes, alignment);
    if (!data) throw std::bad_alloc();
    return data;
}

constexpr std::size_t usual = alignof(std::max_align_t);

}  // namespace

// Programs that call allocations() link these operators instead of the library's. The array forms call these.
void* operator new(std::size_t bytes) { return allocate_or_throw(bytes, usual); }
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept { return allocate(bytes, usual); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
    return allocate_or_throw(bytes, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t bytes, std::align_val_t alignment, const std::nothrow_t&) noexcept {
    return allocate(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* data) noexcept { std::free(data); }
void operator delete(void* data, std::size_t) noexcept { std::free(data); }
void operator delete(void* data, std::align_val_t) noexcept { std::free(data); }
void operator delete(void* data, std::size_t, std::align_val_t) noexcept { std::free(data); }
void operator delete(void* data, const std::nothrow_t&) noexcept { std::free(data); }
void operator delete(void* data, std::align_val_t, const std::nothrow_t&) noexcept { std::free(data); }

namespace framewire::kit {

std::int64_t allocations() { return count.load(std::memory_order_relaxed); }
std::int64_t allocated_bytes() { return total_bytes.load(std::memory_order_relaxed); }

}  // namespace framewire::kit
