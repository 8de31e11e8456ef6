#pragma once

// Only for .cu files: symbols of one state or several, coded or read by a warp.

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

/// The same, where a word moves out first if need be. `plain`: the symbol is not one of the rarest. (state >> 16) /
/// frequency is (state / frequency) >> 16: so what comes of either is known as soon as whether one does.
template <bool plain>
__device__ inline std::uint32_t state_after_word(std::uint32_t state, const ChainSymbol& symbol) {
    const bool full = state >= symbol.first_too_large;
    if constexpr (!plain) return state_after(full ? state >> 16 : state, symbol);
    const auto product = __umulhi(state, symbol.reciprocal);
    const auto factor = symbol.factor_and_shift >> ChainSymbol::shift_bits;
    // Shifts are 11 at most, so 16 more stay within their five bits.
    const auto as_it_is = state + symbol.bias + __funnelshift_r(product, 0u, symbol.factor_and_shift) * factor;
    const auto without_word =
        (state >> 16) + symbol.bias + __funnelshift_r(product, 0u, symbol.factor_and_shift + 16u) * factor;
    return full ? without_word : as_it_is;
}

/// What a warp's chains have in shared memory: symbols to come, and the words they give.
struct ChainMemory {
    static constexpr int symbols_at_once = 128;

    ChainSymbol symbols[symbols_at_once];
    std::uint16_t words[symbols_at_once];
};

/// States, one in each of a warp's first lanes, that take symbols in turn, the last one first: number i goes to state i
/// modulo their number. Their words end before `word`. All lanes of a warp call together; those behind the states are
/// given the same symbols again.
template <int states>
class Chains {
public:
    __device__ Chains(std::uint16_t* word, ChainMemory& memory, std::uint32_t state = rans::least_state)
        : state_(state), word_(word), memory_(&memory) {}

    /// `count` symbols, each looked up by one lane: symbol_of(entry_at(i)). Both may read memory, and are called long
    /// before the symbol is coded.
    template <class EntryAt, class SymbolOf>
    __device__ void put_all(int count, EntryAt&& entry_at, SymbolOf&& symbol_of) {
        const int lane = static_cast<int>(threadIdx.x % 32);
        // What comes next is looked up while others are coded: symbols one turn before, entries two.
        constexpr int each = at_once / 32;
        std::uint32_t entries_after[each];
        ChainSymbol next[each];
        const auto load_entries = [&](int from) {
#pragma unroll
            for (int i = 0; i < each; ++i) {
                const int at = from + 32 * i + lane;
                if (at >= 0 && at < count) entries_after[i] = entry_at(at);
            }
        };
        const auto look_up = [&](int from) {
#pragma unroll
            for (int i = 0; i < each; ++i) {
                const int at = from + 32 * i + lane;
                next[i] = at >= 0 && at < count ? symbol_of(entries_after[i]) : certain_symbol();
            }
        };
        int from = (count - 1) / at_once * at_once;
        load_entries(from);
        look_up(from);
        load_entries(from - at_once);
        for (; from >= 0; from -= at_once) {
            bool rare = false;
#pragma unroll
            for (int i = 0; i < each; ++i) {
                memory_->symbols[32 * i + lane] = next[i];
                rare |= is_rarest(next[i]);
            }
            __syncwarp();
            rare = __any_sync(~0u, rare);
            look_up(from - at_once);
            load_entries(from - 2 * at_once);
            rare ? put_turn<false>(min(count - from, at_once)) : put_turn<true>(min(count - from, at_once));
        }
    }
    /// One symbol, where there is one state.
    __device__ void put(const ChainSymbol& symbol) {
        static_assert(states == 1);
        if (state_ >= symbol.first_too_large) {
            --word_;
            if (threadIdx.x % 32 == 0) *word_ = static_cast<std::uint16_t>(state_);
        }
        state_ = state_after_word<false>(state_, symbol);
    }
    /// Puts all states but the first before the words; the first one goes on alone.
    __device__ Chains<1> others_finished() const {
        const int lane = static_cast<int>(threadIdx.x % 32);
        auto* const word = word_ - 2 * (states - 1);
        if (lane > 0 && lane < states) write_state(word + 2 * lane - 2);
        return {word, *memory_, __shfl_sync(~0u, state_, 0)};
    }
    /// The state itself, before which nothing more comes. Returns where the words begin.
    __device__ std::uint16_t* finish() const {
        static_assert(states == 1);
        if (threadIdx.x % 32 == 0) write_state(word_ - 2);
        return word_ - 2;
    }

private:
    static constexpr int at_once = ChainMemory::symbols_at_once;
    static constexpr int longest_run = 8;  // of symbols of a state
    static_assert(32 % states == 0);

    /// A state stays as it is.
    static __device__ ChainSymbol certain_symbol() { return {~0u, 0, 0, 0}; }

    __device__ void write_state(std::uint16_t* to) const {
        to[0] = static_cast<std::uint16_t>(state_);
        to[1] = static_cast<std::uint16_t>(state_ >> 16);
    }

    // The symbols in memory, of which `count` count. `plain`: none is among the rarest. What counts here is how many
    // instructions wait for others: there is no other work for the warp. So states go through some symbols, and then
    // the words that moved out on the way are written.
    template <bool plain>
    __device__ void put_turn(int count) {
        const int lane = static_cast<int>(threadIdx.x % 32), of_each = (count + states - 1) / states;
        const auto* const symbols = memory_->symbols + lane % states;
        int at = at_once - 1;  // where the next word goes
        constexpr int run = longest_run < at_once / states ? longest_run : at_once / states;
        for (int first = (of_each - 1) / run * run; first >= 0; first -= run) {
            ChainSymbol now[run];
            std::uint32_t before[run];
#pragma unroll
            for (int i = 0; i < run; ++i) now[i] = symbols[(first + i) * states];
#pragma unroll
            for (int i = run - 1; i >= 0; --i) {
                before[i] = state_;
                state_ = state_after_word<plain>(state_, now[i]);
            }
#pragma unroll
            for (int i = run - 1; i >= 0; --i) write_word(before[i], before[i] >= now[i].first_too_large, at);
        }
        __syncwarp();
        const int words = at_once - 1 - at;
        word_ -= words;
        for (int i = lane; i < words; i += 32) word_[i] = memory_->words[at + 1 + i];
        __syncwarp();
    }
    __device__ void write_word(std::uint32_t state, bool full, int& at) {
        const auto lane = threadIdx.x % 32;
        if constexpr (states == 1) {
            // Written in any case, it stays if it moves out.
            if (lane == 0) memory_->words[at] = static_cast<std::uint16_t>(state);
            at -= full;
        } else {
            constexpr auto of_states = states == 32 ? ~0u : (1u << states) - 1;
            const auto all_full = __ballot_sync(~0u, full) & of_states;
            // Words of later symbols come first.
            if (full && lane < states)
                memory_->words[at - __popc(all_full & ~1u << lane)] = static_cast<std::uint16_t>(state);
            at -= __popc(all_full);
        }
    }

    std::uint32_t state_;
    std::uint16_t* word_;
    ChainMemory* memory_;
};

}  // namespace framewire::delta
