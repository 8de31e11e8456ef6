#pragma once

// Joins the entries of a block's sub-blocks and codes them with rANS. For .cu files only.

#include "framewire/cuda/kernel/scan.cuh"
#include "framewire/delta/batch/step_contexts.cuh"
#include "framewire/delta/entropy/chain.cuh"
#include "framewire/delta/entropy/step_states.hpp"

#include <cstdint>

namespace framewire::delta {

/// Concatenates the entries of a block's 64 sub-blocks, counts[part] entries at entries_of(part), into `to`. Returns
/// the total. `ends` is in shared memory and receives the end of each sub-block's entries. All threads of a thread
/// block call it.
template <int threads, class Count, class EntriesOf>
__device__ int join_entries(const Count* counts, std::uint32_t (&ends)[parts_per_row * parts_per_row],
                            EntriesOf&& entries_of, std::uint16_t* to) {
    static_assert(parts_per_row * parts_per_row == 64);
    if (threadIdx.x < 32) {
        const auto first_half = cuda::inclusive_warp_sum(static_cast<std::uint32_t>(counts[threadIdx.x]));
        const auto half = __shfl_sync(~0u, first_half, 31);
        ends[threadIdx.x] = first_half;
        ends[threadIdx.x + 32] = half + cuda::inclusive_warp_sum(static_cast<std::uint32_t>(counts[threadIdx.x + 32]));
    }
    __syncthreads();
    // Several entries are read before the first one is written, so that the reads are in flight together.
    constexpr std::uint32_t read_ahead = 8;
    const auto count = ends[63];
    int part = 0;
    for (auto first = threadIdx.x; first < count; first += threads * read_ahead) {
        std::uint16_t read[read_ahead];
#pragma unroll
        for (std::uint32_t i = 0; i < read_ahead; ++i)
            if (const auto at = first + i * threads; at < count) {
                while (ends[part] <= at) ++part;
                read[i] = entries_of(part)[at - (part ? ends[part - 1] : 0)];
            }
#pragma unroll
        for (std::uint32_t i = 0; i < read_ahead; ++i)
            if (const auto at = first + i * threads; at < count) to[at] = read[i];
    }
    return static_cast<int>(count);
}

/// Returns the set of models with the lowest cost; the first one of equal ones.
__device__ inline int best_set(const std::uint32_t (&costs)[step_models::sets]) {
    int best = 0;
    for (int set = 1; set < step_models::sets; ++set)
        if (costs[set] < costs[best]) best = set;
    return best;
}

/// Parameters that a block of a delta frame signals before its first symbol.
struct StepHead {
    int set;     ///< set of models
    int states;  ///< choice of the number of states, as in step_states
};
/// Returns the head with which the block takes the fewest bytes, by the same rule as class Symbols.
__device__ inline StepHead best_head(const std::uint32_t (&costs)[step_models::sets]) {
    const int set = best_set(costs);
    return {set, step_states::choice_for(costs[set])};
}

/// Codes `count` entries as class Symbols does. The words end at `end`; returns where they begin. One warp calls it.
///
/// Each entry emits at most one word, so `entries` may lie in the memory before `end`, with room for the states
/// between: the coder reads the last entry first and never overtakes it.
__device__ inline std::uint16_t* put_step_symbols(std::uint16_t* end, ChainMemory& memory, const CoderTables& tables,
                                                  const StepHead& head, const std::uint16_t* entries, int count) {
    const auto* const symbols = tables.steps + head.set * step_models::symbols;
    const auto put_all = [&]<int choice>() {
        Chains<step_states::count(choice)> chains(end, memory);
        chains.put_all(
            count, [&](int i) -> std::uint32_t { return entries[i]; },
            [&](std::uint32_t entry) { return chain_symbol(symbols, static_cast<int>(entry)); });
        return chains.others_finished();
    };
    static_assert(step_states::choices == 3);
    auto chain = head.states == 0   ? put_all.template operator()<0>()
                 : head.states == 1 ? put_all.template operator()<1>()
                                    : put_all.template operator()<2>();
    chain.put(chain_symbol(tables.states, head.states));
    chain.put(chain_bits(static_cast<std::uint32_t>(head.set), step_states::set_bits));
    return chain.finish();
}

}  // namespace framewire::delta
