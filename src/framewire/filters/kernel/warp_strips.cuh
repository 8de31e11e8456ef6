#pragma once

// For .cu files: filters whose windows reach only a few pixels, run by warps that slide down strips of the image
// independently of each other.
//
//   lane        0        1   2   ...  30        31
//   pixels   read only | results ............ | read only      8 (BGR) or 16 (gray) per lane
//
// Lanes exchange pixels by shuffles. Rows arrive in shared memory through StagedRows and leave through ResultRows.

#include "framewire/filters/filter.hpp"
#include "framewire/filters/kernel/staged_rows.cuh"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace framewire {

/// Layout of a warp on a strip. The first and the last lane have no results and only supply pixels to their neighbours'
/// windows. A lane has at least as many pixels as a window reaches to one side.
template <int channels>
struct WarpStrip {
    /// Pixels per lane.
    static constexpr int lane_px = channels == 3 ? 8 : 16;
    /// Size of a lane's pixels.
    static constexpr int lane_bytes = lane_px * channels, lane_words = lane_bytes / 4;
    /// Pixels and bytes of a strip's row of results.
    static constexpr int out_px = 30 * lane_px, out_bytes = 30 * lane_bytes;
    // Padding before the first lane, so that the second one is aligned.
    static constexpr int lead_bytes = (chunk_bytes - lane_bytes % chunk_bytes) % chunk_bytes;

    /// Bytes of a staged row.
    static constexpr int slot_bytes = (lead_bytes + 32 * lane_bytes + chunk_bytes - 1) / chunk_bytes * chunk_bytes;
    static_assert(out_bytes % chunk_bytes == 0);

    /// Offset in a row, possibly negative, at which slots start for results that start with pixel `x`.
    static __device__ int first_byte(int x) { return (x - lane_px) * channels - lead_bytes; }

    /// Index of the thread in its warp.
    static __device__ int lane() { return static_cast<int>(threadIdx.x) % 32; }

    /// Loads this lane's pixels of a staged row.
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

    /// Returns true if this lane has results.
    static __device__ bool has_result() { return lane() >= 1 && lane() <= 30; }

    /// Stores this lane's pixels of a row of results to `row`, which has out_bytes. Only for lanes with results.
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

/// Parameters shared by all warps of a launch. settle_warps() sets everything but the images.
struct WarpJob {
    /// Input image with its border.
    QuadSource in;
    /// Result.
    cuda::KernelImage<std::uint8_t> out;
    bool in_chunks, out_chunks;    ///< whether rows start at multiples of chunk_bytes
    int strips, bands, band_rows;  ///< division of a frame into strips and bands; rows per band
};

/// The part of the result that one warp makes. y_end is 0 if there is none for it.
struct WarpPart {
    /// Frame, strip, and rows y to y_end - 1.
    int frame, strip, y, y_end;

    /// The part of the calling warp, from its index in the grid.
    template <int warps_per_block>
    static __device__ WarpPart of(const WarpJob& job) {
        const int number = static_cast<int>(blockIdx.x) * warps_per_block + static_cast<int>(threadIdx.x) / 32;
        const int strip = number % job.strips, band = number / job.strips;
        if (band >= job.bands) return {};
        return {static_cast<int>(blockIdx.z), strip, band * job.band_rows,
                min((band + 1) * job.band_rows, job.in.height)};
    }
};

/// Finds the number of bands into which to divide an image of `rows` rows. Every band first reads `more_rows` rows for
/// its windows, `each` strips times frames are divided alike, and the GPU runs `at_once` parts at a time. Minimises
/// rounds of parts times rows per part.
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

/// For plans: divides images of a shape into `strips` and into bands whose height is a multiple of `step_rows`.
/// `blocks` run on each multiprocessor at a time; windows read `more_rows` rows besides their own.
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

/// Calls launch(job, grid) with a job from settle_warps() and the images, for as many frames at a time as fit a grid.
template <int warps_per_block, class Job, class Launch>
void launch_warps(Job job, const FilterImages<MemorySpace::device>& images, Launch&& launch) {
    job.in.set(images.in);
    job.out = cuda::KernelImage(images.out);
    job.in_chunks = job.in.rows.aligned_to(chunk_bytes);
    job.out_chunks = job.out.aligned_to(chunk_bytes);
    for_grids(job, cuda::parts(job.strips * job.bands, warps_per_block), 1, images.in.shape().frames, 1, launch);
}

}  // namespace framewire
