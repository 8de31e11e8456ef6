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

__device__ inline ChainSymbol chain_symbol(const ChainSymbol* table, int index) {
    const auto symbol = __ldg(reinterpret_cast<const uint4*>(table + index));
    return {symbol.x, symbol.y, symbol.z, symbol.w};
}

/// `bits` bits, 1 to 12: a state s becomes s * 2^bits + value.
__device__ inline ChainSymbol chain_bits(std::uint32_t value, int bits) {
    const auto factor = (1u << bits) - 1;
    return {1u << (31 - bits), ~0u, value + factor, factor << ChainSymbol::shift_bits};
}

/// A state, from which a word has moved out if need be, after one more symbol.
__device__ inline std::uint32_t state_after(std::uint32_t state, const ChainSymbol& symbol) {
    // Funnel shifts go by the lowest five bits.
    const auto quotient = __funnelshift_r(__umulhi(state, symbol.reciprocal), 0u, symbol.factor_and_shift);
    return state + symbol.bias + quotient * (symbol.factor_and_shift >> ChainSymbol::shift_bits);
}

/// What a warp's chain has in shared memory: symbols to come, and the words they give.
struct ChainMemory {
    ChainSymbol symbols[32];
    std::uint16_t words[33];
};

/// One state that symbols go into, the last one first, and the words before `word`. All lanes of a warp hold it and
/// call together.
class Chain {
public:
    __device__ Chain(std::uint16_t* word, ChainMemory& memory) : word_(word), memory_(&memory) {}

    /// `count` symbols, of which symbol_at(i) is looked up by one lane each.
    template <class SymbolAt>
    __device__ void put_all(int count, SymbolAt&& symbol_at) {
        const int lane = static_cast<int>(threadIdx.x % 32);
        ChainSymbol next{};
        if (lane < count) next = symbol_at(count - 1 - lane);
        for (int left = count; left > 0; left -= 32) {
            memory_->symbols[lane] = next;
            __syncwarp();
            if (lane < left - 32) next = symbol_at(left - 33 - lane);
            left >= 32 ? put<true>(32) : put<false>(left);
        }
    }
    __device__ void put_bits(std::uint32_t value, int bits) {
        put_all(1, [&](int) { return chain_bits(value, bits); });
    }
    /// The state itself, before which nothing more comes. Returns where the words begin.
    __device__ std::uint16_t* finish() {
        word_ -= 2;
        if (threadIdx.x % 32 == 0) {
            word_[0] = static_cast<std::uint16_t>(state_);
            word_[1] = static_cast<std::uint16_t>(state_ >> 16);
        }
        return word_;
    }

private:
    // The first symbols of those in memory. What counts here is how many instructions a symbol takes: there is no other
    // work for the warp. So a word is written in any case, to shared memory, and stays if it moves out.
    template <bool all>
    __device__ void put(int count) {
        const int lane = static_cast<int>(threadIdx.x % 32);
        int at = 32;
        // Two symbols are loaded ahead: the words that are written hold up loads behind them.
        auto symbol = memory_->symbols[0], following = memory_->symbols[1];
        const auto put_next = [&](int i) {
            const auto second = memory_->symbols[(i + 2) % 32];
            if (lane == 0) memory_->words[at] = static_cast<std::uint16_t>(state_);
            const bool full = state_ >= symbol.first_too_large;
            at -= full;
            state_ = state_after(full ? state_ >> 16 : state_, symbol);
            symbol = following;
            following = second;
        };
        if constexpr (all) {
#pragma unroll 16
            for (int i = 0; i < 32; ++i) put_next(i);
        } else {
            for (int i = 0; i < count; ++i) put_next(i);
        }
        __syncwarp();
        word_ -= 32 - at;
        if (lane < 32 - at) word_[lane] = memory_->words[at + 1 + lane];
        __syncwarp();
    }

    std::uint32_t state_ = rans::least_state;
    std::uint16_t* word_;
    ChainMemory* memory_;
};

}  // namespace framewire::delta
