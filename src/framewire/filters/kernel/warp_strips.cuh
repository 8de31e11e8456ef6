#pragma once

// Only for .cu files: filters whose windows reach only a few pixels, done by warps that slide down strips of the image.

#include "framewire/filters/filter.hpp"
#include "framewire/filters/kernel/staged_rows.cuh"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace framewire {

/// How a warp lies on a strip: its first lane and its last one have no result, but only see what the others' windows
/// do. A lane has so many pixels that no window reaches further.
template <int channels>
struct WarpStrip {
    static constexpr int lane_px = channels == 3 ? 8 : 16;
    static constexpr int lane_bytes = lane_px * channels, lane_words = lane_bytes / 4;
    static constexpr int out_px = 30 * lane_px, out_bytes = 30 * lane_bytes;
    static constexpr int lead_bytes = (chunk_bytes - lane_bytes % chunk_bytes) % chunk_bytes;  // before the first lane
    static constexpr int slot_bytes = (lead_bytes + 32 * lane_bytes + chunk_bytes - 1) / chunk_bytes * chunk_bytes;
    static_assert(out_bytes % chunk_bytes == 0);

    /// Where slots begin in rows, for results that begin with pixel `x`.
    static __device__ int first_byte(int x) { return (x - lane_px) * channels - lead_bytes; }

    static __device__ int lane() { return static_cast<int>(threadIdx.x) % 32; }

    /// This lane's pixels of a staged row.
    static __device__ void load(const std::uint8_t* slot, std::uint32_t (&words)[lane_words]) {
        const auto* from = slot + lead_bytes + lane() * lane_bytes;
        if constexpr (lane_bytes % 16 == 0) {
            const auto four = *reinterpret_cast<const uint4*>(from);
            words[0] = four.x;
            words[1] = four.y;
            words[2] = four.z;
            words[3] = four.w;
        } else {
#pragma unroll
            for (int word = 0; word < lane_words; word += 2) {
                const auto two = reinterpret_cast<const uint2*>(from)[word / 2];
                words[word] = two.x;
                words[word + 1] = two.y;
            }
        }
    }

    /// Whether this lane has results.
    static __device__ bool has_result() { return lane() >= 1 && lane() <= 30; }

    /// This lane's pixels of a row of results, of which `row` has out_bytes.
    static __device__ void store(const std::uint32_t (&words)[lane_words], std::uint8_t* row) {
        auto* to = row + (lane() - 1) * lane_bytes;
        if constexpr (lane_bytes % 16 == 0) {
            *reinterpret_cast<uint4*>(to) = {words[0], words[1], words[2], words[3]};
        } else {
#pragma unroll
            for (int word = 0; word < lane_words; word += 2)
                reinterpret_cast<uint2*>(to)[word / 2] = {words[word], words[word + 1]};
        }
    }
};

/// What all warps of a launch have in common. All but the images is settled by settle_warps().
struct WarpJob {
    QuadSource in;
    cuda::KernelImage<std::uint8_t> out;
    bool in_chunks, out_chunks;  ///< whether rows begin at multiples of chunk_bytes
    int strips, bands, band_rows;
};

/// A warp's part of the result; nothing where y_end is 0.
struct WarpPart {
    int frame, strip, y, y_end;

    template <int warps_per_block>
    static __device__ WarpPart of(const WarpJob& job) {
        const int number = static_cast<int>(blockIdx.x) * warps_per_block + static_cast<int>(threadIdx.x) / 32;
        const int strip = number % job.strips, band = number / job.strips;
        if (band >= job.bands) return {};
        return {static_cast<int>(blockIdx.z), strip, band * job.band_rows,
                min((band + 1) * job.band_rows, job.in.height)};
    }
};

/// Into how many bands to cut an image of so many rows, each of which begins with `more_rows` that its windows see too,
/// where a GPU works on `at_once` bands of `each` at a time.
inline int best_bands(int rows, int more_rows, std::int64_t each, std::int64_t at_once) {
    constexpr int most_bands = 64;
    int best = 1;
    std::int64_t least_cost = std::numeric_limits<std::int64_t>::max();
    for (int bands = 1; bands <= std::min(most_bands, rows); ++bands) {
        const auto cost = (each * bands + at_once - 1) / at_once * (cuda::parts(rows, bands) + more_rows);
        if (cost >= least_cost) continue;
        least_cost = cost;
        best = bands;
    }
    return best;
}

/// For plans: cuts images of a shape into `strips` and into bands of a multiple of `step_rows` rows, for a GPU that
/// runs `blocks` on each multiprocessor at once. Windows see `more_rows` beside their own.
template <int warps_per_block>
void settle_warps(WarpJob& job, const Shape& shape, Border border, int strips, int blocks, int step_rows,
                  int more_rows) {
    job.in = QuadSource(shape, border);
    job.strips = strips;
    const std::int64_t at_once = std::int64_t{warps_per_block} * blocks * cuda::multiprocessors();
    const int bands = best_bands(shape.height, more_rows, std::int64_t{strips} * shape.frames, at_once);
    job.band_rows = band_rows(shape.height, bands, step_rows);
    job.bands = cuda::parts(shape.height, job.band_rows);
}

/// Calls launch(job, grid) with a settled job and these images.
template <int warps_per_block, class Job, class Launch>
void launch_warps(Job job, const FilterImages<MemorySpace::device>& images, Launch&& launch) {
    job.in.set(images.in);
    job.out = cuda::KernelImage(images.out);
    job.in_chunks = job.in.rows.aligned_to(chunk_bytes);
    job.out_chunks = job.out.aligned_to(chunk_bytes);
    for_grids(job, cuda::parts(job.strips * job.bands, warps_per_block), 1, images.in.shape().frames, 1, launch);
}

}  // namespace framewire
