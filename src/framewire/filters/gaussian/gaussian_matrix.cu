#include "framewire/filters/gaussian/gaussian_cuda.hpp"
#include "framewire/filters/kernel/byte_products.cuh"
#include "framewire/filters/kernel/warp_strips.cuh"

#include <algorithm>
#include <cstdint>

// Both passes as products of 8-bit matrices, exact, on tensor cores. A warp slides down a strip, eight rows a step:
//
//     rows' results, transposed (16 columns x 8 rows) = weights (16 columns x 32 bytes) * bytes (32 x 8 rows)
//     results, transposed (16 columns x 8 rows) = rows' results (16 columns x 32 rows) * weights (32 rows x 8 rows)
//
// The bytes of a row are the first product's right operand as they lie in memory, and its result has, thread by thread,
// what the second one's left operand needs: which row or column an index stands for is free as long as both factors
// agree. Weights of 16 bits and the rows' results are taken as two bytes each.

namespace framewire {
namespace gaussian_matrix_kernels {
namespace {

constexpr int warps_per_block = 4;
constexpr int blocks_per_multiprocessor = 3;
constexpr int stages = 3;  // steps under way or at work
constexpr int step_rows = 8;
constexpr int group_bytes = 32;   // columns of two products
constexpr int strip_bytes = 128;  // of result
constexpr int groups = strip_bytes / group_bytes;
constexpr int most_taps = 2 * step_rows + 1;
constexpr int slot_lead_bytes = 32;  // before the result's first byte
constexpr int slot_bytes = 208;
constexpr int fetch_threads = 16;  // a row
constexpr int store_threads = strip_bytes / chunk_bytes;
constexpr int out_row_bytes = 144;  // strip_bytes and what keeps a warp's rows out of each other's banks

// Four weights, the lower bytes in `low` and the higher ones in `high`.
struct SplitWeights {
    std::uint32_t low, high;
};

struct Job : WarpJob {
    WindowReach reach;
    int lead_bytes;  // from a group's first byte read to its first result

    // Of four bytes of a row, by how far the first is behind the first that its result's window sees.
    static constexpr int least_distance = -36, distances = 132;
    SplitWeights of_bytes[distances];
    // Of two rows and the two that are eight below, by how far the first is below the first that its result's window
    // sees.
    static constexpr int least_row = -16, row_distances = 40;
    SplitWeights of_rows[row_distances];
};

// A table of the kernel's parameters, to be read as other memory is: read as parameters are, each place that the
// threads of a warp want would take a turn of its own.
__device__ const SplitWeights* in_memory(const SplitWeights* table) {
    asm volatile("" : "+l"(table));
    return table;
}

// The threads of a warp are numbered as operands have them: eight `outer` ones of four `inner` ones each.
template <int channels, int blocks>
class Weights {
public:
    // Of the first product's left operand: of 16 of a group's columns, outer * 4 + 2 * half and the one behind it, and
    // of 32 bytes from 32 * block on.
    std::uint32_t row_low[2][blocks][4], row_high[2][blocks][4];
    // Of the second product's right operand: of 16 rows each, the oldest first. The rows' results of the newest eight
    // lie in one word, the low bytes below the high ones, so that of its weights one pair is zero.
    SplitWeights oldest, newest_low, newest_high;

    __device__ explicit Weights(const Job& job) {
        const int outer = static_cast<int>(threadIdx.x) % 32 / 4, inner = static_cast<int>(threadIdx.x) % 4;
        const auto* bytes_table = in_memory(job.of_bytes);
        const auto* rows_table = in_memory(job.of_rows);
#pragma unroll
        for (int half = 0; half < 2; ++half)
#pragma unroll
            for (int block = 0; block < blocks; ++block)
#pragma unroll
                for (int part = 0; part < 4; ++part) {
                    const int column = outer * 4 + 2 * half + part % 2;
                    const int byte = 32 * block + 16 * (part / 2) + 4 * inner;
                    const auto& split =
                        bytes_table[byte - job.lead_bytes - column + job.reach.before * channels - Job::least_distance];
                    row_low[half][block][part] = split.low;
                    row_high[half][block][part] = split.high;
                }
        const auto of_rows = [&](int first_row) -> const SplitWeights& {
            return rows_table[first_row + 2 * inner - step_rows - outer + job.reach.before - Job::least_row];
        };
        oldest = of_rows(0);
        newest_low = of_rows(2 * step_rows);
        newest_low.low &= 0xffff;
        newest_low.high &= 0xffff;
        newest_high = {newest_low.low << 16, newest_low.high << 16};
    }
};

template <int channels, int blocks>
class Group {
public:
    // Weighs eight more rows; `bytes` are the first operand's, row `outer` of the step.
    __device__ void weigh_rows(const Weights<channels, blocks>& weights, const std::uint32_t (&bytes)[2 * blocks]) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            Sums sums{};
#pragma unroll
            for (int block = 0; block < blocks; ++block)
                sums = multiply_add(sums, weights.row_high[half][block], bytes[2 * block], bytes[2 * block + 1]);
            sums = scale_add(sums, 256, 512);
#pragma unroll
            for (int block = 0; block < blocks; ++block)
                sums = multiply_add(sums, weights.row_low[half][block], bytes[2 * block], bytes[2 * block + 1]);
#pragma unroll
            for (int column = 0; column < 2; ++column) {
                low_[half][column] = byte_perm(older_[half][column], newest_[half][column], 0x5410);
                high_[half][column] = byte_perm(older_[half][column], newest_[half][column], 0x7632);
                older_[half][column] = newest_[half][column];
                newest_[half][column] = byte_perm(sums.sum[2 * column], sums.sum[2 * column + 1], 0x6251) & 0xfffffcfc;
            }
        }
    }

    // Two rows' results, four bytes each.
    __device__ uint2 weigh_columns(const Weights<channels, blocks>& weights) const {
        std::uint32_t upper[2], lower[2];
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const std::uint32_t low[4] = {low_[half][0], low_[half][1], newest_[half][0], newest_[half][1]};
            const std::uint32_t high[4] = {high_[half][0], high_[half][1], newest_[half][0], newest_[half][1]};
            auto sums = multiply_add({}, high, weights.oldest.high, weights.newest_high.high);
            sums = scale_add(sums, 256, 0);
            sums = multiply_add(sums, low, weights.oldest.high, weights.newest_low.high);
            sums = multiply_add(sums, high, weights.oldest.low, weights.newest_high.low);
            sums = scale_add(sums, 256, 1u << 23);
            sums = multiply_add(sums, low, weights.oldest.low, weights.newest_low.low);
            upper[half] = byte_perm(sums.sum[0], sums.sum[2], 0x73);
            lower[half] = byte_perm(sums.sum[1], sums.sum[3], 0x73);
        }
        return {byte_perm(upper[0], upper[1], 0x5410), byte_perm(lower[0], lower[1], 0x5410)};
    }

private:
    // Of both halves of the columns two each: of two rows, the low bytes of their results, then the high ones; the same
    // of the eight rows before; and of four rows of the sixteen before the newest, all low bytes and all high ones.
    std::uint32_t newest_[2][2] = {}, older_[2][2] = {};
    std::uint32_t low_[2][2] = {}, high_[2][2] = {};
};

template <int channels, int blocks>
__global__ void __launch_bounds__(32 * warps_per_block, blocks_per_multiprocessor)
    matrix_kernel(__grid_constant__ const Job job) {
    struct alignas(chunk_bytes) Memory {
        std::uint8_t slot[stages][step_rows][slot_bytes];
        std::uint8_t out[step_rows][out_row_bytes];
    };
    __shared__ Memory all_memory[warps_per_block];

    auto& memory = all_memory[threadIdx.x / 32];
    const int outer = static_cast<int>(threadIdx.x) % 32 / 4, inner = static_cast<int>(threadIdx.x) % 4;
    const auto part = WarpPart::of<warps_per_block>(job);
    if (part.y_end == 0) return;
    const int row_bytes = job.in.width * channels;
    const int begin = part.strip * strip_bytes, end = min(begin + strip_bytes, row_bytes);
    const StagedRows<channels, fetch_threads, slot_bytes, (most_taps - 1) * channels> rows(
        job.in, job.in_chunks, part.frame, begin - slot_lead_bytes, begin / channels - job.reach.before,
        (end - 1) / channels + 1 + job.reach.after);
    const ResultRows<store_threads, strip_bytes> results(job.out, job.out_chunks, part.frame, begin, end - begin);
    const int steps = (part.y_end - part.y + step_rows - 1) / step_rows + 2;
    constexpr int fetched_rows = 32 / fetch_threads, stored_rows = 32 / store_threads;  // at once
    const int lane = static_cast<int>(threadIdx.x) % 32, fetch_row = lane / fetch_threads,
              store_row = lane / store_threads;
    const auto fetch = [&](int step) {
        if (step < steps)
            rows.template fetch<step_rows / fetched_rows, fetched_rows>(part.y + step_rows * (step - 1) + fetch_row,
                                                                        memory.slot[step % stages][fetch_row],
                                                                        fetched_rows * slot_bytes);
        cuda::commit_copies();
    };
    for (int step = 0; step < stages - 1; ++step) fetch(step);

    const Weights<channels, blocks> weights(job);
    Group<channels, blocks> group[groups];
#pragma unroll 1
    for (int step = 0; step < steps; ++step) {
        auto& slot = memory.slot[step % stages];
        cuda::wait_for_copies<stages - 2>();
        __syncwarp();
        fetch(step + stages - 1);
        if (rows.has_border()) {
            for (int row = fetch_row; row < step_rows; row += fetched_rows) rows.fill_border(slot[row]);
            __syncwarp();
        }
        const auto* from =
            reinterpret_cast<const std::uint32_t*>(slot[outer] + slot_lead_bytes - job.lead_bytes) + inner;
#pragma unroll
        for (int at = 0; at < groups; ++at) {
            std::uint32_t bytes[2 * blocks];
#pragma unroll
            for (int word = 0; word < 2 * blocks; ++word) bytes[word] = from[at * group_bytes / 4 + 4 * word];
            group[at].weigh_rows(weights, bytes);
            const auto result = group[at].weigh_columns(weights);
            auto* to = memory.out[2 * inner] + at * group_bytes + 4 * outer;
            *reinterpret_cast<std::uint32_t*>(to) = result.x;
            *reinterpret_cast<std::uint32_t*>(to + out_row_bytes) = result.y;
        }
        if (step < 2) continue;  // those were not rows of results yet
        __syncwarp();
        results.template store<step_rows / stored_rows, stored_rows>(memory.out[store_row], stored_rows * out_row_bytes,
                                                                     part.y + step_rows * (step - 2) + store_row,
                                                                     part.y_end);
    }
}

void set_weights(Job& job, const GaussianWeights& weights, int channels) {
    const auto add = [&](SplitWeights& split, int byte, int tap) {
        if (tap < 0 || tap >= weights.taps) return;
        const int mirrored = weights.taps - 1 - tap;
        const auto weight =
            static_cast<std::uint32_t>(weights.folded[std::min(tap, mirrored)] * (tap == mirrored ? 4 : 2));
        split.low |= (weight & 255) << (8 * byte);
        split.high |= (weight >> 8) << (8 * byte);
    };
    for (int byte = 0; byte < 4; ++byte) {
        for (int at = 0; at < Job::distances; ++at)
            if (const int distance = at + Job::least_distance + byte; distance % channels == 0)
                add(job.of_bytes[at], byte, distance / channels);
        for (int at = 0; at < Job::row_distances; ++at)
            add(job.of_rows[at], byte, at + Job::least_row + byte % 2 + byte / 2 * step_rows);
    }
}

template <int channels, int blocks>
FilterOnDevice plan(Job job, const Shape& shape, Border border, Executor& executor) {
    const int strips = cuda::parts(shape.width * channels, strip_bytes);
    settle_warps<warps_per_block>(job, shape, border, strips, blocks_per_multiprocessor, step_rows, 2 * step_rows);
    return [job, &executor](const FilterImages<MemorySpace::device>& images) {
        launch_warps<warps_per_block>(job, images, [&](const Job& part, dim3 grid) {
            matrix_kernel<channels, blocks><<<grid, 32 * warps_per_block, 0, executor.stream().handle()>>>(part);
        });
    };
}

}  // namespace
}  // namespace gaussian_matrix_kernels

bool gaussian_fits_matrices(const GaussianWeights& weights) {
    using namespace gaussian_matrix_kernels;
    return weights.taps >= 2 && weights.taps <= most_taps &&
           cuda::device_attribute(cudaDevAttrComputeCapabilityMajor) >= 8;
}

FilterOnDevice gaussian_by_matrices(const GaussianWeights& weights, Border border, const Shape& shape,
                                    Executor& executor) {
    using namespace gaussian_matrix_kernels;
    const int channels = shape.channels;
    Job job{};
    job.reach = weights.reach;
    job.lead_bytes = cuda::parts(weights.reach.before * channels, 4) * 4;
    set_weights(job, weights, channels);
    const bool two_blocks = job.lead_bytes + group_bytes + weights.reach.after * channels <= 64;
    if (channels == 1) return plan<1, 2>(job, shape, border, executor);
    return two_blocks ? plan<3, 2>(job, shape, border, executor) : plan<3, 3>(job, shape, border, executor);
}

}  // namespace framewire
