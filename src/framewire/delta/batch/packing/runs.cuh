#pragma once

// Only for .cu files: the symbols and magnitudes of a block in runs, found by all threads of a thread block.

#include "framewire/cuda/kernel/scan.cuh"
#include "framewire/cuda/kernel/warp.cuh"
#include "framewire/delta/batch/step_contexts.cuh"
#include "framewire/delta/blocks/runs.hpp"
#include "framewire/delta/entropy/lane_tables.hpp"
#include "framewire/delta/entropy/residual_chain.cuh"
#include "framewire/delta/prediction/part_modes.hpp"

#include <cstdint>

namespace framewire::delta {

/// What of a block in runs is found, in shared memory.
struct RunsFound {
    static constexpr int parts = parts_per_row * parts_per_row, most_channels = 3;

    RunRow rows[block_side][parts_per_row];
    // Of each part and channel in the order of coding: how many magnitudes, and their class.
    std::uint8_t counts[parts][most_channels], classes[parts][most_channels];
    std::uint32_t samples, pixels, pixels_in_runs;  // that change
    std::uint32_t others;                           // magnitudes told by bits
    std::uint32_t lists, magnitudes;  // how many channels of parts have magnitudes, and how many those are

    /// By one thread.
    __device__ void clear() { samples = pixels = pixels_in_runs = others = 0; }
    __device__ bool all_count() const { return are_runs(static_cast<int>(pixels_in_runs), static_cast<int>(pixels)); }
};

/// Magnitudes of a block in runs as they wait to be coded, from `first` on: of each channel of a part that has some
/// where they begin, then their classes, then all of them.
struct WaitingMagnitudes {
    std::uint16_t* begins;
    int lists, count;

    __device__ std::uint8_t* classes() const { return reinterpret_cast<std::uint8_t*>(begins + lists); }
    __device__ std::uint8_t* folded() const { return classes() + lists; }
    __device__ std::uint32_t bytes() const { return static_cast<std::uint32_t>(3 * lists + count); }
};

/// Finds the kinds of all rows from the block's traits. By all threads.
template <int threads, int channels>
__device__ void find_run_rows(const BlockPlace& place, const BlockSteps<channels>& block, RunsFound& found) {
    std::uint32_t pixels = 0, in_runs = 0;
    for (auto at = threadIdx.x; at < block_side * parts_per_row; at += threads) {
        const int y = static_cast<int>(at) / parts_per_row, column = static_cast<int>(at) % parts_per_row;
        const int left = column * part_side;
        RunRow row{};
        if (y < place.height && left < place.width) {
            unsigned changed = 0, up = 0, down = 0;
#pragma unroll
            for (int half = 0; half < 2; ++half) {
                const auto four = *reinterpret_cast<const std::uint32_t*>(
                    &block.traits[BlockSteps<channels>::at(left + 4 * half, y)]);
#pragma unroll
                for (int x = 0; x < 4; ++x) {
                    const PixelTraits traits{static_cast<std::uint8_t>(four >> (8 * x))};
                    const bool all = traits.extent() == 2;
                    changed |= static_cast<unsigned>(traits.bits != 0) << (4 * half + x);
                    up |= static_cast<unsigned>(all && traits.direction() == 1) << (4 * half + x);
                    down |= static_cast<unsigned>(all && traits.direction() == 2) << (4 * half + x);
                }
            }
            row = run_row(changed, up, down, min(part_side, place.width - left));
            const auto count = static_cast<std::uint32_t>(__popc(changed));
            pixels += count;
            if (row.kind != RowKind::mixed) in_runs += count;
        }
        found.rows[y][column] = row;
    }
    pixels = cuda::warp_sum(pixels);
    in_runs = cuda::warp_sum(in_runs);
    if (threadIdx.x % 32 == 0) {
        atomicAdd(&found.pixels, pixels);
        atomicAdd(&found.pixels_in_runs, in_runs);
    }
}

/// The symbols of a part's rows with changes behind its mode, and its magnitudes: `magnitudes` has room for those of a
/// part per channel. Returns how many symbols there are, with room behind them for those of classes; adds to `cost`.
/// By one warp.
template <int channels>
__device__ std::uint32_t find_run_part(const BlockPlace& place, int part, const BlockSteps<channels>& block,
                                       const CoderTables& tables, RunsFound& found, std::uint16_t* entries,
                                       std::uint8_t* magnitudes, unsigned long long& cost) {
    constexpr int part_pixels = part_side * part_side;
    const int lane = static_cast<int>(threadIdx.x % 32);
    const int column = part % parts_per_row, left = column * part_side, top = part / parts_per_row * part_side;
    std::uint32_t count = 0, counts[channels] = {}, sums[channels] = {}, others[channels] = {};
    for (int first = 0; first < part_pixels; first += 32) {
        const int x = left + (first + lane) % part_side, y = top + (first + lane) / part_side;
        const bool inside = x < place.width && y < place.height;
        std::uint16_t own[4];
        int own_count = 0;
        int steps[channels] = {};
        if (inside) {
            const auto row = found.rows[y][column];
            if (x == left) {
                const auto above = y > 0 ? found.rows[y - 1][column] : RunRow{};
                const int model = RunRow::model(above, block.traits_at(x - 1, y).direction());
                own[own_count++] =
                    static_cast<std::uint16_t>(first_symbol<step_models::row>(model) + static_cast<int>(row.kind));
                if (RunRow::has_edge(row.kind))
                    own[own_count++] =
                        static_cast<std::uint16_t>(first_symbol<step_models::edge>(row.edge_model(above)) + row.edge);
            }
#pragma unroll
            for (int channel = 0; channel < channels; ++channel) steps[channel] = block.step(x, y, channel);
            if (row.kind == RowKind::mixed) {
                const auto near = neighbours_of(block, x, y);
                const int pattern = pattern_of(steps);
                own[own_count++] = changed_entry(near, pattern != 0, Foretold::differences, 0);
                if (pattern) own[own_count++] = pattern_entry<channels>(near, pattern, tables.pattern_ranks);
            }
        }
        const auto up_to = cuda::inclusive_warp_sum(static_cast<std::uint32_t>(own_count));
        for (int i = 0; i < own_count; ++i) {
            entries[count + up_to - static_cast<std::uint32_t>(own_count - i)] = own[i];
            cost += __ldg(reinterpret_cast<const unsigned long long*>(tables.step_costs + own[i]));
        }
        count += __shfl_sync(~0u, up_to, 31);

        int before = -1, steps_before = 0;
#pragma unroll
        for (int i = 0; i < channels; ++i) {
            const int channel = coded_channel(i, channels);
            const int of_channel = steps[channel];
            int folded = 0;
            if (of_channel) {
                const int sign = of_channel > 0 ? 1 : -1;
                const auto context =
                    magnitude_context([&](int right, int down, int of) { return block.step(x + right, y + down, of); },
                                      channel, sign, before, steps_before, i == 0, true);
                folded = fold_within(of_channel * sign, context.expected);
                before = channel;
                steps_before = of_channel;
            }
            const auto there = __ballot_sync(~0u, of_channel != 0);
            if (of_channel)
                magnitudes[i * part_pixels + counts[i] + __popc(there & ((1u << lane) - 1))] =
                    static_cast<std::uint8_t>(folded);
            counts[i] += static_cast<std::uint32_t>(__popc(there));
            sums[i] += cuda::warp_sum(static_cast<std::uint32_t>(folded + 1) / 2);
            others[i] +=
                static_cast<std::uint32_t>(__popc(__ballot_sync(~0u, folded >= picture_models::small_symbols - 1)));
        }
    }
#pragma unroll
    for (int i = 0; i < channels; ++i) {
        const int part_class = counts[i] ? residual_class(sums[i], static_cast<int>(counts[i])) : 0;
        count += counts[i] != 0;
        if (lane > 0) continue;
        found.counts[part][i] = static_cast<std::uint8_t>(counts[i]);
        found.classes[part][i] = static_cast<std::uint8_t>(part_class);
        if (others[i] && part_class < picture_models::small_classes) atomicAdd(&found.others, others[i]);
    }
    return count;
}

/// Writes the symbols of classes behind those of their parts, of which part p has counts[p] in all at entries_of(p);
/// adds to `cost`. By all threads, when all parts are found.
template <int channels, class EntriesOf>
__device__ void find_run_classes(const RunsFound& found, const std::uint32_t* counts, EntriesOf&& entries_of,
                                 const CoderTables& tables, unsigned long long& cost) {
    const int part = static_cast<int>(threadIdx.x) / channels, i = static_cast<int>(threadIdx.x) % channels;
    if (part >= RunsFound::parts || !found.counts[part][i]) return;
    int before = part - 1;
    while (before >= 0 && !found.counts[before][i]) --before;
    const int model = part_class_model(before >= 0 ? found.classes[before][i] : 0, i == 0);
    const auto entry =
        static_cast<std::uint16_t>(first_symbol<step_models::part_class>(model) + found.classes[part][i]);
    std::uint32_t behind = 0;
    for (int other = i; other < channels; ++other) behind += found.counts[part][other] != 0;
    entries_of(part)[counts[part] - behind] = entry;
    cost += __ldg(reinterpret_cast<const unsigned long long*>(tables.step_costs + entry));
}

/// Lays all magnitudes of a block, those of part p at magnitudes_of(p), one after the other.
/// By all threads.
template <int threads, int channels, class MagnitudesOf>
__device__ void join_magnitudes(const RunsFound& found, MagnitudesOf&& magnitudes_of, const WaitingMagnitudes& to) {
    constexpr int all = RunsFound::parts * channels, warps = threads / 32;
    const int lane = static_cast<int>(threadIdx.x % 32), warp = static_cast<int>(threadIdx.x / 32);
    // Each warp adds all counts up, and copies the lists whose turn is its own.
    std::uint32_t lists = 0, begin = 0;
    for (int first = 0; first < all; first += 32) {
        const int at = first + lane;
        const std::uint32_t count = at < all ? found.counts[at / channels][at % channels] : 0;
        const auto there = __ballot_sync(~0u, count != 0);
        const auto up_to = cuda::inclusive_warp_sum(count);
        if (count && warp == 0) {
            const auto list = lists + static_cast<std::uint32_t>(__popc(there & ((1u << lane) - 1)));
            to.begins[list] = static_cast<std::uint16_t>(begin + up_to - count);
            to.classes()[list] = found.classes[at / channels][at % channels];
        }
        for (auto left = there; left; left &= left - 1) {
            const int other = __ffs(static_cast<int>(left)) - 1, number = first + other;
            const auto size = __shfl_sync(~0u, count, other), end = __shfl_sync(~0u, up_to, other);
            if (number % warps != warp) continue;
            const auto* const from = magnitudes_of(number / channels) + number % channels * part_side * part_side;
            for (auto i = static_cast<std::uint32_t>(lane); i < size; i += 32)
                to.folded()[begin + end - size + i] = from[i];
        }
        lists += static_cast<std::uint32_t>(__popc(there));
        begin += __shfl_sync(~0u, up_to, 31);
    }
}

/// How many lists and magnitudes there are. By one warp; the same in all lanes.
template <int channels>
__device__ void count_magnitudes(RunsFound& found) {
    std::uint32_t lists = 0, magnitudes = 0;
    for (int at = static_cast<int>(threadIdx.x % 32); at < RunsFound::parts * channels; at += 32) {
        const std::uint32_t count = found.counts[at / channels][at % channels];
        lists += count != 0;
        magnitudes += count;
    }
    lists = cuda::warp_sum(lists);
    magnitudes = cuda::warp_sum(magnitudes);
    if (threadIdx.x % 32 == 0) {
        found.lists = lists;
        found.magnitudes = magnitudes;
    }
}

/// Codes magnitudes, to end at `end`; returns where they begin. By one warp.
__device__ inline std::uint16_t* put_magnitudes(std::uint16_t* end, const WaitingMagnitudes& of,
                                                const CoderTables& tables) {
    ResidualWords words{end, 0x7fffffff, 0};
    const auto* const begins = of.begins;
    const auto *const classes = of.classes(), *const folded = of.folded();
    int list = of.lists - 1;
    put_residuals<false>(
        of.count,
        [&](int number) {
            while (begins[list] > number) --list;
            return coming_residual(tables, first_residual(classes[list]), folded[number]);
        },
        words);
    return end - words.used;
}

}  // namespace framewire::delta
