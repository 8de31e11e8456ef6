#include "framewire/codec/refinement_gpu.hpp"
#include "framewire/cuda/check.hpp"
#include "framewire/cuda/kernel.cuh"
#include "framewire/cuda/kernel_image.hpp"

#include <algorithm>
#include <cstdint>

// Choice of the cells to refine by a single thread block, with the same result as RefinementOnHost::choose(). The host
// sorts the due cells and takes the first ones that fit. Here, cells are counted per age class, with one class per
// thread:
//
//     1. histogram of the due cells and their changes by age
//     2. prefix sum over the ages, oldest first: all classes that fit entirely are taken
//     3. prefix sum over the cells of the first class that does not, by rank: those that fit are taken

namespace framewire::codec {
namespace choose_kernels {
namespace {

constexpr int threads = rest_ages;

struct Job {
    CellGrid grid;
    int channels;
    RefinementTurn turn;
    RefinementMemory memory;
    SignalledStep* signalled;
};

// Number of cells (upper half), and number of bytes that they would change (lower half). Each half has room for a whole
// frame.
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

// Chooses cells for one stage. Called by all threads. A cell always belongs to the same thread, so no other thread
// reads what settle() writes.
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
    const RefinementLimits limits(job.turn, shared.account, stage);

    shared.ages[thread] = 0;
    __syncthreads();
    // Compute the histogram by age.
    for (int rank = thread; rank < ranks; rank += threads)
        for_each_due(rank, [&](int, int age, std::uint32_t off) { atomicAdd(&shared.ages[age], sum_of(off)); });
    __syncthreads();
    // Add up the classes, the oldest one first.
    const auto of_age = shared.ages[rest_ages - 1 - thread];
    const auto age_in_warp = shared.scan.begin(of_age);
    __syncthreads();
    const auto ages = shared.scan.end(age_in_warp);
    const auto up_to_age = ages.before + of_age;
    const int whole_ages = __syncthreads_count(limits.takes_all(cells_of(up_to_age), off_of(up_to_age)));
    if (thread == (whole_ages < rest_ages ? whole_ages : rest_ages - 1))
        shared.before = whole_ages < rest_ages ? ages.before : up_to_age;
    __syncthreads();
    const int parted_age = rest_ages - 1 - whole_ages;  // class of which only some cells are taken; -1 if there is none
    auto before = shared.before;
    auto taken = Sum{0};  // cells of this class that belong to this thread and are taken
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
            // All cells of older classes are taken, those cells of parted_age that fit, and none of younger classes.
            if (age <= parted_age && !takes) return;
            if (takes) taken += own;
            if (off) memory.chosen[number] = 1;
            settle(memory.cells[number], off, job.channels);
        });
        before += cells.total;
    }
    // Add up over all threads how much was taken, which also shows whether any due cell is left.
    const auto taken_in_warp = shared.scan.begin(taken);
    __syncthreads();
    const auto total = shared.before + shared.scan.end(taken_in_warp).total;
    __syncthreads();
    return {off_of(total), cells_of(total) == cells_of(ages.total)};
}

__global__ void __launch_bounds__(threads) choose_kernel(Job job) {
    __shared__ Shared shared;
    SignalledStep signalled;
    if (threadIdx.x == 0) {
        shared.account = *job.memory.account;
        shared.account.begin(job.turn);
        *job.memory.new_picture = 0;
    }
    __syncthreads();
    if (shared.account.may_send(job.turn)) {
        // The order of stages is that of RefinementOnHost::refine().
        const int first = shared.account.next_stage;
        int next = 0;
        for (int i = 0; i < rest_stages; ++i) {
            const int stage = (first + i) % rest_stages;
            const auto [changes, all] = choose_stage(job, shared, stage);
            if (changes > 0) {
                signalled.stage = stage;
                signalled.threshold = job.turn.thresholds[stage];
                signalled.count = changes;
                signalled.expected_parts = RefinementLimits(job.turn, shared.account, stage).parts(changes);
                if (all) next = (stage + 1) % rest_stages;
            }
            if (changes > 0 || !all) break;
        }
        __syncthreads();
        if (threadIdx.x == 0) {
            shared.account.next_stage = next;
            shared.account.send(signalled.expected_parts);
        }
    }
    if (threadIdx.x == 0) {
        *job.memory.account = shared.account;
        *job.signalled = signalled;
    }
}

}  // namespace
}  // namespace choose_kernels

void choose_cells(const Shape& shape, const RefinementTurn& turn, const RefinementMemory& memory,
                  SignalledStep* signalled, const cuda::Stream& stream) {
    using namespace choose_kernels;
    cuda::Launch(stream, 1, threads)(choose_kernel, {CellGrid(shape), shape.channels, turn, memory, signalled});
}

}  // namespace framewire::codec

// Examination of cells, by one warp per cell of 16x16 pixels. Each lane processes every 32nd byte.
//
//     count_kernel    changes of the encoder's delta frame -> memory.changed
//     spread_kernel   the same from counts per block
//     look_kernel     camera, R, changed -> state, sums and samples of the cell, off per stage
//     aim_kernel      sums, camera -> target, for chosen cells
namespace framewire::codec {
namespace look_kernels {
namespace {

constexpr int threads_per_block = 128, cells_per_block = threads_per_block / 32;

struct CountJob {
    ChangesView<MemorySpace::device> changes;
    CellGrid grid;
    std::int64_t frame_bytes;
    std::uint32_t row_bytes;
    int channels;
    RefinementMemory memory;
};

__global__ void __launch_bounds__(threads_per_block) count_kernel(CountJob job) {
    const auto count = job.changes.summaries[0].count;
    const auto thread = blockIdx.x * threads_per_block + threadIdx.x, lane = threadIdx.x % 32;
    // If a large part of the picture changed, all cells start over, so counting is unnecessary.
    if (is_new_picture(count, job.frame_bytes)) {
        if (thread == 0) *job.memory.new_picture = 1;
        return;
    }
    // The lanes of a warp count together, because their changes are in few cells: one atomic addition per cell and
    // warp.
    for (auto begin = thread - lane; begin < count; begin += gridDim.x * threads_per_block) {
        const auto number = begin + lane;
        const auto active = __ballot_sync(~0u, number < count);
        if (number >= count) continue;
        const auto position = job.changes.positions[number];
        const int cell = job.grid.cell_of(static_cast<int>(position / job.row_bytes),
                                          static_cast<int>(position % job.row_bytes), job.channels);
        const auto alike = __match_any_sync(active, cell);
        if (lane == static_cast<std::uint32_t>(__ffs(static_cast<int>(alike)) - 1))
            atomicAdd(&job.memory.changed[cell], static_cast<std::uint32_t>(__popc(alike)));
    }
}

struct SpreadJob {
    const std::uint32_t* off;
    BlockGrid blocks;
    CellGrid grid;
    int channels;
    std::uint32_t* changed;
};

__global__ void __launch_bounds__(threads_per_block) spread_kernel(SpreadJob job) {
    const int cell = static_cast<int>(blockIdx.x * threads_per_block + threadIdx.x);
    if (cell >= job.grid.count()) return;
    const auto place = job.grid.place(cell);
    const int block = job.blocks.block_at(place.x, place.y);
    job.changed[cell] = changed_with_block(job.off[block], job.blocks.place(block), job.channels);
}

// Calls body(number, y, x) for each byte of a cell that belongs to this lane: byte x of row y, with the index `number`
// in the cell's sums.
template <int channels, class Body>
__device__ void for_each_byte(const BlockPlace& place, Body&& body) {
    constexpr unsigned row_bytes = CellGrid::side * channels;
    for (unsigned number = threadIdx.x % 32; number < CellGrid::side * row_bytes; number += 32) {
        const int y = static_cast<int>(number / row_bytes), x = static_cast<int>(number % row_bytes);
        if (y < place.height && x < place.width * channels) body(number, y, x);
    }
}

struct LookJob {
    cuda::KernelImage<const std::uint8_t> camera, reference;
    CellGrid grid;
    RefinementTurn turn;
    RefinementMemory memory;
};

template <int channels>
__global__ void __launch_bounds__(threads_per_block) look_kernel(LookJob job) {
    const int number = static_cast<int>(blockIdx.x * cells_per_block + threadIdx.x / 32);
    if (number >= job.grid.count()) return;
    const auto& turn = job.turn;
    const auto& memory = job.memory;
    const auto place = job.grid.place(number);
    auto* const sums = memory.sums + std::int64_t{number} * (CellGrid::side * CellGrid::side * channels);
    const auto byte_of = [&](const cuda::KernelImage<const std::uint8_t>& image, int y, int x) -> int {
        return image.row(0, place.y + y)[std::int64_t{place.x} * channels + x];
    };
    // All lanes compute the same state in registers; lane 0 writes it at the end.
    auto here = memory.cells[number];
    int samples = memory.samples[number];
    const auto changed = memory.changed[number];

    bool begins = turn.starts_over || *memory.new_picture;
    // Even many changed bytes may be noise around the threshold, so compare the camera with the mean before the cell
    // starts over.
    if (!begins && more_than_noise(changed, channels)) {
        begins = samples == 0;
        if (!begins) {
            const RestMean mean(samples);
            std::uint32_t far = 0;
            for_each_byte<channels>(place, [&](unsigned byte, int y, int x) {
                far += abs(byte_of(job.camera, y, x) - mean.of(sums[byte])) > turn.within;
            });
            begins = more_than_noise(cuda::warp_sum(far), channels);
        }
    }
    if (begins) {
        here = RestingCell{turn.now};
        samples = 0;
    }
    if (is_looked_at_again(here, turn)) {
        here = looked_at_again(turn);
        samples = 0;
    }
    // If a few bytes changed, keep the mean as a single sample, and go back to the stage that removes specks.
    if (changed && here.stage >= rest_mended_stage) {
        here = mended(here, turn);
        const RestMean mean(samples);
        for_each_byte<channels>(place, [&](unsigned byte, int, int) { sums[byte] = mean.of(sums[byte]); });
        samples = 1;
    }
    if (here.stage < rest_stages && takes_sample(number, turn)) {
        for_each_byte<channels>(place, [&](unsigned byte, int y, int x) {
            const auto before = samples == 0                   ? std::uint16_t{0}
                                : samples == most_rest_samples ? halved_sum(sums[byte])
                                                               : sums[byte];
            sums[byte] = static_cast<std::uint16_t>(before + byte_of(job.camera, y, x));
        });
        samples = samples_with_next(samples);
    }
    // Count for every stage, because choose_cells() decides later which stage is refined.
    std::uint32_t off[rest_stages] = {};
    if (is_due(here, samples, turn)) {
        const RestMean mean(samples);
        for_each_byte<channels>(place, [&](unsigned byte, int y, int x) {
            const int target = rest_target(mean.of(sums[byte]), byte_of(job.camera, y, x), turn.within);
            const int distance = abs(target - byte_of(job.reference, y, x));
#pragma unroll
            for (int stage = 0; stage < rest_stages; ++stage) off[stage] += distance > turn.thresholds[stage];
        });
#pragma unroll
        for (auto& of_stage : off) of_stage = cuda::warp_sum(of_stage);
    }
    __syncwarp();  // all lanes have read the state before it is overwritten
    if (threadIdx.x % 32 != 0) return;
    memory.cells[number] = here;
    memory.samples[number] = static_cast<std::uint8_t>(samples);
    memory.changed[number] = 0;
    memory.chosen[number] = 0;
#pragma unroll
    for (int stage = 0; stage < rest_stages; ++stage) memory.off[number * rest_stages + stage] = off[stage];
}

struct AimJob {
    cuda::KernelImage<const std::uint8_t> camera;
    cuda::KernelImage<std::uint8_t> target;
    CellGrid grid;
    int within;
    RefinementMemory memory;
    SignalledStep* signalled;
};

template <int channels>
__global__ void __launch_bounds__(threads_per_block) aim_kernel(AimJob job) {
    const int number = static_cast<int>(blockIdx.x * cells_per_block + threadIdx.x / 32);
    if (number >= job.grid.count() || !job.memory.chosen[number]) return;
    const auto place = job.grid.place(number);
    const auto* const sums = job.memory.sums + std::int64_t{number} * (CellGrid::side * CellGrid::side * channels);
    const auto from = std::int64_t{place.x} * channels;
    const int threshold = job.signalled->threshold;
    const RestMean mean(job.memory.samples[number]);
    std::uint32_t largest = 0;
    int squares = 0;  // at most 768 * 255^2 for a cell, which fits
    for_each_byte<channels>(place, [&](unsigned byte, int y, int x) {
        const int now = job.camera.row(0, place.y + y)[from + x];
        auto& held = job.target.row(0, place.y + y)[from + x];
        const int target = rest_target(mean.of(sums[byte]), now, job.within);
        if (abs(target - held) <= threshold) return;
        const int before = now - held, after = now - target;
        largest = max(largest, static_cast<std::uint32_t>(abs(after)));
        squares += after * after - before * before;
        held = static_cast<std::uint8_t>(target);
    });
    largest = cuda::warp_max(largest);
    squares = cuda::warp_sum(squares);
    if (threadIdx.x % 32 != 0) return;
    atomicMax(&job.signalled->max_error, largest);
    static_assert(sizeof(job.signalled->squared_error) == sizeof(unsigned long long));
    atomicAdd(reinterpret_cast<unsigned long long*>(&job.signalled->squared_error),
              static_cast<unsigned long long>(static_cast<long long>(squares)));
}

}  // namespace
}  // namespace look_kernels

void count_changes(const ChangesView<MemorySpace::device>& changes, const Shape& shape, const RefinementMemory& memory,
                   const cuda::Stream& stream) {
    using namespace look_kernels;
    const CountJob job{
        changes,        CellGrid(shape), shape.frame_bytes(), static_cast<std::uint32_t>(shape.row_bytes()),
        shape.channels, memory};
    constexpr unsigned most = 512;
    const auto blocks = cuda::blocks(shape.frame_bytes(), threads_per_block);
    cuda::Launch(stream, std::min(most, blocks), threads_per_block)(count_kernel, job);
}

void spread_blocks(const std::uint32_t* off, const Shape& shape, const RefinementMemory& memory,
                   const cuda::Stream& stream) {
    using namespace look_kernels;
    const SpreadJob job{off, BlockGrid(shape), CellGrid(shape), shape.channels, memory.changed};
    cuda::Launch(stream, cuda::blocks(job.grid.count(), threads_per_block), threads_per_block)(spread_kernel, job);
}

void look_at_cells(DeviceView<const std::uint8_t> camera, DeviceView<const std::uint8_t> reference,
                   const RefinementTurn& turn, const RefinementMemory& memory, const cuda::Stream& stream) {
    using namespace look_kernels;
    const LookJob job{cuda::KernelImage(camera), cuda::KernelImage(reference), CellGrid(camera.shape()), turn, memory};
    const auto kernel = camera.shape().channels == 1 ? look_kernel<1> : look_kernel<3>;
    cuda::Launch(stream, cuda::blocks(job.grid.count(), cells_per_block), threads_per_block)(kernel, job);
}

void aim_cells(DeviceView<const std::uint8_t> camera, DeviceView<std::uint8_t> target, const RefinementTurn& turn,
               const RefinementMemory& memory, SignalledStep* signalled, const cuda::Stream& stream) {
    using namespace look_kernels;
    const AimJob job{
        cuda::KernelImage(camera), cuda::KernelImage(target), CellGrid(camera.shape()), turn.within, memory, signalled};
    const auto kernel = camera.shape().channels == 1 ? aim_kernel<1> : aim_kernel<3>;
    cuda::Launch(stream, cuda::blocks(job.grid.count(), cells_per_block), threads_per_block)(kernel, job);
}

}  // namespace framewire::codec
