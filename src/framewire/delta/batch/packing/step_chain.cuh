#pragma once

// Only for .cu files: the symbols of a block of steps as bytes.

#include "framewire/cuda/kernel/scan.cuh"
#include "framewire/delta/batch/step_contexts.cuh"
#include "framewire/delta/entropy/chain.cuh"
#include "framewire/delta/entropy/step_states.hpp"

#include <cstdint>

namespace framewire::delta {

/// Lays the entries of a block's parts, counts[part] at entries_of(part), one after the other from `to` on. Returns how
/// many there are. By all threads of a thread block.
template <int warps, class Count, class EntriesOf>
__device__ int join_entries(const Count* counts, EntriesOf&& entries_of, std::uint16_t* to) {
    static_assert(parts_per_row * parts_per_row == 64);
    const int lane = static_cast<int>(threadIdx.x % 32);
    const auto first_half = cuda::inclusive_warp_sum(static_cast<std::uint32_t>(counts[lane]));
    const auto half = __shfl_sync(~0u, first_half, 31);
    const auto second_half = half + cuda::inclusive_warp_sum(static_cast<std::uint32_t>(counts[lane + 32]));
    for (int part = static_cast<int>(threadIdx.x / 32); part < 64; part += warps) {
        const auto end = __shfl_sync(~0u, part < 32 ? first_half : second_half, part % 32);
        const auto count = static_cast<std::uint32_t>(counts[part]);
        const auto* const from = entries_of(part);
        for (auto i = static_cast<std::uint32_t>(lane); i < count; i += 32) to[end - count + i] = from[i];
    }
    return static_cast<int>(__shfl_sync(~0u, second_half, 31));
}

/// Which set of models costs the least; the first of these.
__device__ inline int best_set(const std::uint32_t (&costs)[step_models::sets]) {
    int best = 0;
    for (int set = 1; set < step_models::sets; ++set)
        if (costs[set] < costs[best]) best = set;
    return best;
}

/// What a block of steps says of itself before its first symbol.
struct StepHead {
    int set;     ///< of models
    int states;  ///< how many, as step_states has it
};
/// The one with which it takes the fewest bytes, as class Symbols chooses.
__device__ inline StepHead best_head(const std::uint32_t (&costs)[step_models::sets]) {
    const int set = best_set(costs);
    return {set, step_states::choice_for(costs[set])};
}

/// Codes `count` entries as class Symbols does. They end at `end`; returns where they begin. By one warp.
/// Each entry moves one word out at most, so `entries` may lie in what comes before `end`, with room for the states
/// between.
__device__ inline std::uint16_t* put_step_symbols(std::uint16_t* end, ChainMemory& memory, const CoderTables& tables,
                                                  const StepHead& head, const std::uint16_t* entries, int count) {
    const auto* const symbols = tables.steps + head.set * step_models::symbols;
    Chain chain(end, memory);
    if (head.states == 0) {
        chain.put_all(count, [&](int i) { return chain_symbol(symbols, entries[i]); });
    } else {
        LaneChain lanes(end, step_states::count(head.states));
        lanes.put_all(entries, count, symbols);
        auto* const word = lanes.finish();
        chain = Chain(word, memory, lanes.first_state());
    }
    chain.put_all(1, [&](int) { return chain_symbol(tables.states, head.states); });
    chain.put_bits(static_cast<std::uint32_t>(head.set), step_states::set_bits);
    return chain.finish();
}

}  // namespace framewire::delta
