#pragma once

#include "framewire/cuda/check.hpp"
#include "framewire/cuda/device.hpp"
#include "framewire/cuda/stream.hpp"

#include <cuda/atomic>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <source_location>
#include <type_traits>

// Only for .cu files: asynchronous copies from global to shared memory (cp.async, PTX ISA), during which the
// thread continues. GPUs before Ampere (sm_80) lack the instruction; there a copy is done when its call
// returns.

namespace framewire::cuda {

inline constexpr int chunk_bytes = 16;  ///< size of one copy; both addresses are multiples of it

/// Starts to copy `count` bytes, at most chunk_bytes, to a chunk of shared memory, and zeroes the rest of the
/// chunk. Any threads may call it, each for its own chunk.
__device__ inline void copy_chunk_async(std::uint8_t* to, const std::uint8_t* from, int count) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    asm volatile(
        "cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(static_cast<std::uint32_t>(__cvta_generic_to_shared(to))),
        "l"(from), "r"(count)
        : "memory");
#else
    for (int byte = 0; byte < chunk_bytes; ++byte) to[byte] = byte < count ? from[byte] : std::uint8_t{0};
#endif
}

/// Closes a group with the copies that the thread has started since the last group. The group may be empty.
__device__ inline void commit_copies() {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

/// Waits until at most the last `groups` groups of this thread are unfinished. Other threads see the copied
/// bytes only after a barrier that follows.
template <int groups>
__device__ void wait_for_copies() {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_group %0;" ::"n"(groups) : "memory");
#endif
}

}  // namespace framewire::cuda

// Only for .cu files: the launch of kernels.

namespace framewire::cuda {

/// Launches a kernel: Launch(stream, grid, block)(kernel, arguments...). Every launch uses this class, which
/// resolves the stream's current handle, so that launches are recorded into graphs, and throws if the launch
/// itself fails. Errors of the running kernel surface at the next synchronization.
class Launch {
public:
    /// `shared_bytes` is dynamic shared memory per block. Messages name `where`.
    Launch(const Stream& stream, dim3 grid, dim3 block, std::size_t shared_bytes = 0,
           std::source_location where = std::source_location::current())
        : stream_(stream), grid_(grid), block_(block), shared_bytes_(shared_bytes), where_(where) {}

    /// Arguments are converted to the kernel's parameter types.
    template <class... Parameters>
    void operator()(void (*kernel)(Parameters...), std::type_identity_t<Parameters>... arguments) const {
        // cudaLaunchKernel() takes the addresses of the arguments; the array must not be empty.
        void* addresses[] = {&arguments..., nullptr};
        stream_.queue(
            [&](cudaStream_t handle) {
                check(cudaLaunchKernel(reinterpret_cast<const void*>(kernel), grid_, block_, addresses, shared_bytes_,
                                       handle),
                      where_);
            },
            {where_.file_name(), static_cast<int>(where_.line())});
    }

private:
    const Stream& stream_;
    dim3 grid_, block_;
    std::size_t shared_bytes_;
    std::source_location where_;
};

}  // namespace framewire::cuda

// Only for .cu files: host code that computes how many blocks a piece of work needs and how many a grid or a
// GPU can hold.

namespace framewire::cuda {

/// Largest number of blocks along a grid's y and z axes. The x axis takes 2^31 - 1.
inline constexpr int most_grid_blocks = 65535;

/// Returns `whole` / `part`, rounded up.
template <class Number>
constexpr Number parts(Number whole, std::type_identity_t<Number> part) {
    return (whole + part - 1) / part;
}

/// Returns parts() in the type of a grid's dimensions.
template <class Number>
constexpr unsigned blocks(Number whole, std::type_identity_t<Number> part) {
    return static_cast<unsigned>(parts(whole, part));
}

/// Splits a batch into launches: calls launch(first frame, frames), each with as many frames as a grid can hold
/// if every frame takes `blocks_per_frame` blocks along y or z.
template <class Launch>
void for_frames(int frames, int blocks_per_frame, Launch&& launch) {
    const int most_frames = std::max(1, most_grid_blocks / blocks_per_frame);
    for (int first = 0; first < frames; first += most_frames) {
        launch(first, std::min(most_frames, frames - first));
    }
}

/// Shared memory that one block may have on every supported GPU; Turing (sm_75) has no more.
inline constexpr int least_block_shared_bytes = 64 * 1024;
/// Shared memory that the system reserves for each block, except before Ampere (sm_80).
inline constexpr int reserved_shared_bytes = 1024;

/// Returns the architecture for which the code of a kernel that runs here was compiled, such as 80. It is older than
/// the current GPU if the driver has translated the build's intermediate code for it. This and the functions below are
/// for constructors of plans: the results stay valid for all runs.
template <class Kernel>
int code_architecture(Kernel* kernel) {
    cudaFuncAttributes attributes{};
    check(cudaFuncGetAttributes(&attributes, kernel));
    const auto gpu = limits();
    return std::min(attributes.ptxVersion, 10 * gpu.compute_major + gpu.compute_minor);
}

/// Allows a kernel to be launched with as much dynamic shared memory as one block may have. The kernel must not
/// use static shared memory.
template <class Kernel>
void allow_shared_memory(Kernel* kernel) {
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, limits().block_shared_bytes));
}

/// Returns how many blocks of a kernel run on the current GPU at once, given their dynamic shared memory. For
/// persistent kernels, whose blocks take work until none is left. Also calls allow_shared_memory().
template <class Kernel>
unsigned blocks_at_once(Kernel* kernel, int threads_per_block, std::size_t shared_bytes) {
    allow_shared_memory(kernel);
    const auto gpu = limits();
    int each = 0;
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, kernel, threads_per_block, shared_bytes));
    // The function above knows nothing of limits that are lowered.
    each = std::min({each, gpu.multiprocessor_threads / threads_per_block,
                     gpu.multiprocessor_shared_bytes / static_cast<int>(shared_bytes + reserved_shared_bytes)});
    return static_cast<unsigned>(std::max(1, each) * gpu.multiprocessors);
}

}  // namespace framewire::cuda

// Only for .cu files: reductions over the 32 lanes of a warp. Every lane receives the result. All lanes must
// call them; they use no memory.

namespace framewire::cuda {

/// Reduces with `join` by a butterfly exchange. The two partners of an exchange join the same pair of values,
/// each in its own order, so `join` must be commutative; floating-point sums then are equal in all lanes.
template <class Value, class Join>
__device__ Value warp_joined(Value value, Join&& join) {
#pragma unroll
    for (int step = 16; step > 0; step /= 2) value = join(value, __shfl_xor_sync(~0u, value, step));
    return value;
}

/// Returns the sum over all lanes. 32-bit integers use the hardware reduction of Ampere and later.
template <class Value>
__device__ Value warp_sum(Value value) {
    return warp_joined(value, [](Value a, Value b) { return a + b; });
}
__device__ inline std::uint32_t warp_sum(std::uint32_t value) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    return __reduce_add_sync(~0u, value);
#else
    return warp_joined(value, [](std::uint32_t a, std::uint32_t b) { return a + b; });
#endif
}

/// Returns the bits that are set in any of the values.
__device__ inline std::uint32_t warp_or(std::uint32_t value) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    return __reduce_or_sync(~0u, value);
#else
    return warp_joined(value, [](std::uint32_t a, std::uint32_t b) { return a | b; });
#endif
}

/// Returns the largest value.
__device__ inline std::uint32_t warp_max(std::uint32_t value) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    return __reduce_max_sync(~0u, value);
#else
    return warp_joined(value, [](std::uint32_t a, std::uint32_t b) { return max(a, b); });
#endif
}

}  // namespace framewire::cuda

// Only for .cu files: the sum over all tiles before each tile in a single pass, by decoupled look-back (Merrill
// and Garland, "Single-pass Parallel Prefix Scan with Decoupled Look-back", 2016). Like the scans of CUB it
// relies on blocks starting in the order of their numbers, because a tile waits for tiles with lower numbers.
//
// Every tile has a 64-bit word in global memory with its state and a value:
//
//     tile_unknown          nothing yet; readers spin
//     tile_alone            the tile's own sum; readers add it and look further back
//     tile_with_all_before  the sum up to and including the tile; readers stop here
//
// State and value share one word, so relaxed atomic accesses are enough: no other data is published.

namespace framewire::cuda {

/// State of a tile's word.
enum TileState : std::uint32_t { tile_unknown = 0, tile_alone = 1, tile_with_all_before = 2 };

/// Encoding of words that hold the launch's number, so that nothing needs to be cleared between launches: 30
/// bits of launch number, 2 of state, 32 of value. Words start as zeros and launches are numbered from 1. A
/// word from another launch counts as tile_unknown.
struct NumberedTiles {
    using Value = std::uint32_t;
    std::uint32_t launch;

    __device__ unsigned long long word(TileState state, Value value) const {
        return (static_cast<unsigned long long>(launch & 0x3FFFFFFFu) << 34) |
               (static_cast<unsigned long long>(state) << 32) | value;
    }
    __device__ std::uint32_t state(unsigned long long word) const {
        return word >> 34 == (launch & 0x3FFFFFFFu) ? static_cast<std::uint32_t>(word >> 32) & 3u : tile_unknown;
    }
    __device__ static Value value(unsigned long long word) { return static_cast<Value>(word); }
};

/// Encoding of words that an earlier kernel has set to zero: 2 bits of state, 62 of value.
struct ClearedTiles {
    using Value = unsigned long long;
    static constexpr int state_shift = 62;

    __device__ static unsigned long long word(TileState state, Value value) {
        return static_cast<unsigned long long>(state) << state_shift | value;
    }
    __device__ static std::uint32_t state(unsigned long long word) {
        return static_cast<std::uint32_t>(word >> state_shift);
    }
    __device__ static Value value(unsigned long long word) { return word & ((1ull << state_shift) - 1); }
};

/// Computes the sums of one array of tiles. `words` holds one word per tile, in order.
template <class Tiles>
class LookBack {
public:
    using Value = typename Tiles::Value;

    __device__ LookBack(unsigned long long* words, Tiles tiles) : words_(words), tiles_(tiles) {}

    /// Publishes `own` as the sum of `tile` and returns, to every lane, the sum of all tiles before it. Called
    /// by all lanes of exactly one warp of the tile's block, once per launch.
    __device__ Value sum_before(std::uint32_t tile, Value own) const {
        const bool speaks = threadIdx.x % 32 == 0;
        if (speaks) store(tile, tile == 0 ? tile_with_all_before : tile_alone, own);
        const auto before = look_back(tile);
        if (speaks && tile != 0) store(tile, tile_with_all_before, before + own);
        return before;
    }

private:
    using Word = ::cuda::atomic_ref<unsigned long long, ::cuda::thread_scope_device>;

    __device__ void store(std::uint32_t tile, TileState state, Value value) const {
        Word(words_[tile]).store(tiles_.word(state, value), ::cuda::memory_order_relaxed);
    }

    // Looks at 32 tiles at a time, the nearest in lane 0, until one of them holds the sum up to itself.
    __device__ Value look_back(std::uint32_t tile) const {
        const auto lane = threadIdx.x % 32;
        Value before = 0;
        for (auto end = static_cast<std::int64_t>(tile); end > 0; end -= 32) {
            const auto at = end - 1 - lane;
            std::uint32_t state;
            Value value = 0;
            do {
                state = tile_with_all_before;  // there is nothing before the first tile
                if (at >= 0) {
                    const auto word = Word(words_[at]).load(::cuda::memory_order_relaxed);
                    state = tiles_.state(word);
                    value = tiles_.value(word);
                }
            } while (__any_sync(~0u, state == tile_unknown));
            const auto complete = __ballot_sync(~0u, state == tile_with_all_before);
            const auto nearest = complete ? __ffs(static_cast<int>(complete)) - 1 : 31;
            before += warp_sum(static_cast<int>(lane) <= nearest ? value : Value{0});
            if (complete) break;
        }
        return before;
    }

    unsigned long long* words_;
    Tiles tiles_;
};

}  // namespace framewire::cuda

// Only for .cu files: exclusive and inclusive prefix sums over the threads of a warp and of a block. The x size
// of the block must be a whole number of warps. In blocks of several rows each row of threads scans on its own.

namespace framewire::cuda {

/// Does __shfl_up_sync() for any trivially copyable value whose size is a multiple of 4 bytes. Called by all lanes
/// of a warp.
template <class Value>
__device__ Value shuffle_up(const Value& value, unsigned lanes) {
    static_assert(std::is_trivially_copyable_v<Value> && sizeof(Value) % sizeof(std::uint32_t) == 0);
    std::uint32_t words[sizeof(Value) / sizeof(std::uint32_t)];
    std::memcpy(words, &value, sizeof value);
#pragma unroll
    for (auto& word : words) word = __shfl_up_sync(~0u, word, lanes);
    Value shuffled;
    std::memcpy(&shuffled, words, sizeof value);
    return shuffled;
}

/// Returns the sum of the values of all lanes up to and including the calling lane (Hillis and Steele, "Data
/// parallel algorithms", 1986). `Value` needs operator+. Called by all lanes of a warp; uses no memory.
template <class Value>
__device__ Value inclusive_warp_sum(Value value) {
#pragma unroll
    for (unsigned step = 1; step < 32; step *= 2) {
        const auto before = shuffle_up(value, step);
        if (threadIdx.x % 32 >= step) value = value + before;
    }
    return value;
}

/// Prefix sum over `warps` warps, in shared memory. It takes two calls with a barrier between them. The caller
/// provides the barrier, so that one barrier can serve other data too:
///
///     const auto in_warp = scan.begin(own);
///     __syncthreads();
///     const auto [before, total] = scan.end(in_warp);
///
/// A second barrier must precede the next begin(). `Value` needs operator+ and operator-, and `Value{}` must be
/// zero.
template <class Value, int warps>
struct BlockScan {
    Value warp_totals[warps];

    /// Result of end().
    struct Sums {
        Value before;  ///< sum over all threads before this one
        Value total;   ///< sum over all threads
    };

    /// Takes the value of the calling thread and returns the argument for end(). Called by all threads.
    __device__ Value begin(const Value& own) {
        const auto up_to_lane = inclusive_warp_sum(own);
        if (threadIdx.x % 32 == 31) warp_totals[threadIdx.x / 32] = up_to_lane;
        return up_to_lane - own;
    }

    /// Returns the sums for the calling thread; reads the totals of all warps. Any subset of the threads may
    /// call it.
    __device__ Sums end(const Value& in_warp) const {
        Sums sums{in_warp, {}};
#pragma unroll
        for (int warp = 0; warp < warps; ++warp) {
            if (warp < static_cast<int>(threadIdx.x / 32)) sums.before = sums.before + warp_totals[warp];
            sums.total = sums.total + warp_totals[warp];
        }
        return sums;
    }

    /// Returns the sum before the calling thread only; each lane reads the total of one warp, which is faster
    /// than end() with more than a few warps. Called by all lanes of a warp, which may arrive separately:
    /// warp_sum() waits for them. Only for 32-bit values.
    __device__ Value end_by_warp(const Value& in_warp) const {
        static_assert(warps <= 32 && std::is_same_v<Value, std::uint32_t>);
        const auto lane = threadIdx.x % 32;
        return in_warp + warp_sum(lane < threadIdx.x / 32 ? warp_totals[lane] : 0);
    }
};

}  // namespace framewire::cuda
