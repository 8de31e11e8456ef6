#include "framewire/cuda/kernel.cuh"
#include "framewire/filters/kernel.cuh"
#include "framewire/filters/mean.hpp"
#include "framewire/filters/window.hpp"

#include <algorithm>
#include <cstdint>

// Mean with large windows. A block works on a strip of the image with two teams of threads. Both teams start in the
// middle of the block's rows, and each adds up half of the rows of the first windows. Then one team slides up and the
// other down:
//
//   movers (3 warps)     copy rows to shared memory, fill the border, store rows of results
//   adders               keep 8 columns' sums each in registers: + entering row, - leaving row
//                        block scan -> prefix sums along the row in shared memory
//                        window sum = prefix[x + size] - prefix[x], then the division
//
// The adders never touch global memory. The movers run some steps ahead and so hide its latency.

namespace framewire {
namespace mean_kernels {
namespace {

constexpr int movers = 96;  // threads of a team that move rows
// Pixels per adder.
constexpr int mean_lane_px = 8;

// Sizes of a block: channels, adders per team, teams, and stages, that is, steps whose rows are in flight or in use.
template <int channels_, int threads_, int teams_, int stages_>
struct Layout {
    static constexpr int channels = channels_, threads = threads_, teams = teams_, stages = stages_;
    // Warps of adders, and all threads of a team.
    static constexpr int warps = threads / 32, team_threads = threads + movers;
    // Pixels that a team reads, and bytes of a staged row.
    static constexpr int strip_px = threads * mean_lane_px, slot_bytes = strip_px * channels + chunk_bytes;
    static constexpr int columns = mean_lane_px * channels;  // elements per adder
};
// Wide fits a row of 1920 pixels with the margins of the largest window; Narrow fits GPUs with 64 KiB of shared memory.
template <int channels>
using Wide = Layout<channels, 288, 2, 4>;
template <int channels>
using Narrow = Layout<channels, 160, 1, 3>;

// Returns the index of the prefix sum before a pixel. One index after each thread's pixels is unused, so that the
// threads of a warp use different banks.
FRAMEWIRE_HOST_DEVICE constexpr int place_of(int pixel) { return pixel + pixel / mean_lane_px; }

// Arguments of the kernel.
struct Job {
    QuadSource in;
    cuda::KernelImage<std::uint8_t> out;
    bool in_chunks, out_chunks;
    int size;
    WindowReach reach;
    int lead_px;  // pixels from the first thread's first pixel to the start of the first window
    // Offsets of the prefix sums at the two ends of each window, from the place of a thread's first pixel.
    int begin_place[mean_lane_px], end_place[mean_lane_px];
    int out_px;     // width of a strip's result
    int band_rows;  // height of a block's result
    std::uint32_t bias, multiplier;
};

// Shared memory of a team.
template <class L>
struct Memory {
    // Staged rows: the entering and the leaving row of each step.
    alignas(chunk_bytes) std::uint8_t slot[L::stages][2][L::slot_bytes];
    // One row of results.
    alignas(chunk_bytes) std::uint8_t out[L::strip_px * L::channels];
    // Prefix sums along the current row, per channel.
    std::uint32_t prefix[L::channels][L::strip_px + L::threads];
    cuda::BlockScan<std::uint32_t, L::warps> scans[L::channels];
};

// Waits at a barrier that the movers and the adders meet in different branches, which __syncthreads() does not allow.
// compute-sanitizer's racecheck orders accesses by the number of barriers that a warp has passed, so both branches must
// pass the same number.
__device__ void wait_at_barrier(unsigned barrier, unsigned threads) {
    __syncwarp();  // all threads of a warp arrive together
    asm volatile("barrier.sync %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}

// Waits for all threads of the team.
template <class L>
__device__ void wait_for_team() {
    wait_at_barrier(1 + threadIdx.y, L::team_threads);
}

// Waits for all threads of the block.
template <class L>
__device__ void wait_for_all_teams() {
    wait_at_barrier(0, L::teams * L::team_threads);
}

// Adds the sum of the element-th column to `sum`. Columns are stored two per word.
__device__ std::uint32_t add_column(std::uint32_t sum, const std::uint32_t* columns, int element) {
    return __dp2a_lo(columns[element / 2], element % 2 ? 0x0100u : 0x0001u, sum);
}

// Sums of a thread's columns over the window's rows.
template <class L>
class Columns {
public:
    static constexpr int channels = L::channels;

    // Adds a staged row.
    __device__ void add(const std::uint8_t* row) { change(row, 1); }
    // Subtracts a staged row.
    __device__ void remove(const std::uint8_t* row) { change(row, ~0u); }

    // Adds the sums of the other team. Passes two barriers of all teams; the movers must pass them too.
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

    // Writes the prefix sums before each of this thread's columns. All adders of a team must call it; it passes one
    // barrier of the team.
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
    // Adds the bytes of a row, widened to 16 bits, times 1 or -1. Sums of 255 bytes fit 16 bits, so halves do not mix.
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

// Writes one row of results. Threads without results do nothing.
template <class L>
__device__ void write_means(const Job& job, int out_px, const Memory<L>& memory, std::uint8_t* out) {
    constexpr int channels = L::channels;
    const int first = static_cast<int>(threadIdx.x) * mean_lane_px;
    if (first >= out_px) return;
    constexpr int words = mean_lane_px * channels / 4;
    std::uint32_t result[words];
#pragma unroll
    for (int word = 0; word < words; ++word) {
        // Divided differences of prefix sums; the mean is byte 1 of the upper word of the product.
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

// A team's share of a block's results, in steps. In the first steps, the team adds up its share of the rows of the
// first windows, two rows per step, without the last row to enter. Both teams take the same number of these steps. Each
// further step computes a row of results: one row enters the windows and one leaves.
template <class L>
struct Part {
    int x, x_end, frame;
    int y, direction;  // first row of results, and 1 or -1 for the direction of the next ones

    // Rows of the first windows that this team adds up, the number of steps for them, and the number of all steps.
    int first_row, first_rows, first_steps, steps;
    int enters, leaves;  // offsets of the entering and the leaving row from the row of results

    // Computes the share of the team with index threadIdx.y. Team 1 slides upwards.
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

    // Returns the row of results that a step computes.
    __device__ int row_of(int step) const { return y + direction * (step - first_steps); }
    // Returns the number of rows that a step reads; row() returns the at-th of them.
    __device__ int rows(int step) const { return step < first_steps ? min(2, first_rows - 2 * step) : 2; }
    __device__ int row(int step, int at) const {
        return step < first_steps ? first_row + 2 * step + at : row_of(step) + (at == 0 ? enters : leaves);
    }
};

// Returns the offset of the first thread's pixels in a row. Slots start there or up to a chunk earlier.
template <class L>
__device__ int first_byte(const Job& job, const Part<L>& part) {
    return (part.x - job.lead_px - job.reach.before) * L::channels;
}

// Runs the movers' loop: loads rows, fills their borders and stores results.
template <class L>
__device__ void move_rows(const Job& job, const Part<L>& part, Memory<L>& memory) {
    const StagedRows<L::channels, movers, L::slot_bytes, (max_window_px - 1) * L::channels> rows(
        job.in, job.in_chunks, part.frame, first_byte(job, part) & -chunk_bytes, part.x - job.reach.before,
        part.x_end + job.reach.after);
    const ResultRows<movers, L::strip_px * L::channels> results(
        job.out, job.out_chunks, part.frame, part.x * L::channels, (part.x_end - part.x) * L::channels);
    // Starts loading the rows of a step.
    const auto fetch = [&](int step) {
        if (step < part.steps)
#pragma unroll
            for (int at = 0; at < 2; ++at)
                if (at < part.rows(step)) rows.fetch(part.row(step, at), memory.slot[step % L::stages][at]);
        cuda::commit_copies();
    };
    // Fills the border of a step's rows.
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
    // When a step starts, its rows and their borders are complete; the next step's rows have arrived, but without
    // borders.
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

// Runs the adders' loop. Its barriers match those of move_rows() one by one.
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

// Runs the movers and the adders. Grid: x covers strips, y bands, z frames; threadIdx.y is the team.
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

// Shared memory of a block.
template <class L>
constexpr int shared_bytes = L::teams * sizeof(Memory<L>);

// Divides images of `shape` into strips and bands, for one layout.
template <class L>
FilterOnDevice plan(Job job, const Shape& shape, Executor& executor) {
    // Strips have equal widths, so that none is nearly empty, and start at whole chunks.
    constexpr int step_px = 16;
    const int most_px = (L::strip_px - job.lead_px - job.size) / step_px * step_px;
    job.out_px = cuda::parts(cuda::parts(shape.width, cuda::parts(shape.width, most_px)), step_px) * step_px;
    const int strips = cuda::parts(shape.width, job.out_px);
    // Every band starts by adding up a whole window, so there are only as many bands as run at once.
    const std::int64_t at_once = 2 / L::teams * cuda::limits().multiprocessors;
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

static_assert(shared_bytes<Narrow<3>> <= cuda::least_block_shared_bytes);

// Plans the wide layout if a block may use that much shared memory, otherwise the narrow one.
template <int channels>
FilterOnDevice plan(const Job& job, const Shape& shape, Executor& executor) {
    return cuda::limits().block_shared_bytes >= shared_bytes<Wide<channels>>
               ? plan<Wide<channels>>(job, shape, executor)
               : plan<Narrow<channels>>(job, shape, executor);
}

}  // namespace
}  // namespace mean_kernels

// Small windows are added up directly (mean_direct_kernels); large ones use the kernel above.
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

// Mean with small windows. A warp slides down a strip of the image. Each lane keeps the running sums of its columns,
// two per word, and adds them up along the row together with the nearest sums of its neighbours.

namespace framewire {
namespace mean_direct_kernels {
namespace {

constexpr int warps_per_block = 2;
constexpr int most_blocks = 10;  // blocks per multiprocessor
constexpr int rows_ahead = 4;    // rows in flight while one is processed

struct Job : WarpJob {
    std::uint32_t bias, multiplier;  // the mean is the highest byte of the product
};

// Compile-time geometry of a window.
template <int channels, int size>
struct Window {
    // Extent of the window.
    static constexpr int before = size / 2, after = size - 1 - before;
    // Number of words, two sums each, that windows read on either side of a lane's own words.
    static constexpr int words_before = (before * channels + 1) / 2, words_after = (after * channels + 1) / 2;
    // Words with the lane's own sums, and all words that its windows read.
    static constexpr int own_words = 2 * WarpStrip<channels>::lane_words;
    static constexpr int words = words_before + own_words + words_after;
    static_assert(before <= WarpStrip<channels>::lane_px && size <= mean_16_bit_size);
};

// Widens the two lower or upper bytes of a word to two 16-bit numbers.
__device__ std::uint32_t low_pair(std::uint32_t bytes) { return byte_perm(bytes, 0, 0x4140); }
__device__ std::uint32_t high_pair(std::uint32_t bytes) { return byte_perm(bytes, 0, 0x4342); }

// Returns the sums of the columns `element` and `element` + 1, counted from the lane's first word.
template <int count>
__device__ std::uint32_t pair_at(const std::uint32_t (&sums)[count], int element) {
    return element % 2 ? byte_perm(sums[element / 2], sums[element / 2 + 1], 0x5432) : sums[element / 2];
}

// Adds up the window of each of the lane's pixels and divides the sums, two pixels at a time in 16-bit halves.
template <int channels, int size>
__device__ __forceinline__ void mean_of_row(const Job& job,
                                            const std::uint32_t (&columns)[Window<channels, size>::own_words],
                                            std::uint32_t (&result)[WarpStrip<channels>::lane_words]) {
    using W = Window<channels, size>;
    // The lane's column sums and the nearest ones of its neighbours.
    std::uint32_t sums[W::words];
#pragma unroll
    for (int word = 0; word < W::own_words; ++word) sums[W::words_before + word] = columns[word];
#pragma unroll
    for (int word = 0; word < W::words_before; ++word)
        sums[word] = __shfl_up_sync(~0u, columns[W::own_words - W::words_before + word], 1);
#pragma unroll
    for (int word = 0; word < W::words_after; ++word)
        sums[W::words_before + W::own_words + word] = __shfl_down_sync(~0u, columns[word], 1);
#pragma unroll
    for (int word = 0; word < WarpStrip<channels>::lane_words; ++word) {
        // Two pairs of means.
        std::uint32_t bytes[2];
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const int first = 2 * W::words_before + 4 * word + 2 * half - W::before * channels;
            auto sum = job.bias;
#pragma unroll
            for (int tap = 0; tap < size; ++tap) sum += pair_at(sums, first + tap * channels);
            bytes[half] = byte_perm((sum & 0xffff) * job.multiplier, (sum >> 16) * job.multiplier, 0x73);
        }
        result[word] = byte_perm(bytes[0], bytes[1], 0x5410);
    }
}

// Shared memory of a warp. Rows stay in their slots until they leave the windows, so each is loaded once.
template <int channels, int size>
struct alignas(chunk_bytes) Memory {
    // One slot for each row of a window, and for each row in flight.
    static constexpr int slots = size + rows_ahead;
    std::uint8_t slot[slots][WarpStrip<channels>::slot_bytes];
    std::uint8_t out[WarpStrip<channels>::out_bytes];
};

// For each row: adds the entering row to the column sums, computes a row of results, subtracts the leaving row.
template <int channels, int size>
__global__ void __launch_bounds__(32 * warps_per_block, most_blocks) mean_kernel(__grid_constant__ const Job job) {
    using Strip = WarpStrip<channels>;
    using W = Window<channels, size>;
    using M = Memory<channels, size>;
    __shared__ M all_memory[warps_per_block];

    auto& memory = all_memory[threadIdx.x / 32];
    const auto part = WarpPart::of<warps_per_block>(job);
    if (part.y_end == 0) return;
    const int x = part.strip * Strip::out_px, x_end = min(x + Strip::out_px, job.in.width);
    const StagedRows<channels, 32, Strip::slot_bytes, size * channels> rows(
        job.in, job.in_chunks, part.frame, Strip::first_byte(x), x - W::before, x_end + W::after);
    const ResultRows<32, Strip::out_bytes> results(job.out, job.out_chunks, part.frame, x * channels,
                                                   (x_end - x) * channels);
    const int y_first = part.y - W::before, y_last = part.y_end - 1 + W::after;
    const auto next = [](int slot) { return slot + 1 < M::slots ? slot + 1 : 0; };
    int filled = 0;  // the slot that the next row goes to
    const auto fetch = [&](int y) {
        if (y <= y_last) rows.fetch(y, memory.slot[filled]);
        cuda::commit_copies();
        filled = next(filled);
    };
    for (int row = 0; row < rows_ahead; ++row) fetch(y_first + row);

    std::uint32_t columns[W::own_words] = {};
    int entering = 0, leaving = 0;  // slots of the rows that enter and leave
    for (int y = y_first; y <= y_last; ++y) {
        cuda::wait_for_copies<rows_ahead - 1>();
        __syncwarp();
        fetch(y + rows_ahead);
        if (rows.has_border()) {
            rows.fill_border(memory.slot[entering]);
            __syncwarp();
        }
        std::uint32_t words[Strip::lane_words];
        Strip::load(memory.slot[entering], words);
        entering = next(entering);
#pragma unroll
        for (int word = 0; word < Strip::lane_words; ++word) {
            columns[2 * word] += low_pair(words[word]);
            columns[2 * word + 1] += high_pair(words[word]);
        }
        if (y < y_first + size - 1) continue;
        std::uint32_t result[Strip::lane_words];
        mean_of_row<channels, size>(job, columns, result);
        // Remove the row that leaves the window.
        Strip::load(memory.slot[leaving], words);
        leaving = next(leaving);
#pragma unroll
        for (int word = 0; word < Strip::lane_words; ++word) {
            columns[2 * word] -= low_pair(words[word]);
            columns[2 * word + 1] -= high_pair(words[word]);
        }
        if (Strip::has_result()) Strip::store(result, memory.out);
        __syncwarp();
        results.store(memory.out, y - W::after);
    }
}

// Plans the kernel for parameters.size, which is at least `size`.
template <int channels, int size = 1>
FilterOnDevice plan(Job job, const MeanParameters& parameters, const Shape& shape, Executor& executor) {
    if constexpr (size < mean_16_bit_size)
        if (parameters.size != size) return plan<channels, size + 1>(job, parameters, shape, executor);
    constexpr int shared_bytes = warps_per_block * sizeof(Memory<channels, size>);
    const int blocks = std::min(
        most_blocks, cuda::limits().multiprocessor_shared_bytes / (shared_bytes + cuda::reserved_shared_bytes));
    const int strips = cuda::parts(shape.width, WarpStrip<channels>::out_px);
    settle_warps<warps_per_block>(job, shape, parameters.border, strips, std::max(blocks, 1), 1, size - 1);
    return [job, &executor](const FilterImages<MemorySpace::device>& images) {
        launch_warps<warps_per_block>(job, images, [&](const Job& part, dim3 grid) {
            cuda::Launch(executor.stream(), grid, 32 * warps_per_block)(mean_kernel<channels, size>, part);
        });
    };
}

}  // namespace
}  // namespace mean_direct_kernels

// The bias is added to both halves of a word; the shift of the multiplier moves the mean to the highest byte.
FilterOnDevice mean_by_addition(const MeanParameters& parameters, const Shape& shape, Executor& executor) {
    using namespace mean_direct_kernels;
    const auto division = mean_division(parameters.size, 16);
    Job job{};
    job.bias = division.bias * 0x10001u;
    job.multiplier = division.multiplier << (24 - division.shift);
    return shape.channels == 3 ? plan<3>(job, parameters, shape, executor) : plan<1>(job, parameters, shape, executor);
}

}  // namespace framewire
