#pragma once

#include "framewire/cuda/kernel/look_back.cuh"
#include "framewire/detect/labelling/component_joins.cuh"
#include "framewire/detect/labelling/components.hpp"

#include <cstdint>

// Only for .cu files: the fourth step of the CUDA labelling. Each band of rows numbers the roots that begin in
// it and lists those whose area is allowed.
//
//     1. set a bit per root in shared memory, by slot, i.e. in raster order
//     2. scan the words of bits: number of roots before each word of the band
//     3. look back over the bands before: number of roots before the band
//     4. number = roots before the band + before the word + before the bit

namespace framewire::labelling {

inline constexpr int number_threads = 256;
inline constexpr int number_warps = number_threads / 32;

/// Parameters and destination of the lists.
struct ListJob {
    std::uint32_t min_area, max_area;
    ComponentLists<MemorySpace::device> lists;
    bool keep_ids;  // for label images
};

/// Two counts of a band, or of all bands up to one, in 31 bits each: all components in the lower half, listed
/// ones in the upper half. They go through a look-back whose words label_tiles() has cleared.
inline constexpr int counts_shift = 31;

/// Shared memory of number_roots().
struct SharedBand {
    std::uint32_t all[band_words], listed[band_words];  // one bit per slot: components that begin there
    std::uint32_t before[band_words];  // counts in the band before a word: listed ones above bit 16, all below
    cuda::BlockScan<std::uint32_t, number_warps> counts;
    unsigned long long bands_before;
};

/// Number of lanes that process the components of one tile together. Tiles usually have few components, so many
/// tiles at once, rather than many components of one tile, keep the number of dependent loads low.
inline constexpr int lanes_per_tile = 16;

/// Calls body(root, slot) for every root that begins in the band, in any of the tiles that the band crosses. A
/// component begins in the first row of tiles that it touches, and so does its root, which is its tile
/// component with the lowest index.
template <bool eight, class Body>
__device__ void for_each_root(const TileJob& job, const Frame& frame, std::uint32_t band, Body&& body) {
    const auto rows = rows_in_band(job.grid);
    const auto band_slots = rows * job.grid.row_words * word_slots;
    const auto first_tile = band * rows / tile_rows * job.grid.columns;
    for (auto tile = first_tile + threadIdx.x / lanes_per_tile; tile < first_tile + job.grid.columns;
         tile += number_threads / lanes_per_tile)
        for (auto number = threadIdx.x % lanes_per_tile; number < frame.summaries[tile].components;
             number += lanes_per_tile) {
            const auto index = tile * most_in_tile(eight) + number;
            auto& component = frame.components[index];
            if (component.parent == index && component.first / band_slots == band)
                body(component, component.first - band * band_slots);
        }
}

/// One block per band. Consecutive blocks are in different frames, so that neighbouring bands rarely wait for
/// each other.
template <bool eight>
__global__ void __launch_bounds__(number_threads) number_roots(TileJob job, ListJob list, std::uint32_t frames) {
    __shared__ SharedBand shared;
    const auto frame_index = blockIdx.x % frames, band = blockIdx.x / frames;
    const Frame frame(job, frame_index, most_in_tile(eight));
    for (auto word = threadIdx.x; word < band_words; word += number_threads) shared.all[word] = shared.listed[word] = 0;
    __syncthreads();
    const auto is_listed = [&](std::uint32_t area) { return area >= list.min_area && area <= list.max_area; };
    for_each_root<eight>(job, frame, band, [&](const TileComponent& root, std::uint32_t slot) {
        atomicOr(&shared.all[slot / 32], 1u << slot % 32);
        if (is_listed(root.area)) atomicOr(&shared.listed[slot / 32], 1u << slot % 32);
    });
    __syncthreads();

    // Each thread adds up the counts of some words; the block scans the sums.
    constexpr std::uint32_t words_each = band_words / number_threads;
    const auto counts_of = [&](std::uint32_t word) {
        return static_cast<std::uint32_t>(__popc(shared.listed[word]) << 16 | __popc(shared.all[word]));
    };
    const auto first_word = words_each * threadIdx.x, warp = threadIdx.x / 32;
    std::uint32_t own = 0;
    for (std::uint32_t word = first_word; word < first_word + words_each; ++word) own += counts_of(word);
    const auto in_warp = shared.counts.begin(own);
    __syncthreads();
    auto [before, in_band] = shared.counts.end(in_warp);
    for (std::uint32_t word = first_word; word < first_word + words_each; ++word) {
        shared.before[word] = before;
        before += counts_of(word);
    }

    const auto bands = bands_in_frame(job.grid);
    if (warp == 0) {
        auto* states = job.workspace.band_counts + std::uint64_t{frame_index} * bands;
        // One look-back carries both counts.
        const auto alone = static_cast<unsigned long long>(in_band >> 16) << counts_shift | (in_band & 0xFFFFu);
        const cuda::LookBack all_bands(states, cuda::ClearedTiles{});
        const auto all_before = all_bands.sum_before(band, alone);
        if (threadIdx.x == 0) {
            if (band == bands - 1) {
                list.lists.total[frame_index] = static_cast<std::int32_t>((all_before + alone) & 0x7FFFFFFFu);
                list.lists.found[frame_index] = static_cast<std::int32_t>((all_before + alone) >> counts_shift);
            }
            shared.bands_before = all_before;
        }
    }
    __syncthreads();
    const auto all_before = static_cast<std::uint32_t>(shared.bands_before & 0x7FFFFFFFu);
    const auto listed_before = static_cast<std::uint32_t>(shared.bands_before >> counts_shift);
    for_each_root<eight>(job, frame, band, [&](TileComponent& root, std::uint32_t slot) {
        const auto lower = (1u << slot % 32) - 1;
        const auto counts = shared.before[slot / 32];
        const auto id =
            all_before + (counts & 0xFFFFu) + static_cast<std::uint32_t>(__popc(shared.all[slot / 32] & lower)) + 1;
        const auto place =
            listed_before + (counts >> 16) + static_cast<std::uint32_t>(__popc(shared.listed[slot / 32] & lower));
        if (is_listed(root.area) && place < static_cast<std::uint32_t>(list.lists.capacity)) {
            const auto y = root.first / (job.grid.row_words * word_slots);
            list.lists.components[std::uint64_t{frame_index} * list.lists.capacity + place] = {
                static_cast<std::int32_t>(id),
                static_cast<std::int32_t>(root.min_x),
                static_cast<std::int32_t>(y),
                static_cast<std::int32_t>(root.max_x - root.min_x + 1),
                static_cast<std::int32_t>(root.max_y - y + 1),
                static_cast<std::int32_t>(root.area),
                static_cast<std::int64_t>(root.sum_x),
                static_cast<std::int64_t>(root.sum_y)};
        }
        if (list.keep_ids) root.area = id;
    });
}

}  // namespace framewire::labelling
