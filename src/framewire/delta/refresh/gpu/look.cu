#include "framewire/cuda/device/check.hpp"
#include "framewire/cuda/kernel/grid.cuh"
#include "framewire/cuda/kernel/kernel_image.hpp"
#include "framewire/cuda/kernel/warp.cuh"
#include "framewire/delta/refresh/gpu/look.hpp"

#include <algorithm>
#include <cstdint>

// Examination of cells: a warp per cell of 16x16 pixels, whose lanes take every 32nd byte.
//
//     count_kernel    changes of the encoder's delta frame -> memory.changed
//     spread_kernel   the same from counts per block
//     look_kernel     camera, R, changed -> state, sums and samples of the cell, off per stage
//     aim_kernel      sums, camera -> target, for chosen cells
namespace framewire::delta {
namespace look_kernels {
namespace {

constexpr int threads_per_block = 128, cells_per_block = threads_per_block / 32;

struct CountJob {
    ChangesView<MemorySpace::device> changes;
    CellGrid grid;
    std::int64_t frame_bytes;
    std::uint32_t row_bytes;
    int channels;
    RestingMemory memory;
};

__global__ void __launch_bounds__(threads_per_block) count_kernel(CountJob job) {
    const auto count = job.changes.summaries[0].count;
    const auto thread = blockIdx.x * threads_per_block + threadIdx.x, lane = threadIdx.x % 32;
    // If most of the picture changed, all cells start over, and counting is unnecessary.
    if (is_new_picture(count, job.frame_bytes)) {
        if (thread == 0) *job.memory.new_picture = 1;
        return;
    }
    // Whole warps count together, because their lanes are mostly in few cells: one atomic addition per cell and warp.
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

// Calls body(number, y, x) for the lane's bytes of a cell: byte x of row y, whose sum has index `number` in the cell.
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
    RestTurn turn;
    RestingMemory memory;
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
    // The state is computed in registers by all lanes alike, and written by lane 0 at the end.
    auto here = memory.cells[number];
    int samples = memory.samples[number];
    const auto changed = memory.changed[number];

    bool begins = turn.anew || *memory.new_picture;
    // Many changed bytes may be noise around the threshold, so the camera is compared with the mean before the cell
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
    // A few bytes changed: keep the mean as a single sample, and remove the specks.
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
    // Count for every stage, because choose_cells() decides later which one it is.
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
    RestingMemory memory;
    ToldStep* told;
};

template <int channels>
__global__ void __launch_bounds__(threads_per_block) aim_kernel(AimJob job) {
    const int number = static_cast<int>(blockIdx.x * cells_per_block + threadIdx.x / 32);
    if (number >= job.grid.count() || !job.memory.chosen[number]) return;
    const auto place = job.grid.place(number);
    const auto* const sums = job.memory.sums + std::int64_t{number} * (CellGrid::side * CellGrid::side * channels);
    const auto from = std::int64_t{place.x} * channels;
    const int threshold = job.told->threshold;
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
    atomicMax(&job.told->max_error, largest);
    static_assert(sizeof(job.told->squared_error) == sizeof(unsigned long long));
    atomicAdd(reinterpret_cast<unsigned long long*>(&job.told->squared_error),
              static_cast<unsigned long long>(static_cast<long long>(squares)));
}

}  // namespace
}  // namespace look_kernels

void count_changes(const ChangesView<MemorySpace::device>& changes, const Shape& shape, const RestingMemory& memory,
                   const cuda::Stream& stream) {
    using namespace look_kernels;
    const CountJob job{
        changes,        CellGrid(shape), shape.frame_bytes(), static_cast<std::uint32_t>(shape.row_bytes()),
        shape.channels, memory};
    constexpr unsigned most = 512;
    const auto blocks = cuda::blocks(shape.frame_bytes(), threads_per_block);
    cuda::Launch(stream, std::min(most, blocks), threads_per_block)(count_kernel, job);
}

void spread_blocks(const std::uint32_t* off, const Shape& shape, const RestingMemory& memory,
                   const cuda::Stream& stream) {
    using namespace look_kernels;
    const SpreadJob job{off, BlockGrid(shape), CellGrid(shape), shape.channels, memory.changed};
    cuda::Launch(stream, cuda::blocks(job.grid.count(), threads_per_block), threads_per_block)(spread_kernel, job);
}

void look_at_cells(DeviceView<const std::uint8_t> camera, DeviceView<const std::uint8_t> reference,
                   const RestTurn& turn, const RestingMemory& memory, const cuda::Stream& stream) {
    using namespace look_kernels;
    const LookJob job{cuda::KernelImage(camera), cuda::KernelImage(reference), CellGrid(camera.shape()), turn, memory};
    const auto kernel = camera.shape().channels == 1 ? look_kernel<1> : look_kernel<3>;
    cuda::Launch(stream, cuda::blocks(job.grid.count(), cells_per_block), threads_per_block)(kernel, job);
}

void aim_cells(DeviceView<const std::uint8_t> camera, DeviceView<std::uint8_t> target, const RestTurn& turn,
               const RestingMemory& memory, ToldStep* told, const cuda::Stream& stream) {
    using namespace look_kernels;
    const AimJob job{
        cuda::KernelImage(camera), cuda::KernelImage(target), CellGrid(camera.shape()), turn.within, memory, told};
    const auto kernel = camera.shape().channels == 1 ? aim_kernel<1> : aim_kernel<3>;
    cuda::Launch(stream, cuda::blocks(job.grid.count(), cells_per_block), threads_per_block)(kernel, job);
}

}  // namespace framewire::delta
