// A normal store first reads the cache line that it modifies. Non-temporal stores skip that read if the whole line is
// written, which saves a third of the memory traffic of a copy, and they do not evict other data.

#include "framewire/core/simd/simd.hpp"
#include "framewire/media/files/streaming_copy.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "framewire/media/files/streaming_copy_cpu.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace framewire::HWY_NAMESPACE {

// Copies whole cache lines with non-temporal stores and the unaligned ends with memcpy.
void copy_by_lines(std::uint8_t* to, const std::uint8_t* from, std::size_t bytes) {
    namespace hn = hwy::HWY_NAMESPACE;
    const hn::ScalableTag<std::uint8_t> d;
    const std::size_t step = hn::Lanes(d), line = std::max<std::size_t>(step, 64);  // of the cache
    // Only lines that are written completely can bypass the cache.
    const auto head = std::min(bytes, (line - reinterpret_cast<std::uintptr_t>(to) % line) % line);
    std::memcpy(to, from, head);
    auto at = head;
    for (; at + line <= bytes; at += line)
        for (std::size_t part = at; part < at + line; part += step) hn::Stream(hn::LoadU(d, from + part), d, to + part);
    std::memcpy(to + at, from + at, bytes - at);
    hwy::FlushStream();  // a lock of the caller does not order non-temporal stores
}

}  // namespace framewire::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace framewire {

HWY_EXPORT(copy_by_lines);

void streaming_copy(void* to, const void* from, std::size_t bytes) {
    HWY_DYNAMIC_DISPATCH(copy_by_lines)
    (static_cast<std::uint8_t*>(to), static_cast<const std::uint8_t*>(from), bytes);
}

}  // namespace framewire

#endif
