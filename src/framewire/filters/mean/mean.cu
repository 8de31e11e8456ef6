#include "framewire/cuda/kernel/launch.cuh"
#include "framewire/cuda/kernel/scan.cuh"
#include "framewire/filters/kernel/staged_rows.cuh"
#include "framewire/filters/mean/mean_cuda.hpp"
#include "framewire/filters/window.hpp"

#include <algorithm>
#include <cstdint>

// A block works on a strip of the image in two teams, which begin with the same windows in its middle, of which each
// adds up half, and slide up and down from there. Each thread keeps the sums of its columns, from which the row that
// leaves its windows is taken as the next one enters; windows then are differences of prefix sums along the row. Some
// warps more move the rows, in and out.

namespace framewire {
namespace mean_kernels {
namespace {

constexpr int movers = 96;  // threads of a team that move rows
constexpr int mean_lane_px = 8;

// Of a team: the threads that add up, and how many steps' rows are under way or at work.
template <int channels_, int threads_, int teams_, int stages_>
struct Layout {
    static constexpr int channels = channels_, threads = threads_, teams = teams_, stages = stages_;
    static constexpr int warps = threads / 32, team_threads = threads + movers;
    static constexpr int strip_px = threads * mean_lane_px, slot_bytes = strip_px * channels + chunk_bytes;
    static constexpr int columns = mean_lane_px * channels;  // of a thread
};
// What a row of 1920 pixels and the largest window's rims need; and what GPUs with 64 KiB of shared memory have room
// for.
template <int channels>
using Wide = Layout<channels, 288, 2, 4>;
template <int channels>
using Narrow = Layout<channels, 160, 1, 3>;

// Where the prefix sum before a pixel lies: one place is left free behind every thread's, so that the threads of a warp
// do not meet in a bank of shared memory.
FRAMEWIRE_HOST_DEVICE constexpr int place_of(int pixel) { return pixel + pixel / mean_lane_px; }

struct Job {
    QuadSource in;
    cuda::KernelImage<std::uint8_t> out;
    bool in_chunks, out_chunks;
    int size;
    WindowReach reach;
    int lead_px;  // of the first thread, before the first window begins
    // Where the prefix sums at the windows' ends lie, from the place of a thread's first pixel on.
    int begin_place[mean_lane_px], end_place[mean_lane_px];
    int out_px;     // of a strip's result
    int band_rows;  // of a block's result
    std::uint32_t bias, multiplier;
};

// A team's.
template <class L>
struct Memory {
    alignas(chunk_bytes) std::uint8_t slot[L::stages][2][L::slot_bytes];
    alignas(chunk_bytes) std::uint8_t out[L::strip_px * L::channels];
    std::uint32_t prefix[L::channels][L::strip_px + L::threads];
    cuda::BlockScan<std::uint32_t, L::warps> scans[L::channels];
};

// Barriers of this file are met in the branches of those that move rows and of those that add up, which __syncthreads()
// forbids. compute-sanitizer's racecheck tells accesses before a barrier from those behind it by how many barriers a
// warp has met: both branches have to meet as many.
__device__ void wait_at_barrier(unsigned barrier, unsigned threads) {
    __syncwarp();  // a warp arrives as one
    asm volatile("barrier.sync %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}

// Waits for all threads of the team.
template <class L>
__device__ void wait_for_team() {
    wait_at_barrier(1 + threadIdx.y, L::team_threads);
}

template <class L>
__device__ void wait_for_all_teams() {
    wait_at_barrier(0, L::teams * L::team_threads);
}

// `sum` and the element-th column's sum, two to a word.
__device__ std::uint32_t add_column(std::uint32_t sum, const std::uint32_t* columns, int element) {
    return __dp2a_lo(columns[element / 2], element % 2 ? 0x0100u : 0x0001u, sum);
}

// A thread's sums of columns.
template <class L>
class Columns {
public:
    static constexpr int channels = L::channels;

    __device__ void add(const std::uint8_t* row) { change(row, 1); }
    __device__ void remove(const std::uint8_t* row) { change(row, ~0u); }

    // Adds what the other team has. Meanwhile those that move rows wait for all teams twice, too.
    __device__ void add_other_team(Memory<L>* memories) {
        static_assert(sizeof sums_ * L::threads <= sizeof memories->prefix);
        const auto place = [&](unsigned team, int word) -> std::uint32_t& {
            return memories[team].prefix[0][word * L::threads + static_cast<int>(threadIdx.x)];
        };
#pragma unroll
        for (int word = 0; word < L::columns / 2; ++word) place(threadIdx.y, word) = sums_[word];
        wait_for_all_teams<L>();
#pragma unroll
        for (int word = 0; word < L::columns / 2; ++word) sums_[word] += place(1 - threadIdx.y, word);
        wait_for_all_teams<L>();
    }

    // Puts the sums of all columns before each of this thread's in place; called by all of a team that add up. Waits
    // for the team once.
    __device__ void write_prefix_sums(Memory<L>& memory) const {
        std::uint32_t before[channels];
#pragma unroll
        for (int channel = 0; channel < channels; ++channel) {
            std::uint32_t total = 0;
#pragma unroll
            for (int pixel = 0; pixel < mean_lane_px; ++pixel)
                total = add_column(total, sums_, pixel * channels + channel);
            before[channel] = memory.scans[channel].begin(total);
        }
        wait_for_team<L>();
#pragma unroll
        for (int channel = 0; channel < channels; ++channel) {
            auto sum = memory.scans[channel].end_by_warp(before[channel]);
            auto* to = memory.prefix[channel] + place_of(static_cast<int>(threadIdx.x) * mean_lane_px);
#pragma unroll
            for (int pixel = 0; pixel < mean_lane_px; ++pixel) {
                to[pixel] = sum;
                sum = add_column(sum, sums_, pixel * channels + channel);
            }
        }
    }

private:
    __device__ void change(const std::uint8_t* row, std::uint32_t sign) {
        const auto* from = reinterpret_cast<const uint2*>(row) + threadIdx.x * channels;
#pragma unroll
        for (int two = 0; two < channels; ++two) {
            const auto words = from[two];
            sums_[4 * two] += byte_perm(words.x, 0, 0x4140) * sign;
            sums_[4 * two + 1] += byte_perm(words.x, 0, 0x4342) * sign;
            sums_[4 * two + 2] += byte_perm(words.y, 0, 0x4140) * sign;
            sums_[4 * two + 3] += byte_perm(words.y, 0, 0x4342) * sign;
        }
    }

    std::uint32_t sums_[L::columns / 2] = {};
};

// One row's results, of those threads that have some.
template <class L>
__device__ void write_means(const Job& job, int out_px, const Memory<L>& memory, std::uint8_t* out) {
    constexpr int channels = L::channels;
    const int first = static_cast<int>(threadIdx.x) * mean_lane_px;
    if (first >= out_px) return;
    constexpr int words = mean_lane_px * channels / 4;
    std::uint32_t result[words];
#pragma unroll
    for (int word = 0; word < words; ++word) {
        std::uint32_t product[4];
#pragma unroll
        for (int byte = 0; byte < 4; ++byte) {
            const int pixel = (4 * word + byte) / channels, channel = (4 * word + byte) % channels;
            const auto* prefix = memory.prefix[channel] + place_of(first);
            const auto sum = prefix[job.end_place[pixel]] - prefix[job.begin_place[pixel]];
            product[byte] = __umulhi(sum + job.bias, job.multiplier);
        }
        result[word] =
            byte_perm(byte_perm(product[0], product[1], 0x51), byte_perm(product[2], product[3], 0x51), 0x5410);
    }
    auto* to = reinterpret_cast<uint2*>(out) + threadIdx.x * channels;
#pragma unroll
    for (int word = 0; word < words; word += 2) to[word / 2] = {result[word], result[word + 1]};
}

// A team's part of the result, in steps. The first ones, as many for each team, add up its share of the rows that the
// first windows see but for the last one that enters them, two a step. Each of the others brings a row of results: a
// row enters the windows, and one leaves.
template <class L>
struct Part {
    int x, x_end, frame;
    int y, direction;  // of the first row of results, and where the others are
    int first_row, first_rows, first_steps, steps;
    int enters, leaves;  // from the row of results on

    __device__ explicit Part(const Job& job)
        : x(static_cast<int>(blockIdx.x) * job.out_px),
          x_end(min(x + job.out_px, job.in.width)),
          frame(static_cast<int>(blockIdx.z)) {
        const int begin = static_cast<int>(blockIdx.y) * job.band_rows, end = min(begin + job.band_rows, job.in.height);
        const bool up = threadIdx.y == 1;
        const int middle = L::teams == 1 ? begin : begin + (end - begin) / 2;
        y = up ? middle - 1 : middle;
        direction = up ? -1 : 1;
        enters = up ? -job.reach.before : job.reach.after;
        leaves = up ? job.reach.after : -job.reach.before;
        const int rows = job.size - 1, others = L::teams == 1 ? 0 : rows / 2;
        first_row = middle - job.reach.before + (up ? rows - others : 0);
        first_rows = up ? others : rows - others;
        first_steps = (rows - others + 1) / 2;
        steps = first_steps + (up ? middle - begin : end - middle);
    }

    __device__ int row_of(int step) const { return y + direction * (step - first_steps); }
    // Rows that a step sees, and the at-th of them.
    __device__ int rows(int step) const { return step < first_steps ? min(2, first_rows - 2 * step) : 2; }
    __device__ int row(int step, int at) const {
        return step < first_steps ? first_row + 2 * step + at : row_of(step) + (at == 0 ? enters : leaves);
    }
};

// Where the first thread's pixels begin in rows; slots begin there or some bytes before.
template <class L>
__device__ int first_byte(const Job& job, const Part<L>& part) {
    return (part.x - job.lead_px - job.reach.before) * L::channels;
}

template <class L>
__device__ void move_rows(const Job& job, const Part<L>& part, Memory<L>& memory) {
    const StagedRows<L::channels, movers, L::slot_bytes, (max_window_px - 1) * L::channels> rows(
        job.in, job.in_chunks, part.frame, first_byte(job, part) & -chunk_bytes, part.x - job.reach.before,
        part.x_end + job.reach.after);
    const ResultRows<movers, L::strip_px * L::channels> results(
        job.out, job.out_chunks, part.frame, part.x * L::channels, (part.x_end - part.x) * L::channels);
    const auto fetch = [&](int step) {
        if (step < part.steps)
#pragma unroll
            for (int at = 0; at < 2; ++at)
                if (at < part.rows(step)) rows.fetch(part.row(step, at), memory.slot[step % L::stages][at]);
        cuda::commit_copies();
    };
    const auto fill_border = [&](int step) {
        if (step < part.steps && rows.has_border())
#pragma unroll
            for (int at = 0; at < 2; ++at)
                if (at < part.rows(step)) rows.fill_border(memory.slot[step % L::stages][at]);
    };
    for (int step = 0; step < L::stages - 1; ++step) fetch(step);
    cuda::wait_for_copies<L::stages - 2>();
    wait_for_team<L>();
    fill_border(0);
    // Each step begins with its rows here, border included, and the next one's but for their border.
    int step = 0;
    const auto end_step = [&] {
        cuda::wait_for_copies<L::stages - 3>();
        wait_for_team<L>();
    };
    end_step();
    for (; step < part.first_steps; ++step) {
        fetch(step + L::stages - 1);
        fill_border(step + 1);
        end_step();
    }
    if constexpr (L::teams == 2) {
        wait_for_all_teams<L>();
        wait_for_all_teams<L>();
    }
    for (; step < part.steps; ++step) {
        fetch(step + L::stages - 1);
        fill_border(step + 1);
        wait_for_team<L>();
        if (step > part.first_steps) results.store(memory.out, part.row_of(step - 1));
        end_step();
    }
    wait_for_team<L>();
    if (step > part.first_steps) results.store(memory.out, part.row_of(step - 1));
}

template <class L>
__device__ void add_up(const Job& job, const Part<L>& part, Memory<L>* memories) {
    auto& memory = memories[threadIdx.y];
    const int lead_bytes = first_byte(job, part) & (chunk_bytes - 1);
    Columns<L> columns;
    wait_for_team<L>();
    wait_for_team<L>();
    int step = 0;
    for (; step < part.first_steps; ++step) {
        const auto& slot = memory.slot[step % L::stages];
#pragma unroll
        for (int at = 0; at < 2; ++at)
            if (at < part.rows(step)) columns.add(slot[at] + lead_bytes);
        wait_for_team<L>();
    }
    if constexpr (L::teams == 2) columns.add_other_team(memories);
    for (; step < part.steps; ++step) {
        const auto& slot = memory.slot[step % L::stages];
        columns.add(slot[0] + lead_bytes);
        columns.write_prefix_sums(memory);
        columns.remove(slot[1] + lead_bytes);
        wait_for_team<L>();
        write_means(job, part.x_end - part.x, memory, memory.out);
    }
    wait_for_team<L>();
}

template <class L>
__global__ void __launch_bounds__(L::team_threads* L::teams) mean_kernel(__grid_constant__ const Job job) {
    extern __shared__ uint4 shared[];
    auto* memories = reinterpret_cast<Memory<L>*>(shared);
    const Part<L> part(job);
    if (threadIdx.x < L::threads)
        add_up(job, part, memories);
    else
        move_rows(job, part, memories[threadIdx.y]);
}

template <class L>
constexpr int shared_bytes = L::teams * sizeof(Memory<L>);

template <class L>
FilterOnDevice plan(Job job, const Shape& shape, Executor& executor) {
    // Strips of one width, so that none is nearly empty, which begin with whole chunks.
    constexpr int step_px = 16;
    const int most_px = (L::strip_px - job.lead_px - job.size) / step_px * step_px;
    job.out_px = cuda::parts(cuda::parts(shape.width, cuda::parts(shape.width, most_px)), step_px) * step_px;
    const int strips = cuda::parts(shape.width, job.out_px);
    // Each band begins with as many rows as the window has: no more bands than run at once.
    const std::int64_t at_once = 2 / L::teams * cuda::multiprocessors();
    const auto bands = std::max<std::int64_t>(1, at_once / (std::int64_t{strips} * shape.frames));
    job.band_rows = band_rows(shape.height, static_cast<int>(bands), 1);
    cuda::allow_shared_memory(mean_kernel<L>);
    return [job, strips, &executor](const FilterImages<MemorySpace::device>& images) {
        auto with_images = job;
        with_images.in.set(images.in);
        with_images.out = cuda::KernelImage(images.out);
        with_images.in_chunks = with_images.in.rows.aligned_to(chunk_bytes);
        with_images.out_chunks = with_images.out.aligned_to(chunk_bytes);
        for_grids(with_images, strips, cuda::parts(job.in.height, job.band_rows), images.in.shape().frames, 1,
                  [&](const Job& part, dim3 grid) {
                      cuda::Launch(executor.stream(), grid, dim3(L::team_threads, L::teams), shared_bytes<L>)(
                          mean_kernel<L>, part);
                  });
    };
}

// What the GPUs with the least have.
static_assert(shared_bytes<Narrow<3>> <= 64 * 1024);

template <int channels>
FilterOnDevice plan(const Job& job, const Shape& shape, Executor& executor) {
    return executor.shared_memory().block_bytes >= shared_bytes<Wide<channels>>
               ? plan<Wide<channels>>(job, shape, executor)
               : plan<Narrow<channels>>(job, shape, executor);
}

}  // namespace
}  // namespace mean_kernels

FilterOnDevice Mean::plan_for_cuda() const {
    using namespace mean_kernels;
    const int size = parameters_.size;
    if (size <= mean_16_bit_size) return mean_by_addition(parameters_, shape_, *executor_);
    const auto division = mean_division_by_bytes(size);
    const auto reach = window_reach(size);
    Job job{.in = QuadSource(shape_, parameters_.border),
            .size = size,
            .reach = reach,
            .lead_px = (mean_lane_px - reach.before % mean_lane_px) % mean_lane_px,
            .bias = division.bias,
            .multiplier = division.multiplier};
    for (int pixel = 0; pixel < mean_lane_px; ++pixel) {
        job.begin_place[pixel] = place_of(pixel + job.lead_px);
        job.end_place[pixel] = place_of(pixel + job.lead_px + size);
    }
    return shape_.channels == 3 ? plan<3>(job, shape_, *executor_) : plan<1>(job, shape_, *executor_);
}

void Mean::run(const FilterImages<MemorySpace::device>& images) const {
    validate(images.in, shape_, "mean's image");
    validate(images.out, shape_, "mean's result");
    on_device_(images);
}

}  // namespace framewire
