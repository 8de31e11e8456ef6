#include "framewire/cuda/kernel/launch.cuh"
#include "framewire/cuda/kernel/scan.cuh"
#include "framewire/delta/refresh/gpu/choose.hpp"

#include <cstdint>

// Choice of the cells to refine, by a single thread block, with the same result as RestOnHost::choose(). The host sorts
// the cells that are due and takes the first ones that fit. Here, cells are counted per age class, one class per
// thread:
//
//     1. histogram of the due cells and their changes by age
//     2. prefix sum over the ages, oldest first: all classes that fit entirely are taken
//     3. prefix sum over the cells of the first class that does not, by rank: those that fit are taken

namespace framewire::delta {
namespace choose_kernels {
namespace {

constexpr int threads = rest_ages;

struct Job {
    CellGrid grid;
    int channels;
    RestTurn turn;
    RestingMemory memory;
    ToldStep* told;
};

// Number of cells in the upper half, and number of bytes that they would change in the lower half. A whole frame fits.
using Sum = unsigned long long;
__device__ constexpr Sum sum_of(std::uint32_t off) { return Sum{1} << 32 | off; }
__device__ constexpr std::uint32_t cells_of(Sum sum) { return static_cast<std::uint32_t>(sum >> 32); }
__device__ constexpr std::uint32_t off_of(Sum sum) { return static_cast<std::uint32_t>(sum); }

struct Shared {
    RestAccount account;
    Sum ages[rest_ages];
    cuda::BlockScan<Sum, threads / 32> scan;
    Sum before;
};

struct Chosen {
    std::uint32_t changes;
    bool all;
};

// Chooses cells for one stage. All threads call it. A cell always belongs to the same thread, so no other thread reads
// what settle() writes.
__device__ Chosen choose_stage(const Job& job, Shared& shared, int stage) {
    const auto& memory = job.memory;
    const int thread = static_cast<int>(threadIdx.x), ranks = job.grid.ranks();
    const auto for_each_due = [&](int rank, auto&& body) {
        const int number = rank < ranks ? job.grid.cell_of_rank(rank) : -1;
        if (number < 0) return;
        const auto& cell = memory.cells[number];
        if (cell.stage == stage && is_due(cell, memory.samples[number], job.turn))
            body(number, rest_age(cell, job.turn), memory.off[number * rest_stages + stage]);
    };
    const RestLimits limits(job.turn, shared.account, stage);

    shared.ages[thread] = 0;
    __syncthreads();
    // Histogram by age.
    for (int rank = thread; rank < ranks; rank += threads)
        for_each_due(rank, [&](int, int age, std::uint32_t off) { atomicAdd(&shared.ages[age], sum_of(off)); });
    __syncthreads();
    // Oldest class first.
    const auto of_age = shared.ages[rest_ages - 1 - thread];
    const auto age_in_warp = shared.scan.begin(of_age);
    __syncthreads();
    const auto ages = shared.scan.end(age_in_warp);
    const auto up_to_age = ages.before + of_age;
    const int whole_ages = __syncthreads_count(limits.takes_all(cells_of(up_to_age), off_of(up_to_age)));
    if (thread == (whole_ages < rest_ages ? whole_ages : rest_ages - 1))
        shared.before = whole_ages < rest_ages ? ages.before : up_to_age;
    __syncthreads();
    const int parted_age = rest_ages - 1 - whole_ages;  // class that is taken in part; -1: none
    auto before = shared.before;
    auto taken = Sum{0};  // cells of that class taken by this thread
    for (int begin = 0; begin < ranks; begin += threads) {
        auto own = Sum{0};
        for_each_due(begin + thread, [&](int, int age, std::uint32_t off) {
            if (age == parted_age) own = sum_of(off);
        });
        const auto in_warp = shared.scan.begin(own);
        __syncthreads();
        const auto cells = shared.scan.end(in_warp);
        __syncthreads();
        for_each_due(begin + thread, [&](int number, int age, std::uint32_t off) {
            const auto before_this = before + cells.before;
            const bool takes = age == parted_age &&
                               limits.takes(cells_of(before_this), off_of(before_this), off_of(before_this + own));
            // Older classes are taken entirely; of this class, the cells that fit; younger classes not at all.
            if (age <= parted_age && !takes) return;
            if (takes) taken += own;
            if (off) memory.chosen[number] = 1;
            settle(memory.cells[number], off, job.channels);
        });
        before += cells.total;
    }
    // The sums over all threads say how much was taken and whether any due cell is left.
    const auto taken_in_warp = shared.scan.begin(taken);
    __syncthreads();
    const auto total = shared.before + shared.scan.end(taken_in_warp).total;
    __syncthreads();
    return {off_of(total), cells_of(total) == cells_of(ages.total)};
}

__global__ void __launch_bounds__(threads) choose_kernel(Job job) {
    __shared__ Shared shared;
    ToldStep told;
    if (threadIdx.x == 0) {
        shared.account = *job.memory.account;
        shared.account.begin(job.turn);
        *job.memory.new_picture = 0;
    }
    __syncthreads();
    if (shared.account.may_send(job.turn)) {
        // The order of stages is that of RestOnHost::sharpen().
        const int first = shared.account.next_stage;
        int next = 0;
        for (int i = 0; i < rest_stages; ++i) {
            const int stage = (first + i) % rest_stages;
            const auto [changes, all] = choose_stage(job, shared, stage);
            if (changes > 0) {
                told.stage = stage;
                told.threshold = job.turn.thresholds[stage];
                told.count = changes;
                told.expected_parts = RestLimits(job.turn, shared.account, stage).parts(changes);
                if (all) next = (stage + 1) % rest_stages;
            }
            if (changes > 0 || !all) break;
        }
        __syncthreads();
        if (threadIdx.x == 0) {
            shared.account.next_stage = next;
            shared.account.send(told.expected_parts);
        }
    }
    if (threadIdx.x == 0) {
        *job.memory.account = shared.account;
        *job.told = told;
    }
}

}  // namespace
}  // namespace choose_kernels

void choose_cells(const Shape& shape, const RestTurn& turn, const RestingMemory& memory, ToldStep* told,
                  const cuda::Stream& stream) {
    using namespace choose_kernels;
    cuda::Launch(stream, 1, threads)(choose_kernel, {CellGrid(shape), shape.channels, turn, memory, told});
}

}  // namespace framewire::delta
