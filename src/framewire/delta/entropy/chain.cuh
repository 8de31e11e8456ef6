#pragma once

// Only for .cu files: symbols of one state, coded or read by a warp.

#include "framewire/delta/entropy/coder_tables.hpp"
#include "framewire/delta/entropy/models/models.hpp"
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

/// A number of `bits` bits, 1 to 11.
__device__ inline ChainSymbol chain_bits(std::uint32_t value, int bits) {
    const int rest = rans::probability_bits - bits;
    const auto complement = rans::probability_one - (1u << rest);
    return {1u << (31 - bits), 1u << 31, value << rest,
            complement << ChainSymbol::shift_bits | static_cast<std::uint32_t>(rest - 1)};
}

/// A state, from which a word has moved out if need be, after one more symbol.
__device__ inline std::uint32_t state_after(std::uint32_t state, const ChainSymbol& symbol) {
    // Funnel shifts go by the lowest five bits.
    const auto quotient = __funnelshift_r(__umulhi(state, symbol.reciprocal), 0u, symbol.factor_and_shift);
    return state + symbol.bias + quotient * (symbol.factor_and_shift >> ChainSymbol::shift_bits);
}

/// Whether the symbol has a frequency of 1.
__device__ inline bool is_rarest(const ChainSymbol& symbol) { return symbol.reciprocal == ~0u; }

/// The same, and whether a word moves out first, of a symbol that is not one of the rarest. (state >> 16) / frequency
/// is (state / frequency) >> 16: so the long product need not wait for whether one does.
__device__ inline std::uint32_t state_after_word(std::uint32_t state, bool full, const ChainSymbol& symbol) {
    // Shifts are 11 at most, so 16 more stay within their five bits.
    const auto shift_both = symbol.factor_and_shift + 16u;
    const auto quotient =
        __funnelshift_r(__umulhi(state, symbol.reciprocal), 0u, full ? shift_both : symbol.factor_and_shift);
    return (full ? state >> 16 : state) + symbol.bias + quotient * (symbol.factor_and_shift >> ChainSymbol::shift_bits);
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
    __device__ Chain(std::uint16_t* word, ChainMemory& memory, std::uint32_t state = rans::least_state)
        : state_(state), word_(word), memory_(&memory) {}

    /// `count` symbols, of which symbol_at(i) is looked up by one lane each.
    template <class SymbolAt>
    __device__ void put_all(int count, SymbolAt&& symbol_at) {
        const int lane = static_cast<int>(threadIdx.x % 32);
        ChainSymbol next{};
        if (lane < count) next = symbol_at(count - 1 - lane);
        for (int left = count; left > 0; left -= 32) {
            memory_->symbols[lane] = next;
            __syncwarp();
            const bool plain = !__any_sync(~0u, is_rarest(next));  // of all 32, as most are
            if (lane < left - 32) next = symbol_at(left - 33 - lane);
            left >= 32 && plain ? put<true>(32) : put<false>(min(left, 32));
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
    // The first symbols of those in memory: 32 none of which is among the rarest (`plain`), or some. What counts here
    // is how many instructions a symbol takes: there is no other work for the warp. So a word is written in any case,
    // to shared memory, and stays if it moves out.
    template <bool plain>
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
            state_ = plain ? state_after_word(state_, full, symbol) : state_after(full ? state_ >> 16 : state_, symbol);
            symbol = following;
            following = second;
        };
        if constexpr (plain) {
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

    std::uint32_t state_;
    std::uint16_t* word_;
    ChainMemory* memory_;
};

/// Several states, one in each of a warp's first lanes, that take symbols in turn: number i goes to state i modulo
/// their number, the last one first. All lanes call together.
class LaneChain {
public:
    /// `states`: 8 or 32.
    __device__ LaneChain(std::uint16_t* word, int states) : word_(word), states_(states) {}

    /// `count` entries, each a symbol of `table`.
    __device__ void put_all(const std::uint16_t* entries, int count, const ChainSymbol* table) {
        // What comes next is looked up while others are coded: symbols one turn of `turns` before, entries two.
        std::uint32_t entries_after[turns];
        ChainSymbol now[turns], next[turns];
        const int all = turns * states_;
        const auto load_entries = [&](int from) {
#pragma unroll
            for (int i = 0; i < turns; ++i) entries_after[i] = is_one(from, i, count) ? entries[number(from, i)] : 0u;
        };
        const auto load_symbols = [&] {
#pragma unroll
            for (int i = 0; i < turns; ++i) next[i] = chain_symbol(table, static_cast<int>(entries_after[i]));
        };
        int from = (count - 1) / all * all;
        load_entries(from);
        load_symbols();
        load_entries(from - all);
        for (; from >= 0; from -= all) {
#pragma unroll
            for (int i = 0; i < turns; ++i) now[i] = next[i];
            load_symbols();
            load_entries(from - 2 * all);
#pragma unroll
            for (int i = turns - 1; i >= 0; --i) put(now[i], is_one(from, i, count));
        }
    }
    /// All states but the first. Returns where the words begin.
    __device__ std::uint16_t* finish() {
        const int lane = static_cast<int>(threadIdx.x % 32);
        word_ -= 2 * (states_ - 1);
        if (lane > 0 && lane < states_) {
            word_[2 * lane - 2] = static_cast<std::uint16_t>(state_);
            word_[2 * lane - 1] = static_cast<std::uint16_t>(state_ >> 16);
        }
        return word_;
    }
    __device__ std::uint32_t first_state() const { return __shfl_sync(~0u, state_, 0); }

private:
    static constexpr int turns = 4;

    // The entry of this lane in turn `turn` from `from` on.
    __device__ int number(int from, int turn) const {
        return from + turn * states_ + static_cast<int>(threadIdx.x % 32);
    }
    __device__ bool is_one(int from, int turn, int count) const {
        const int at = number(from, turn);
        return static_cast<int>(threadIdx.x % 32) < states_ && at >= 0 && at < count;
    }
    __device__ void put(const ChainSymbol& symbol, bool active) {
        const auto later = ~1u << (threadIdx.x % 32);
        const bool full = active && state_ >= symbol.first_too_large;
        const auto all_full = __ballot_sync(~0u, full);
        if (full) {
            word_[-1 - __popc(all_full & later)] = static_cast<std::uint16_t>(state_);
            state_ >>= 16;
        }
        word_ -= __popc(all_full);
        if (active) state_ = state_after(state_, symbol);
    }

    std::uint32_t state_ = rans::least_state;
    std::uint16_t* word_;
    int states_;
};

}  // namespace framewire::delta
