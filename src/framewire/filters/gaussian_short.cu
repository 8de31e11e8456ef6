#include "framewire/cuda/kernel.cuh"
#include "framewire/filters/gaussian.hpp"
#include "framewire/filters/kernel.cuh"

#include <algorithm>
#include <cstdint>

// Short windows with 8-bit weights. A warp slides down a strip of the image, two rows per step, without synchronising
// with other warps. The row pass weighs four bytes of a channel per dp4a. The results of two rows share registers,
// upper row in the lower half, where the column pass weighs both with one dp2a.

namespace framewire {
namespace {

constexpr int warps_per_block = 4;
constexpr int blocks_per_multiprocessor = 4;
constexpr int stages = 4;  // number of pairs of rows that are in flight or in use
constexpr int least_taps = 2, most_taps = gaussian_most_short_taps;

// Everything that a launch needs; passed as a kernel parameter.
struct Job : WarpJob {
    std::uint32_t row[quad_px][3];     // weights per pixel of a quad: for the quad before, its own, and the next one
    std::uint32_t upper[3], lower[3];  // weights per pair of rows: for the upper and the lower of two rows of results
};

// Compile-time geometry of a window of `taps`.
template <int taps>
struct Pairs {
    // Number of taps before and after the middle one.
    static constexpr int before = taps / 2, after = taps - 1 - before;
    static constexpr int seen = (taps + 2) / 2;  // number of pairs of rows that two rows of results read

    // Returns true if the window of a pixel reads the quad before its own (0), its own (1) or the next one (2).
    static __device__ constexpr bool sees(int pixel, int word) {
        const int begin = (word - 1) * quad_px;
        return pixel - before < begin + quad_px && pixel + after >= begin;
    }
};

// A lane's pixels of one row, channel by channel, with the nearest quad of each neighbouring lane.
template <int channels>
struct LaneRow {
    static constexpr int quads = WarpStrip<channels>::lane_px / quad_px;
    std::uint32_t word[channels][quads + 2];  // including the neighbours' nearest quads

    // Loads the lane's pixels from a slot and exchanges the outer quads with the neighbouring lanes.
    __device__ void load(const std::uint8_t* slot) {
        std::uint32_t words[WarpStrip<channels>::lane_words];
        WarpStrip<channels>::load(slot, words);
#pragma unroll
        for (int quad = 0; quad < quads; ++quad) {
            Quad<channels> pixels;
#pragma unroll
            for (int at = 0; at < channels; ++at) pixels.plane[at] = words[quad * channels + at];
            pixels = planes_of(pixels);
#pragma unroll
            for (int plane = 0; plane < channels; ++plane) word[plane][quad + 1] = pixels.plane[plane];
        }
#pragma unroll
        for (int plane = 0; plane < channels; ++plane) {
            word[plane][0] = __shfl_up_sync(~0u, word[plane][quads], 1);
            word[plane][quads + 1] = __shfl_down_sync(~0u, word[plane][1], 1);
        }
    }
};

// Row results of two rows per element, with the upper row's in the lower half. They are multiples of 1/64, stored in
// 256ths.
template <int channels>
using LanePairs = std::uint32_t[channels][WarpStrip<channels>::lane_px];

// Returns the row pass's result for one pixel of one channel.
template <int channels, int taps>
__device__ std::uint32_t weigh_row(const Job& job, const LaneRow<channels>& row, int plane, int x) {
    std::uint32_t sum = 2;
#pragma unroll
    for (int word = 0; word < 3; ++word)
        if (Pairs<taps>::sees(x % quad_px, word))
            sum = __dp4a(row.word[plane][x / quad_px + word], job.row[x % quad_px][word], sum);
    return sum;
}

// Runs the row pass for two rows, from their slots in shared memory.
template <int channels, int taps>
__device__ __forceinline__ void weigh_rows(const Job& job, const std::uint8_t* upper_slot,
                                           const std::uint8_t* lower_slot, LanePairs<channels>& pairs) {
    LaneRow<channels> row;
    row.load(upper_slot);
#pragma unroll
    for (int plane = 0; plane < channels; ++plane)
#pragma unroll
        for (int x = 0; x < WarpStrip<channels>::lane_px; ++x)
            pairs[plane][x] = weigh_row<channels, taps>(job, row, plane, x);
    row.load(lower_slot);
#pragma unroll
    for (int plane = 0; plane < channels; ++plane)
#pragma unroll
        for (int x = 0; x < WarpStrip<channels>::lane_px; ++x)
            pairs[plane][x] =
                byte_perm(pairs[plane][x], weigh_row<channels, taps>(job, row, plane, x), 0x5410) & 0xfffcfffc;
}

// Returns byte 2 of each sum, which is the rounded result.
__device__ std::uint32_t rounded(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t d) {
    return byte_perm(byte_perm(a, b, 0x62), byte_perm(c, d, 0x62), 0x5410);
}

// Runs the column pass for one row of results, from the pairs of rows in `ring`, starting with the pair at `oldest`.
// Stores the results at the lane's position in `row`.
template <int channels, int taps>
__device__ __forceinline__ void weigh_columns(const std::uint32_t (&weights)[3],
                                              const LanePairs<channels> (&ring)[Pairs<taps>::seen], int oldest,
                                              std::uint8_t* row) {
    constexpr int seen = Pairs<taps>::seen, words = WarpStrip<channels>::lane_words;
    std::uint32_t result[words];
#pragma unroll
    for (int word = 0; word < words; ++word) {
        std::uint32_t sum[4];
#pragma unroll
        for (int byte = 0; byte < 4; ++byte) {
            const int x = (4 * word + byte) / channels, plane = (4 * word + byte) % channels;
            sum[byte] = 1u << 15;
#pragma unroll
            for (int pair = 0; pair < seen; ++pair)
                sum[byte] = __dp2a_lo(ring[(oldest + pair) % seen][plane][x], weights[pair], sum[byte]);
        }
        result[word] = rounded(sum[0], sum[1], sum[2], sum[3]);
    }
    WarpStrip<channels>::store(result, row);
}

// Unrolls the steps by the length of the ring, so that ring positions are compile-time constants and stay in registers.
template <int channels, int taps>
__global__ void __launch_bounds__(32 * warps_per_block, blocks_per_multiprocessor)
    short_kernel(__grid_constant__ const Job job) {
    using Strip = WarpStrip<channels>;
    using P = Pairs<taps>;
    // Shared memory of a warp: staged rows of some steps, and two rows of results.
    struct alignas(chunk_bytes) Memory {
        std::uint8_t slot[stages][2][Strip::slot_bytes];
        std::uint8_t out[2][Strip::out_bytes];
    };
    __shared__ Memory all_memory[warps_per_block];

    auto& memory = all_memory[threadIdx.x / 32];
    const auto part = WarpPart::of<warps_per_block>(job);
    if (part.y_end == 0) return;
    const int x = part.strip * Strip::out_px, x_end = min(x + Strip::out_px, job.in.width);
    const int steps = (part.y_end - part.y + 1) / 2 + P::seen - 1;
    const StagedRows<channels, 32, Strip::slot_bytes, (most_taps - 1) * channels> rows(
        job.in, job.in_chunks, part.frame, Strip::first_byte(x), x - P::before, x_end + P::after);

    const ResultRows<32, Strip::out_bytes> results(job.out, job.out_chunks, part.frame, x * channels,
                                                   (x_end - x) * channels);
    const auto fetch = [&](int step) {
        if (step < steps)
            rows.template fetch<2, 1>(part.y - P::before + 2 * step, memory.slot[step % stages][0], Strip::slot_bytes);
        cuda::commit_copies();
    };
    for (int step = 0; step < stages - 1; ++step) fetch(step);

    LanePairs<channels> ring[P::seen];
    // Runs one step with the ring position `place`: the row pass for two rows, and the column pass if the window is
    // complete.
    const auto run_step = [&](int place, int step) {
        if (step >= steps) return;
        auto& slot = memory.slot[step % stages];
        cuda::wait_for_copies<stages - 2>();
        __syncwarp();
        fetch(step + stages - 1);
        if (rows.has_border()) {
            rows.fill_border(slot[0]);
            rows.fill_border(slot[1]);
            __syncwarp();
        }
        weigh_rows<channels, taps>(job, slot[0], slot[1], ring[place]);
        if (step < P::seen - 1) return;
        const int y = part.y + 2 * (step - (P::seen - 1));
        if (Strip::has_result()) {
            weigh_columns<channels, taps>(job.upper, ring, place + 1, memory.out[0]);
            weigh_columns<channels, taps>(job.lower, ring, place + 1, memory.out[1]);
        }
        __syncwarp();
        results.template store<2, 1>(memory.out[0], Strip::out_bytes, y, part.y_end);
    };
    for (int step = 0; step < steps; step += P::seen)
#pragma unroll
        for (int place = 0; place < P::seen; ++place) run_step(place, step + place);
}

// Fills in the weights of both passes, as bytes.
void set_weights(Job& job, const GaussianWeights& weights) {
    const auto weight = [&](int tap) {
        if (tap < 0 || tap >= weights.taps) return 0u;
        const int mirrored = weights.taps - 1 - tap;
        return static_cast<std::uint32_t>(weights.folded[std::min(tap, mirrored)] * (tap == mirrored ? 2 : 1) /
                                          gaussian_short_unit);
    };
    for (int pixel = 0; pixel < quad_px; ++pixel)
        for (int byte = 0; byte < 3 * quad_px; ++byte)
            job.row[pixel][byte / quad_px] |= weight(byte - quad_px - (pixel - weights.reach.before))
                                              << (8 * (byte % quad_px));
    for (int pair = 0; pair < 3; ++pair) {
        job.upper[pair] = weight(2 * pair) | weight(2 * pair + 1) << 8;
        job.lower[pair] = weight(2 * pair - 1) | weight(2 * pair) << 8;
    }
}

// Makes the plan: divides images of `shape` among warps.
template <int channels, int taps>
FilterOnDevice plan(Job job, const Shape& shape, Border border, Executor& executor) {
    const int strips = cuda::parts(shape.width, WarpStrip<channels>::out_px);
    settle_warps<warps_per_block>(job, shape, border, strips, blocks_per_multiprocessor, 2, taps - 1);
    return [job, &executor](const FilterImages<MemorySpace::device>& images) {
        launch_warps<warps_per_block>(job, images, [&](const Job& part, dim3 grid) {
            cuda::Launch(executor.stream(), grid, 32 * warps_per_block)(short_kernel<channels, taps>, part);
        });
    };
}

template <int channels>
FilterOnDevice plan(const Job& job, int taps, const Shape& shape, Border border, Executor& executor) {
    switch (taps) {
        case 2: return plan<channels, 2>(job, shape, border, executor);
        case 3: return plan<channels, 3>(job, shape, border, executor);
        case 4: return plan<channels, 4>(job, shape, border, executor);
        default: return plan<channels, 5>(job, shape, border, executor);
    }
}

}  // namespace

bool short_on_cuda(const GaussianWeights& weights) {
    return weights.is_short && weights.taps >= least_taps && weights.taps <= most_taps;
}

FilterOnDevice gaussian_of_short_weights(const GaussianWeights& weights, Border border, const Shape& shape,
                                         Executor& executor) {
    Job job{};
    set_weights(job, weights);
    return shape.channels == 3 ? plan<3>(job, weights.taps, shape, border, executor)
                               : plan<1>(job, weights.taps, shape, border, executor);
}

}  // namespace framewire
