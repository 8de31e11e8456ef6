#include "framewire/cuda/kernel.cuh"
#include "framewire/filters/gaussian.hpp"
#include "framewire/filters/kernel.cuh"

#include <algorithm>
#include <cstdint>

// Both passes as exact products of 8-bit matrices on tensor cores, channel by channel. A block slides down a strip, 16
// rows per step, with its warps next to each other. A warp has three tiles: the three channels of 16 columns, or three
// times 16 columns of a gray image.
//
//     row results, transposed (16 columns x 8 rows) = weights (16 columns x K pixels) * pixels (K x 8 rows)
//     results, transposed     (16 columns x 8 rows) = row results (16 columns x K rows) * weights (K rows x 8 rows)
//
// K is a small multiple of 16. The pixels of a row are the right operand of the first product in their memory layout.
// Its result is already distributed over the threads as the left operand of the second product requires, because the
// meaning of an index is free as long as both factors agree on it. Therefore the row results of a window stay in
// registers. The 16-bit weights and the row results are split into two bytes each.

namespace framewire {
namespace {

// Exact products of matrices of bytes on tensor cores, for GPUs of compute capability 8.0 and later.

// A 16 x 8 matrix of sums, distributed over the threads of a warp.
struct Sums {
    std::uint32_t sum[4];
};

// Returns `sums` plus the product of a 16 x 32 and a 32 x 8 matrix of bytes.
__device__ Sums multiply_add(const Sums& sums, const std::uint32_t (&left)[4], std::uint32_t right_0,
                             std::uint32_t right_1) {
    Sums result{};
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    asm("mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%10, %11, %12, %13};"
        : "=r"(result.sum[0]), "=r"(result.sum[1]), "=r"(result.sum[2]), "=r"(result.sum[3])
        : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "r"(right_0), "r"(right_1), "r"(sums.sum[0]),
          "r"(sums.sum[1]), "r"(sums.sum[2]), "r"(sums.sum[3]));
#endif
    return result;
}

// Returns `sums` plus the product of a 16 x 16 and a 16 x 8 matrix of bytes.
__device__ Sums multiply_add(const Sums& sums, const std::uint32_t (&left)[2], std::uint32_t right) {
    Sums result{};
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    asm("mma.sync.aligned.m16n8k16.row.col.s32.u8.u8.s32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%7, %8, %9, %10};"
        : "=r"(result.sum[0]), "=r"(result.sum[1]), "=r"(result.sum[2]), "=r"(result.sum[3])
        : "r"(left[0]), "r"(left[1]), "r"(right), "r"(sums.sum[0]), "r"(sums.sum[1]), "r"(sums.sum[2]),
          "r"(sums.sum[3]));
#endif
    return result;
}

// Returns each sum times `factor`, plus `term`. The factor is 256 after products with high bytes, before those with low
// bytes are added.
__device__ Sums scale_add(Sums sums, std::uint32_t factor, std::uint32_t term) {
#pragma unroll
    for (auto& sum : sums.sum) sum = sum * factor + term;
    return sums;
}

constexpr int warps_per_block = 8;
constexpr int threads_per_block = 32 * warps_per_block;
constexpr int stages = 3;  // number of steps whose rows are in flight or in use
constexpr int unit = 16;   // size of a unit, in pixels or rows
constexpr int tiles = 3;   // number of tiles per warp
constexpr int warp_bytes = tiles * unit;
constexpr int strip_bytes = warps_per_block * warp_bytes;
constexpr int out_row_bytes = strip_bytes + chunk_bytes;
// Maximum number of units of K for which a thread's registers can hold row results.
constexpr int most_units = 5;
// Returns the number of blocks per multiprocessor, which is limited by the registers for a thread's row results.
constexpr int blocks_at_once(int units) { return units == 2 ? 3 : 2; }
// Number of taps of the widest window that most_units cover.
constexpr int most_taps = unit * (most_units - 1) + 1;

// Everything that a launch needs; passed as a kernel parameter.
struct Job : WarpJob {
    WindowReach reach;
    int lead_px;    // pixels that a tile reads before its first result, a multiple of 4
    int before_px;  // pixels in a slot before the strip's first result, a multiple of chunk_bytes

    std::uint32_t row_half;   // rounding term of the row sums, which are in units of 2^-16
    std::uint32_t kept_bits;  // mask that keeps six or eight fractional bits in the low bytes of four row results

    // Twice the weight of each tap, starting with tap -margin.
    static constexpr int margin = unit + quad_px, distances = unit * most_units + 2 * margin;
    std::uint16_t weights[distances];
};

// Four weights, with their low bytes in `low` and their high bytes in `high`.
struct SplitWeights {
    std::uint32_t low = 0, high = 0;

    // Sets one of the four weights.
    __device__ void set(int byte, std::uint32_t weight) {
        low |= (weight & 255) << (8 * byte);
        high |= (weight >> 8) << (8 * byte);
    }
};

// Shared memory of a block: a ring of `stages` slots with 16 input rows each, two sets of result rows, and weights.
template <int channels, int units>
struct alignas(chunk_bytes) Memory {
    // Number of pixels in a row of a strip's results.
    static constexpr int strip_px = strip_bytes / channels;
    // Number of chunks of a row that a strip's windows read.
    static constexpr int slot_chunks =
        ((strip_px - unit + unit * units + unit - quad_px) * channels + chunk_bytes - 1) / chunk_bytes;
    // The stride in words is a multiple of four but not of eight, so that eight rows use different banks.
    static constexpr int slot_bytes = (slot_chunks | 1) * chunk_bytes;

    std::uint8_t slot[stages][unit][slot_bytes];
    std::uint8_t out[2][unit][out_row_bytes];
    uint4 row_weights[units][32];  // each lane's part of the first product's left operand
    std::uint16_t weights[Job::distances];
};

// Returns `sums` plus the product over `units` units. The operands are stored unit by unit; the left one has two halves
// per unit.
template <int units>
__device__ Sums multiply_add(Sums sums, const std::uint32_t (&left)[units][2], const std::uint32_t* right) {
#pragma unroll
    for (int at = 0; at + 1 < units; at += 2) {
        const std::uint32_t both[4] = {left[at][0], left[at][1], left[at + 1][0], left[at + 1][1]};
        sums = multiply_add(sums, both, right[at], right[at + 1]);
    }
    if constexpr (units % 2 == 1) sums = multiply_add(sums, left[units - 1], right[units - 1]);
    return sums;
}

// Position of a thread in the operands' layout: a warp has eight `outer` groups of four `inner` threads.
__device__ int outer() { return static_cast<int>(threadIdx.x) % 32 / 4; }
__device__ int inner() { return static_cast<int>(threadIdx.x) % 4; }

// Writes the left operand of the first product to shared memory. A lane holds columns 2 * outer and 2 * outer + 1 and,
// for each unit, the four pixels from 4 * inner on. The high bytes of all units come first, then the low bytes.
template <int units>
__device__ void lay_row_weights(const Job& job, const std::uint16_t* weights, uint4 (&to)[units][32]) {
    for (int at = static_cast<int>(threadIdx.x); at < 32 * 2 * units; at += threads_per_block) {
        const int lane = at / (2 * units), which = at % (2 * units), column = lane / 4 * 2 + which % 2;
        const int tap = which / 2 * unit + lane % 4 * quad_px - job.lead_px + job.reach.before - column;
        SplitWeights split;
        for (int byte = 0; byte < 4; ++byte) split.set(byte, weights[tap + byte + Job::margin]);
        reinterpret_cast<std::uint32_t*>(&to[which / 4][lane])[which % 4] = split.high;
        reinterpret_cast<std::uint32_t*>(&to[(which + 2 * units) / 4][lane])[(which + 2 * units) % 4] = split.low;
    }
}

// Right operand of the second product, for rows 8 * half + outer of the results. For each unit, a lane holds the rows 2
// * inner and 2 * inner + 1 and the two rows that are eight rows further down.
template <int units>
struct ColumnWeights {
    std::uint32_t low[2][units], high[2][units];

    // Loads the lane's weights; they stay in registers for the whole band.
    __device__ explicit ColumnWeights(const std::uint16_t* weights) {
#pragma unroll
        for (int half = 0; half < 2; ++half)
#pragma unroll
            for (int at = 0; at < units; ++at) {
                SplitWeights split;
#pragma unroll
                for (int byte = 0; byte < 4; ++byte)
                    split.set(
                        byte,
                        weights[at * unit + 2 * inner() + byte % 2 + byte / 2 * 8 - 8 * half - outer() + Job::margin]);
                low[half][at] = split.low;
                high[half][at] = split.high;
            }
    }
};

// Row results of a window's rows in 16 columns: a shift register in the second product's left operand layout.
template <int units>
struct Tile {
    std::uint32_t low[units][2] = {}, high[units][2] = {};  // per unit: two columns of four rows each

    // Shifts the rows up by one unit and appends the sums of the next 16 rows, eight in `upper` and eight in `lower`.
    __device__ void add(const Sums& upper, const Sums& lower, std::uint32_t kept_bits) {
#pragma unroll
        for (int column = 0; column < 2; ++column) {
#pragma unroll
            for (int at = 0; at + 1 < units; ++at) {
                low[at][column] = low[at + 1][column];
                high[at][column] = high[at + 1][column];
            }
            const auto above = byte_perm(upper.sum[2 * column], upper.sum[2 * column + 1], 0x6251),
                       below = byte_perm(lower.sum[2 * column], lower.sum[2 * column + 1], 0x6251);
            low[units - 1][column] = byte_perm(above, below, 0x5410) & kept_bits;
            high[units - 1][column] = byte_perm(above, below, 0x7632);
        }
    }

    // Computes eight rows of results, each in the highest byte of its sum.
    __device__ Sums weigh(const ColumnWeights<units>& weights, int half) const {
        auto sums = multiply_add<units>({}, high, weights.high[half]);
        sums = scale_add(sums, 256, 0);
        sums = multiply_add<units>(sums, low, weights.high[half]);
        sums = multiply_add<units>(sums, high, weights.low[half]);
        sums = scale_add(sums, 256, 1u << 23);
        return multiply_add<units>(sums, low, weights.low[half]);
    }
};

// Computes the first product for eight rows. `from` points to the first word that the lane reads in its row.
template <int channels, int units>
__device__ void weigh_rows(const std::uint32_t* from, const uint4 (&row_weights)[units][32], std::uint32_t half,
                           Sums (&sums)[tiles]) {
    // Number of words per channel. For gray images, the tiles' words overlap: each tile starts one word further on.
    constexpr int words = channels == 3 ? units : units + tiles - 1;
    std::uint32_t pixels[channels][words];
#pragma unroll
    for (int at = 0; at < words; ++at) {
        if constexpr (channels == 3) {
            const auto* three = from + at * unit * channels / 4;
            const auto quad = planes_of(three[0], three[1], three[2]);
#pragma unroll
            for (int plane = 0; plane < channels; ++plane) pixels[plane][at] = quad.plane[plane];
        } else {
            pixels[0][at] = from[at * unit / 4];
        }
    }
    // Read the lane's weights: first the high bytes, then the low ones.
    std::uint32_t weights[2][units][2];
#pragma unroll
    for (int at = 0; at < units; ++at) {
        const auto four = row_weights[at][threadIdx.x % 32];
        const std::uint32_t part[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
        for (int word = 0; word < 4; ++word) {
            const int which = 4 * at + word;
            weights[which / (2 * units)][which % (2 * units) / 2][which % 2] = part[word];
        }
    }
    // Returns the pixels of a tile.
    const auto of_tile = [&](int tile) { return channels == 3 ? pixels[tile % channels] : pixels[0] + tile; };
#pragma unroll
    for (int tile = 0; tile < tiles; ++tile) sums[tile] = multiply_add<units>({}, weights[0], of_tile(tile));
#pragma unroll
    for (int tile = 0; tile < tiles; ++tile)
        sums[tile] = multiply_add<units>(scale_add(sums[tile], 256, half), weights[1], of_tile(tile));
}

// Stores the results for two columns of each tile and two rows, which are `out_row_bytes` apart. `to` is the lane's
// position in the upper row.
template <int channels>
__device__ void store_results(const Sums (&sums)[tiles], std::uint8_t* to) {
#pragma unroll
    for (int row = 0; row < 2; ++row) {
        const auto byte_of = [&](int tile, int column) { return sums[tile].sum[2 * column + row]; };
        auto* at = to + row * out_row_bytes;
#pragma unroll
        for (int pair = 0; pair < tiles; ++pair) {
            const auto two = channels == 3 ? byte_perm(byte_of(2 * pair % 3, 2 * pair / 3),
                                                       byte_of((2 * pair + 1) % 3, (2 * pair + 1) / 3), 0x73)
                                           : byte_perm(byte_of(pair, 0), byte_of(pair, 1), 0x73);
            *reinterpret_cast<std::uint16_t*>(at + pair * (channels == 3 ? 2 : unit)) = static_cast<std::uint16_t>(two);
        }
    }
}

// Each step waits for 16 input rows, starts the load for the step after next, stores the previous step's results, and
// computes both products. The first units - 1 steps only fill the tiles.
template <int channels, int units>
__global__ void __launch_bounds__(threads_per_block, blocks_at_once(units))
    matrix_kernel(__grid_constant__ const Job job) {
    using BlockMemory = Memory<channels, units>;
    static_assert(sizeof(BlockMemory) <= 99 * 1024, "the least of GPUs with these tensor cores (sm_86, 89, 120)");
    extern __shared__ uint4 shared[];
    auto& memory = *reinterpret_cast<BlockMemory*>(shared);

    const int strip = static_cast<int>(blockIdx.x) % job.strips,
              y = static_cast<int>(blockIdx.x) / job.strips * job.band_rows;
    const int y_end = min(y + job.band_rows, job.in.height), frame = static_cast<int>(blockIdx.z);
    const int warp = static_cast<int>(threadIdx.x) / 32;
    const int begin = strip * strip_bytes, end = min(begin + strip_bytes, job.in.width * channels);
    const StagedRows<channels, 32, BlockMemory::slot_bytes, (most_taps - 1) * channels> rows(
        job.in, job.in_chunks, frame, begin - job.before_px * channels, begin / channels - job.reach.before,
        (end - 1) / channels + 1 + job.reach.after);
    const ResultRows<32, strip_bytes> results(job.out, job.out_chunks, frame, begin, end - begin);
    const int steps = (y_end - y + unit - 1) / unit + units - 1;
    // In every step, each warp loads two input rows and stores two rows of results.
    const auto fetch = [&](int step) {
        if (step < steps)
            rows.template fetch<2, warps_per_block>(y - job.reach.before + unit * step + warp,
                                                    memory.slot[step % stages][warp],
                                                    warps_per_block * BlockMemory::slot_bytes);
        cuda::commit_copies();
    };
    // Store the results of a step.
    const auto take_away = [&](int step) {
        results.template store<2, warps_per_block>(memory.out[step % 2][warp], warps_per_block * out_row_bytes,
                                                   y + unit * (step - units + 1) + warp, y_end);
    };
    for (int step = 0; step < stages - 1; ++step) fetch(step);

    for (int at = static_cast<int>(threadIdx.x); at < Job::distances; at += threads_per_block)
        memory.weights[at] = job.weights[at];
    __syncthreads();
    lay_row_weights<units>(job, memory.weights, memory.row_weights);
    const ColumnWeights<units> column_weights(memory.weights);

    Tile<units> tile[tiles];
#pragma unroll 1
    for (int step = 0; step < steps; ++step) {
        auto& slot = memory.slot[step % stages];
        cuda::wait_for_copies<stages - 2>();
        if (rows.has_border()) {
            __syncwarp();
            rows.fill_border(slot[warp]);
            rows.fill_border(slot[warp + warps_per_block]);
        }
        // From here on, all rows of this step are loaded, and no warp still uses the slot and the results of the
        // previous step.
        __syncthreads();
        fetch(step + stages - 1);
        if (step >= units) take_away(step - 1);

        const auto* from = reinterpret_cast<const std::uint32_t*>(
                               slot[outer()] + (job.before_px - job.lead_px) * channels + warp * warp_bytes) +
                           inner() * channels;
        Sums upper[tiles], lower[tiles];
        weigh_rows<channels, units>(from, memory.row_weights, job.row_half, upper);
        weigh_rows<channels, units>(from + 8 * BlockMemory::slot_bytes / 4, memory.row_weights, job.row_half, lower);
#pragma unroll
        for (int at = 0; at < tiles; ++at) tile[at].add(upper[at], lower[at], job.kept_bits);
        if (step < units - 1) continue;  // the first window is not complete yet
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            Sums sums[tiles];
#pragma unroll
            for (int at = 0; at < tiles; ++at) sums[at] = tile[at].weigh(column_weights, half);
            store_results<channels>(
                sums, memory.out[step % 2][8 * half + 2 * inner()] + warp * warp_bytes + outer() * 2 * channels);
        }
    }
    __syncthreads();
    take_away(steps - 1);
}

// Makes the plan: divides images of `shape` among blocks.
template <int channels, int units>
FilterOnDevice plan(Job job, const Shape& shape, Border border, Executor& executor) {
    const int strips = cuda::parts(shape.width * channels, strip_bytes);
    settle_warps<1>(job, shape, border, strips, blocks_at_once(units), unit, unit * (units - 1));
    cuda::allow_shared_memory(matrix_kernel<channels, units>);
    return [job, &executor](const FilterImages<MemorySpace::device>& images) {
        launch_warps<1>(job, images, [&](const Job& part, dim3 grid) {
            cuda::Launch(executor.stream(), grid, threads_per_block, sizeof(Memory<channels, units>))(
                matrix_kernel<channels, units>, part);
        });
    };
}

template <int channels>
FilterOnDevice plan(const Job& job, int units, const Shape& shape, Border border, Executor& executor) {
    if (units <= 2) return plan<channels, 2>(job, shape, border, executor);
    if (units == 3) return plan<channels, 3>(job, shape, border, executor);
    return units == 4 ? plan<channels, 4>(job, shape, border, executor)
                      : plan<channels, 5>(job, shape, border, executor);
}

// Returns the number of pixels that a tile reads before its first result.
int lead_px(const GaussianWeights& weights) { return cuda::parts(weights.reach.before, quad_px) * quad_px; }

// Returns the number of units that the windows of 16 pixels read.
int units_of(const GaussianWeights& weights) {
    return cuda::parts(lead_px(weights) + unit + weights.reach.after, unit);
}

}  // namespace

bool gaussian_fits_matrices(const GaussianWeights& weights) {
    return weights.taps >= 2 && units_of(weights) <= most_units && cuda::code_architecture(matrix_kernel<1, 2>) >= 80;
}

// Doubles the weights, whose sum is then 2^16, so that the results land in whole bytes of the sums.
FilterOnDevice gaussian_by_matrices(const GaussianWeights& weights, Border border, const Shape& shape,
                                    Executor& executor) {
    Job job{};
    job.reach = weights.reach;
    const bool fine = weights.rounding == GaussianRounding::fine;
    job.row_half = fine ? 512 : 0;
    job.kept_bits = fine ? 0xfcfcfcfc : 0xffffffff;
    job.lead_px = lead_px(weights);
    job.before_px = cuda::parts(job.lead_px, chunk_bytes) * chunk_bytes;
    for (int tap = 0; tap < weights.taps; ++tap) {
        const int mirrored = weights.taps - 1 - tap;
        job.weights[tap + Job::margin] =
            static_cast<std::uint16_t>(weights.folded[std::min(tap, mirrored)] * (tap == mirrored ? 4 : 2));
    }
    return shape.channels == 3 ? plan<3>(job, units_of(weights), shape, border, executor)
                               : plan<1>(job, units_of(weights), shape, border, executor);
}

}  // namespace framewire
