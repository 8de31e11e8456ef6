#pragma once

// Only for .cu files: symbols of one state, coded or read by a warp.

#include "framewire/delta/entropy/coder_tables.hpp"
#include "framewire/delta/entropy/models.hpp"
#include "framewire/delta/entropy/rans.hpp"

#include <cstdint>

namespace framewire::delta {

/// The first symbol of a model of that kind.
template <const ModelKind& kind>
__device__ int first_symbol(int model) {
    constexpr int first = kind.first, symbols = kind.symbols;
    return first + model * symbols;
}

/// What coding a symbol takes: rans::Symbol, or so many plain bits, which are coded alike.
struct alignas(16) ChainSymbol {
    std::uint32_t first_too_large, reciprocal, bias, complement_and_shift;
};

__device__ inline ChainSymbol chain_symbol(const PackedSymbol* table, int index) {
    const auto packed = __ldg(reinterpret_cast<const uint2*>(table + index));
    const auto frequency = packed.y >> PackedSymbol::bias_bits & ((1u << PackedSymbol::frequency_bits) - 1);
    return {frequency << 19, packed.x, packed.y & ((1u << PackedSymbol::bias_bits) - 1),
            (rans::probability_one - frequency) | packed.y >> (PackedSymbol::bias_bits + PackedSymbol::frequency_bits)
                                                                  << 16};
}

/// `bits` bits, 1 to 12: a state s becomes s * 2^bits + value.
__device__ inline ChainSymbol chain_bits(std::uint32_t value, int bits) {
    const auto more = (1u << bits) - 1;
    return {1u << (31 - bits), ~0u, value + more, more};
}

/// One state that symbols go into, the last one first. All lanes of a warp hold it and do the same; one of them writes.
struct Chain {
    std::uint32_t state;
    std::uint16_t* word;

    /// Writes the word before the last one in any case: whether it moves out is known late, and a branch would hold up
    /// the loads of what comes next. Both states that may follow are found before it is known which one does.
    __device__ void put(const ChainSymbol& symbol, bool writes) {
        if (writes) word[-1] = static_cast<std::uint16_t>(state);
        const auto shift = symbol.complement_and_shift >> 16, complement = symbol.complement_and_shift & 0xFFFFu;
        const auto after = [&](std::uint32_t before) {
            return (__umulhi(before, symbol.reciprocal) >> shift) * complement + (before + symbol.bias);
        };
        const auto same = after(state), moved = after(state >> 16);
        const bool full = state >= symbol.first_too_large;
        state = full ? moved : same;
        word -= full;
    }
    /// The state itself, where nothing more comes before it.
    __device__ void finish(bool writes) {
        word -= 2;
        if (!writes) return;
        word[0] = static_cast<std::uint16_t>(state);
        word[1] = static_cast<std::uint16_t>(state >> 16);
    }
    /// `count` symbols, of which symbol_at(i) is looked up by one lane each. By all lanes of a warp; `staged` is its
    /// own, of 32 in shared memory.
    template <class SymbolAt>
    __device__ void put_all(int count, ChainSymbol* staged, SymbolAt&& symbol_at) {
        const int lane = static_cast<int>(threadIdx.x % 32);
        ChainSymbol next{};
        if (lane < count) next = symbol_at(count - 1 - lane);
        for (int left = count; left > 0; left -= 32) {
            staged[lane] = next;
            __syncwarp();
            if (lane < left - 32) next = symbol_at(left - 33 - lane);
            if (left >= 32) {
#pragma unroll 16
                for (int i = 0; i < 32; ++i) put(staged[i], lane == 0);
            } else {
                auto symbol = staged[0];
                for (int i = 1; i <= left; ++i) {
                    const auto following = staged[i % 32];
                    put(symbol, lane == 0);
                    symbol = following;
                }
            }
            __syncwarp();
        }
    }
};

}  // namespace framewire::delta
