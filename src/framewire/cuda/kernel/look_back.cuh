#pragma once

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

#include "framewire/cuda/kernel/warp.cuh"

#include <cuda/atomic>

#include <cstdint>

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
