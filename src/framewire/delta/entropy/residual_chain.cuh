#pragma once

// Encoder of residuals on the device: the 32 lanes of a warp are the 32 states. For .cu files only.

#include "framewire/delta/entropy/chain.cuh"
#include "framewire/delta/entropy/lanes.hpp"

#include <cstdint>

namespace framewire::delta {

/// Words of all lanes. They end at `end` and grow downwards. Words that do not fit into the last `room` ones are
/// counted but not stored.
struct ResidualWords {
    std::uint16_t* end;
    int room, used;  ///< capacity and number of words

    /// Stores a word after skipping `before` words of other lanes.
    __device__ void put(int before, std::uint32_t state) const {
        const int at = used + before;
        if (at < room) end[-1 - at] = static_cast<std::uint16_t>(state);
    }
};

/// Returns the first symbol of the residuals of a class: LaneTables::first() on the device.
__device__ inline int first_residual(int part_class) {
    return part_class < picture_models::small_classes
               ? first_symbol<picture_models::small_residual>(part_class)
               : first_symbol<picture_models::large_residual>(part_class - picture_models::small_classes);
}

/// A residual that was looked up in advance: its symbol, and whether its value follows as raw bits.
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
/// a ComingResidual and is called one turn in advance. `whole_turns`: `count` is a multiple of 32. One warp calls it.
template <bool whole_turns, class LookUp>
__device__ void put_residuals(int count, LookUp&& look_up, ResidualWords& words) {
    constexpr int lanes = residual_lanes;
    static_assert(lanes == 32);
    const int lane = static_cast<int>(threadIdx.x % lanes);
    const auto later = lane == 31 ? 0u : ~0u << (lane + 1);  // lanes with later residuals, whose words come first
    std::uint32_t state = rans::least_state;
    int begin = (count - 1) / lanes * lanes;
    ComingResidual next{};
    if (begin + lane < count) next = look_up(begin + lane);
    for (; begin >= 0; begin -= lanes) {
        const auto now = next;
        // Load the next turn's residuals while this turn is encoded.
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

}  // namespace framewire::delta
