#pragma once

// Only for .cu files: the symbols of a block of steps as bytes.

#include "framewire/cuda/kernel/warp.cuh"
#include "framewire/delta/batch/step_contexts.cuh"
#include "framewire/delta/entropy/chain.cuh"
#include "framewire/delta/entropy/step_states.hpp"

#include <cstdint>

namespace framewire::delta {

/// Codes what class Symbols does: `first`, if it is an entry and not negative, and those of the parts, counts[part] at
/// entries_of(part), with `set` of the models. They end at `end`; returns where they begin. By one warp.
template <class Count, class EntriesOf>
__device__ std::uint16_t* put_step_symbols(std::uint16_t* end, ChainMemory& memory, const CoderTables& tables, int set,
                                           int first, const Count* counts, EntriesOf&& entries_of) {
    constexpr int parts = parts_per_row * parts_per_row;
    const int lane = static_cast<int>(threadIdx.x % 32);
    std::uint32_t own = lane == 0 && first >= 0;
    for (int part = lane; part < parts; part += 32) own += counts[part];
    int left = static_cast<int>(cuda::warp_sum(own));
    left = __shfl_sync(~0u, left, 0);
    const int choice = step_states::choice_for(left);
    const auto* const symbols = tables.steps + set * step_models::symbols;
    const auto first_symbol = [&](int) { return chain_symbol(symbols, first); };
    Chain chain(end, memory);
    if (choice == 0) {
        for (int part = parts - 1; part >= 0; --part) {
            const auto* const entries = entries_of(part);
            chain.put_all(static_cast<int>(counts[part]), [&](int i) { return chain_symbol(symbols, entries[i]); });
        }
        if (first >= 0) chain.put_all(1, first_symbol);
    } else {
        LaneChain lanes(end, step_states::count(choice));
        for (int part = parts - 1; part >= 0; --part) {
            const auto* const entries = entries_of(part);
            const int count = static_cast<int>(counts[part]);
            left -= count;
            if (count) lanes.put_all(left, count, [&](int i) { return chain_symbol(symbols, entries[i]); });
        }
        if (first >= 0) lanes.put_all(0, 1, first_symbol);
        auto* const word = lanes.finish();
        chain = Chain(word, memory, lanes.first_state());
    }
    chain.put_all(1, [&](int) { return chain_symbol(tables.states, choice); });
    chain.put_bits(static_cast<std::uint32_t>(set), step_states::set_bits);
    return chain.finish();
}

}  // namespace framewire::delta
