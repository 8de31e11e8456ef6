#pragma once

#include "framewire/codec/coder_tables.hpp"
#include "framewire/codec/models.hpp"

#include <cstdint>

// rANS encoding by one warp, with one or several interleaved states. For .cu files only.

namespace framewire::codec {

/// Returns the first symbol of a model of the given kind.
template <const ModelKind& kind>
__device__ int first_symbol(int model) {
    constexpr int first = kind.first, symbols = kind.symbols;
    return first + model * symbols;
}

/// Loads a symbol from a table with a single access.
__device__ inline ChainSymbol chain_symbol(const ChainSymbol* table, int index) {
    const auto symbol = __ldg(reinterpret_cast<const uint4*>(table + index));
    return {symbol.x, symbol.y, symbol.z, symbol.w};
}

/// Returns the symbol for a raw number of 1 to 11 bits.
__device__ inline ChainSymbol chain_bits(std::uint32_t value, int bits) {
    const int rest = rans::probability_bits - bits;
    const auto complement = rans::probability_one - (1u << rest);
    return {1u << (31 - bits), 1u << 31, value << rest,
            complement << ChainSymbol::shift_bits | static_cast<std::uint32_t>(rest - 1)};
}

/// Encodes a symbol and returns the new state. If necessary, the caller must have moved out a word before.
__device__ inline std::uint32_t state_after(std::uint32_t state, const ChainSymbol& symbol) {
    // Funnel shifts use the lowest five bits of the shift operand.
    const auto quotient = __funnelshift_r(__umulhi(state, symbol.reciprocal), 0u, symbol.factor_and_shift);
    return state + symbol.bias + quotient * (symbol.factor_and_shift >> ChainSymbol::shift_bits);
}

/// Returns true if the symbol has the frequency 1, for which state_after_word() has no fast form.
__device__ inline bool is_rarest(const ChainSymbol& symbol) { return symbol.reciprocal == ~0u; }

/// Removes a word from the state if necessary, encodes a symbol and returns the new state. `plain`: whether the symbol
/// is known not to have the frequency 1. Because (state >> 16) / frequency equals (state / frequency) >> 16, both
/// possible results are computed before it is known which one applies.
template <bool plain>
__device__ inline std::uint32_t state_after_word(std::uint32_t state, const ChainSymbol& symbol) {
    const bool full = state >= symbol.first_too_large;
    if constexpr (!plain) return state_after(full ? state >> 16 : state, symbol);
    const auto product = __umulhi(state, symbol.reciprocal);
    const auto factor = symbol.factor_and_shift >> ChainSymbol::shift_bits;
    // Shifts are at most 11, so adding 16 stays within five bits.
    const auto as_it_is = state + symbol.bias + __funnelshift_r(product, 0u, symbol.factor_and_shift) * factor;
    const auto without_word =
        (state >> 16) + symbol.bias + __funnelshift_r(product, 0u, symbol.factor_and_shift + 16u) * factor;
    return full ? without_word : as_it_is;
}

/// Shared memory for the chains of a warp: the symbols to encode next, and the resulting words.
struct ChainMemory {
    static constexpr int symbols_at_once = 128;

    ChainSymbol symbols[symbols_at_once];
    std::uint16_t words[symbols_at_once];
};

/// Interleaved rANS states in the first lanes of a warp, one per lane. Symbol i uses state i modulo `states`, and the
/// last symbol is encoded first. All lanes of the warp call the members together; the lanes without a state repeat the
/// work of others, without effect.
template <int states>
class Chains {
public:
    /// Begins with the value `state` in each state. The words will end before `word`. `memory` must not be used for
    /// anything else until finish().
    __device__ Chains(std::uint16_t* word, ChainMemory& memory, std::uint32_t state = rans::least_state)
        : state_(state), word_(word), memory_(&memory) {}

    /// Encodes `count` symbols. One lane looks up symbol i as symbol_of(entry_at(i)). Both callables are called well
    /// before the symbol is encoded, to hide the latency of memory.
    template <class EntryAt, class SymbolOf>
    __device__ void put_all(int count, EntryAt&& entry_at, SymbolOf&& symbol_of) {
        const int lane = static_cast<int>(threadIdx.x % 32);
        // Pipeline: while a turn is encoded, the symbols of the next turn and the entries of the turn after that are
        // loaded.
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
    /// Encodes one symbol. Only for a single state.
    __device__ void put(const ChainSymbol& symbol) {
        static_assert(states == 1);
        if (state_ >= symbol.first_too_large) {
            --word_;
            if (threadIdx.x % 32 == 0) *word_ = static_cast<std::uint16_t>(state_);
        }
        state_ = state_after_word<false>(state_, symbol);
    }
    /// Writes all states except the first before the words, and returns a chain that continues with the first state.
    __device__ Chains<1> others_finished() const {
        const int lane = static_cast<int>(threadIdx.x % 32);
        auto* const word = word_ - 2 * (states - 1);
        if (lane > 0 && lane < states) write_state(word + 2 * lane - 2);
        return {word, *memory_, __shfl_sync(~0u, state_, 0)};
    }
    /// Writes the state, which ends the chain, and returns the beginning of the words. Only for a single state.
    __device__ std::uint16_t* finish() const {
        static_assert(states == 1);
        if (threadIdx.x % 32 == 0) write_state(word_ - 2);
        return word_ - 2;
    }

private:
    static constexpr int at_once = ChainMemory::symbols_at_once;
    static constexpr int longest_run = 8;  // maximum number of symbols per state in a step of put_turn()
    static_assert(32 % states == 0);

    // Returns a symbol that leaves the state unchanged.
    static __device__ ChainSymbol certain_symbol() { return {~0u, 0, 0, 0}; }

    __device__ void write_state(std::uint16_t* to) const {
        to[0] = static_cast<std::uint16_t>(state_);
        to[1] = static_cast<std::uint16_t>(state_ >> 16);
    }

    // Encodes the first `count` symbols in memory. `plain`: whether none of them has the frequency 1. The warp has no
    // other work, so the length of the dependency chain determines the speed. Therefore, each state first encodes
    // several symbols, and the words that moved out are written afterwards.
    template <bool plain>
    __device__ void put_turn(int count) {
        const int lane = static_cast<int>(threadIdx.x % 32), of_each = (count + states - 1) / states;
        const auto* const symbols = memory_->symbols + lane % states;
        int at = at_once - 1;  // place of the next word
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
            // Write the word unconditionally. It only counts if `at` is decremented.
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

}  // namespace framewire::codec

// Encoder of residuals on the device: the 32 lanes of a warp are the 32 states. For .cu files only.

namespace framewire::codec {

/// Words of all lanes. They end at `end` and grow downwards. Words beyond the capacity `room` are counted, but not
/// stored.
struct ResidualWords {
    std::uint16_t* end;
    int room, used;  ///< capacity and number of words

    /// Stores the lower half of `state` as a word, after `before` words of other lanes.
    __device__ void put(int before, std::uint32_t state) const {
        const int at = used + before;
        if (at < room) end[-1 - at] = static_cast<std::uint16_t>(state);
    }
};

/// Returns the first symbol of the residuals of a class. Device version of LaneTables::first().
__device__ inline int first_residual(int part_class) {
    return part_class < picture_models::small_classes
               ? first_symbol<picture_models::small_residual>(part_class)
               : first_symbol<picture_models::large_residual>(part_class - picture_models::small_classes);
}

/// A residual that was looked up in advance: its symbol, its value, and whether the value follows as raw bits.
struct ComingResidual {
    ChainSymbol symbol;
    std::uint32_t residual;
    bool other;
};
/// Looks up a residual. `first` is the first symbol of its class.
__device__ inline ComingResidual coming_residual(const CoderTables& tables, int first, std::uint32_t residual) {
    constexpr std::uint32_t other_residual = picture_models::small_symbols - 1;
    constexpr int first_large = picture_models::large_residual.first;  // first symbol of the classes without raw bits
    const bool other = first < first_large && residual >= other_residual;
    return {chain_symbol(tables.pictures, first + static_cast<int>(other ? other_residual : residual)), residual,
            other};
}

/// Encodes `count` residuals, 32 at a time and the last ones first, and then writes the states. look_up(number) returns
/// a ComingResidual and is called one turn in advance. `whole_turns`: whether `count` is a multiple of 32. Called by
/// one warp.
template <bool whole_turns, class LookUp>
__device__ void put_residuals(int count, LookUp&& look_up, ResidualWords& words) {
    constexpr int lanes = residual_lanes;
    static_assert(lanes == 32);
    const int lane = static_cast<int>(threadIdx.x % lanes);
    const auto later = lane == 31 ? 0u : ~0u << (lane + 1);  // lanes with later residuals; their words come first
    std::uint32_t state = rans::least_state;
    int begin = (count - 1) / lanes * lanes;
    ComingResidual next{};
    if (begin + lane < count) next = look_up(begin + lane);
    for (; begin >= 0; begin -= lanes) {
        const auto now = next;
        // Load the residuals of the next turn while this turn is encoded.
        if (begin > 0) next = look_up(begin - lanes + lane);
        const bool active = whole_turns || begin + lane < count;
        const bool other = active && now.other;
        if (__any_sync(~0u, other)) {
            const bool bits_full = other && state >= 1u << (31 - 8);
            const auto before_bits = state;
            if (bits_full) state >>= 16;
            if (other) state = state >> 4 << 12 | now.residual << 4 | (state & 15u);
            const bool full = active && state >= now.symbol.first_too_large;
            const auto of_bits = __ballot_sync(~0u, bits_full), of_symbols = __ballot_sync(~0u, full);
            const int before = __popc(of_bits & later) + __popc(of_symbols & later);
            if (bits_full) words.put(before, before_bits);
            if (full) words.put(before + bits_full, state);
            words.used += __popc(of_bits) + __popc(of_symbols);
            if (full) state >>= 16;
        } else {
            const bool full = active && state >= now.symbol.first_too_large;
            const auto of_symbols = __ballot_sync(~0u, full);
            if (full) words.put(__popc(of_symbols & later), state);
            words.used += __popc(of_symbols);
            if (full) state >>= 16;
        }
        if (active) state = state_after(state, now.symbol);
    }
    words.put(2 * (31 - lane), state >> 16);
    words.put(2 * (31 - lane) + 1, state);
    words.used += 2 * lanes;
}

}  // namespace framewire::codec
