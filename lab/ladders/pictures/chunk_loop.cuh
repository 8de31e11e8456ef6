#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace framewire::bench {

/// 32 bytes, read by two loads of 16: the report's long4.
struct alignas(16) Chunk32 {
    int4 low, high;
};

/// Returns the number of consecutive chunks per thread of a block: a multiple of three, so that threads do not share
/// a pixel; the report's threads start and end inside pixels.
inline int chunks_each(std::int64_t bytes, int chunk, int threads) {
    const auto triples = bytes / chunk / 3;
    return static_cast<int>((triples + threads - 1) / threads) * 3;
}

/// Calls body(at, now, before) for each byte of a thread's chunks of two frames.
template <class Chunk, class Body>
__device__ void for_chunk_bytes(const std::uint8_t* current, const std::uint8_t* previous, int chunks, int each,
                                Body&& body) {
    constexpr int size = sizeof(Chunk);
    const int begin = static_cast<int>(threadIdx.x) * each;
    const int end =
        min(begin + each, chunks);  // the report omits the remainder of the division by the number of threads
    for (int i = begin; i < end; ++i) {
        const auto now = reinterpret_cast<const Chunk*>(current)[i];
        const auto before = reinterpret_cast<const Chunk*>(previous)[i];
#pragma unroll
        for (int j = 0; j < size; ++j)
            body(i * size + j, int{reinterpret_cast<const std::uint8_t*>(&now)[j]},
                 int{reinterpret_cast<const std::uint8_t*>(&before)[j]});
    }
}

}  // namespace framewire::bench
