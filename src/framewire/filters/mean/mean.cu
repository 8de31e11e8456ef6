#include "framewire/cuda/kernel/scan.cuh"
#include "framewire/filters/kernel/staged_rows.cuh"
#include "framewire/filters/mean/mean_cuda.hpp"
#include "framewire/filters/window.hpp"

#include <algorithm>
#include <cstdint>

// A block works on a strip of the image in two teams, which begin with the same windows in its middle, of which each
// adds up half, and slide up and down from there. Each thread keeps the sums of its columns, from which the row that
// leaves its windows is taken as the next one enters. Its first window is a difference of prefix sums along the row;
// each next one gains a column's sum and loses one of the thread's own. Some warps more move the rows, in and out.

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

struct Job {
    QuadSource in;
    cuda::KernelImage<std::uint8_t> out;
    bool in_chunks, out_chunks;
    int size;
    WindowReach reach;
    int lead_px;        // of the first thread, before the first window begins
    int threads_ahead;  // from a thread to the one that its first window ends in
    int out_place;      // of the first thread's results in a row of them: whole words of two, at most 7 before a chunk
    int out_px;         // of a strip's result
    int band_rows;      // of a block's result
    std::uint32_t bias, multiplier;
};

// A team's. What threads tell each other and the movers of a row stays there while they work on the next one.
template <class L>
struct Memory {
    static constexpr int windows_end = L::threads + 2;  // threads whose columns the last windows may reach into
    alignas(chunk_bytes) std::uint8_t slot[L::stages][2][L::slot_bytes];
    alignas(chunk_bytes) std::uint8_t out[2][L::strip_px * L::channels + 3 * chunk_bytes];
    alignas(chunk_bytes) std::uint32_t columns[2][windows_end * L::columns / 2];  // two sums to a word
    std::uint32_t prefix[2][L::channels][windows_end];
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

// A thread's sums of columns. Windows end `rest` columns behind where threads' own columns begin.
template <class L, int rest>
class Columns {
public:
    static constexpr int channels = L::channels, words = L::columns / 2;

    __device__ void add(const std::uint8_t* row) {
        each_two_words(row, row, [&](int word, std::uint32_t pair, std::uint32_t) { sums_[word] += pair; });
    }
    __device__ void slide(const std::uint8_t* entering, const std::uint8_t* leaving) {
        each_two_words(entering, leaving,
                       [&](int word, std::uint32_t in, std::uint32_t out) { sums_[word] += in - out; });
    }

    // Adds what the other team has. Meanwhile those that move rows wait for all teams twice, too.
    __device__ void add_other_team(Memory<L>* memories) {
        const auto place = [&](unsigned team, int word) -> std::uint32_t& {
            return memories[team].columns[0][word * L::threads + static_cast<int>(threadIdx.x)];
        };
#pragma unroll
        for (int word = 0; word < words; ++word) place(threadIdx.y, word) = sums_[word];
        wait_for_all_teams<L>();
#pragma unroll
        for (int word = 0; word < words; ++word) sums_[word] += place(1 - threadIdx.y, word);
        wait_for_all_teams<L>();
    }

    // Tells the team what its windows see of these columns. By whole warps.
    __device__ void publish(Memory<L>& memory, int turn) {
        auto* to = reinterpret_cast<uint4*>(memory.columns[turn]) + threadIdx.x * (words / 4);
#pragma unroll
        for (int word = 0; word < words; word += 4)
            to[word / 4] = {sums_[word], sums_[word + 1], sums_[word + 2], sums_[word + 3]};
#pragma unroll
        for (int channel = 0; channel < channels; ++channel) {
            std::uint32_t total = 0, of_rest = 0;
#pragma unroll
            for (int pixel = 0; pixel < mean_lane_px; ++pixel) {
                if (pixel == rest) of_rest = total;
                total = add_column(total, sums_, pixel * channels + channel);
            }
            const auto up_to = cuda::inclusive_warp_sum(total);
            before_[channel] = up_to - total;
            warp_total_[channel] = __shfl_sync(~0u, up_to, 31);
            memory.prefix[turn][channel][threadIdx.x] = before_[channel] + of_rest;
        }
    }

    // Writes the means of the windows that begin with these columns.
    __device__ void write_means(const Job& job, const Memory<L>& memory, int turn, std::uint8_t* out) const {
        const auto end = static_cast<int>(threadIdx.x) + job.threads_ahead;
        // A window ends in its thread's warp or in the next one.
        const bool leaves_warp = end / 32 != static_cast<int>(threadIdx.x) / 32;
        std::uint32_t sum[channels];
#pragma unroll
        for (int channel = 0; channel < channels; ++channel)
            sum[channel] = memory.prefix[turn][channel][end] - before_[channel] +
                           (leaves_warp ? warp_total_[channel] : 0) + job.bias;

        constexpr int first = rest * channels / 8, last = (rest * channels + L::columns - 1) / 8;  // of four words
        std::uint32_t ahead[4 * (last - first + 1)];
        const auto* from = reinterpret_cast<const uint4*>(memory.columns[turn]) + end * (words / 4) + first;
#pragma unroll
        for (int four = 0; four <= last - first; ++four) {
            const auto loaded = from[four];
            ahead[4 * four] = loaded.x;
            ahead[4 * four + 1] = loaded.y;
            ahead[4 * four + 2] = loaded.z;
            ahead[4 * four + 3] = loaded.w;
        }

        std::uint32_t result[words / 2];
#pragma unroll
        for (int word = 0; word < words / 2; ++word) {
            std::uint32_t product[4];
#pragma unroll
            for (int byte = 0; byte < 4; ++byte) {
                const int own = 4 * word + byte, other = own + rest * channels - 8 * first;
                auto& window = sum[own % channels];
                product[byte] = __umulhi(window, job.multiplier);
                window = slide_window(window, ahead[other / 2], other % 2, sums_[own / 2], own % 2);
            }
            result[word] =
                byte_perm(byte_perm(product[0], product[1], 0x51), byte_perm(product[2], product[3], 0x51), 0x5410);
        }
        auto* to = reinterpret_cast<uint2*>(out + job.out_place) + threadIdx.x * channels;
#pragma unroll
        for (int word = 0; word < words / 2; word += 2) to[word / 2] = {result[word], result[word + 1]};
    }

private:
    // `window` and a half of a word, less a half of another word.
    static __device__ std::uint32_t slide_window(std::uint32_t window, std::uint32_t entering, int entering_half,
                                                 std::uint32_t leaving, int leaving_half) {
        const auto both =
            byte_perm(entering, leaving, (leaving_half ? 0x7600 : 0x5400) | (entering_half ? 0x32 : 0x10));
        asm("dp2a.lo.u32.s32 %0, %1, %2, %0;" : "+r"(window) : "r"(both), "r"(0xff01));
        return window;
    }

    // Calls take(word, pair, other) with a thread's bytes of two rows, two to a word.
    template <class Take>
    static __device__ void each_two_words(const std::uint8_t* row, const std::uint8_t* other, Take&& take) {
        const auto place = threadIdx.x * channels;
#pragma unroll
        for (int two = 0; two < channels; ++two) {
            const auto a = reinterpret_cast<const uint2*>(row)[place + two];
            const auto b = reinterpret_cast<const uint2*>(other)[place + two];
            take(4 * two, byte_perm(a.x, 0, 0x4140), byte_perm(b.x, 0, 0x4140));
            take(4 * two + 1, byte_perm(a.x, 0, 0x4342), byte_perm(b.x, 0, 0x4342));
            take(4 * two + 2, byte_perm(a.y, 0, 0x4140), byte_perm(b.y, 0, 0x4140));
            take(4 * two + 3, byte_perm(a.y, 0, 0x4342), byte_perm(b.y, 0, 0x4342));
        }
    }

    std::uint32_t sums_[words] = {};
    std::uint32_t before_[channels], warp_total_[channels];  // of the last row told
};

// Rows of results on their way from shared memory, where they begin `shift` bytes, at most 7, behind a chunk.
template <class L>
struct ShiftedRows {
    const Job& job;
    std::uint8_t* first;
    int count, shift;

    __device__ void store(const std::uint8_t* from, int y) const {
        auto* to = first + y * job.out.row_stride;
        const int thread = static_cast<int>(threadIdx.x) % movers, whole = job.out_chunks ? count / chunk_bytes : 0;
#pragma unroll
        for (int at = 0; at < (L::strip_px * L::channels / chunk_bytes + movers - 1) / movers; ++at) {
            const int chunk = thread + at * movers;
            if (chunk >= whole) continue;
            const auto four = reinterpret_cast<const uint4*>(from)[chunk];
            const auto two = reinterpret_cast<const uint2*>(from)[2 * (chunk + 1)];
            const std::uint32_t words[6] = {four.x, four.y, four.z, four.w, two.x, two.y};
            std::uint32_t from_word[5], result[4];
#pragma unroll
            for (int word = 0; word < 5; ++word) from_word[word] = shift < 4 ? words[word] : words[word + 1];
#pragma unroll
            for (int word = 0; word < 4; ++word)
                result[word] = __funnelshift_r(from_word[word], from_word[word + 1], 8 * shift);
            reinterpret_cast<uint4*>(to)[chunk] = {result[0], result[1], result[2], result[3]};
        }
        if (whole * chunk_bytes < count) copy_bytes_from<movers>(from + shift, to, whole * chunk_bytes, count);
    }
};

// A team's part of the result, in steps. The first ones, as many for each team, add up its share of the rows that the
// first windows see but for the last one that enters them, two a step. Each of the others brings a row of results: a
// row enters the windows, and of all but the first one leaves that the row of results before saw.
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
    __device__ int rows(int step) const {
        return step < first_steps ? min(2, first_rows - 2 * step) : step == first_steps ? 1 : 2;
    }
    __device__ int row(int step, int at) const {
        if (step < first_steps) return first_row + 2 * step + at;
        return at == 0 ? row_of(step) + enters : row_of(step - 1) + leaves;
    }
};

// Where the first thread's pixels begin in rows; slots begin there or some bytes before.
template <class L>
__device__ int first_byte(const Job& job, const Part<L>& part) {
    return (part.x - job.lead_px - job.reach.before) * L::channels;
}

template <class L>
__device__ void move_rows(const Job& job, const Part<L>& part, Memory<L>& memory) {
    const StagedRows<L::channels, movers, L::slot_bytes, (max_window_px - 1) * L::channels, L::channels> rows(
        job.in, job.in_chunks, part.frame, first_byte(job, part) & -chunk_bytes, part.x - job.reach.before,
        part.x_end + job.reach.after);
    const int begin = job.out_place + job.lead_px * L::channels;
    const ShiftedRows<L> results{job, job.out.row(part.frame, 0) + part.x * L::channels,
                                 (part.x_end - part.x) * L::channels, begin % chunk_bytes};
    const auto store = [&](int step) {
        if (step >= part.first_steps)
            results.store(memory.out[step % 2] + begin / chunk_bytes * chunk_bytes, part.row_of(step));
    };
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
    const auto end_step = [&] {
        cuda::wait_for_copies<L::stages - 3>();
        wait_for_team<L>();
    };
    end_step();
    int step = 0;
    const auto take_steps = [&](int end) {
        for (; step < end; ++step) {
            fetch(step + L::stages - 1);
            fill_border(step + 1);
            store(step - 2);
            end_step();
        }
    };
    take_steps(part.first_steps);
    if constexpr (L::teams == 2) {
        wait_for_all_teams<L>();
        wait_for_all_teams<L>();
    }
    take_steps(part.steps);
    store(part.steps - 2);
    wait_for_team<L>();
    store(part.steps - 1);
}

template <class L, int rest>
__device__ void add_up(const Job& job, const Part<L>& part, Memory<L>* memories) {
    auto& memory = memories[threadIdx.y];
    const int lead_bytes = first_byte(job, part) & (chunk_bytes - 1);
    const bool has_result = static_cast<int>(threadIdx.x) * mean_lane_px - job.lead_px < part.x_end - part.x;
    Columns<L, rest> columns;
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
        if (step == part.first_steps)
            columns.add(slot[0] + lead_bytes);
        else
            columns.slide(slot[0] + lead_bytes, slot[1] + lead_bytes);
        columns.publish(memory, step % 2);
        wait_for_team<L>();
        if (has_result) columns.write_means(job, memory, step % 2, memory.out[step % 2]);
    }
    wait_for_team<L>();
}

template <class L, int rest>
__global__ void __launch_bounds__(L::team_threads* L::teams) mean_kernel(__grid_constant__ const Job job) {
    extern __shared__ uint4 shared[];
    auto* memories = reinterpret_cast<Memory<L>*>(shared);
    const Part<L> part(job);
    if (threadIdx.x < L::threads)
        add_up<L, rest>(job, part, memories);
    else
        move_rows(job, part, memories[threadIdx.y]);
}

template <class L>
constexpr int shared_bytes = L::teams * sizeof(Memory<L>);

// For the kernel of one of the rests from `rest` on.
template <class L, int rest = 0>
FilterOnDevice plan(Job job, const Shape& shape, Executor& executor) {
    if constexpr (rest + 1 < mean_lane_px)
        if (job.size % mean_lane_px != rest) return plan<L, rest + 1>(job, shape, executor);
    // Strips of one width, so that none is nearly empty, which begin with whole chunks.
    constexpr int step_px = 16;
    const int most_px = (L::strip_px - job.lead_px - job.size) / step_px * step_px;
    job.out_px = cuda::parts(cuda::parts(shape.width, cuda::parts(shape.width, most_px)), step_px) * step_px;
    const int strips = cuda::parts(shape.width, job.out_px);
    // Each band begins with as many rows as the window has: no more bands than run at once.
    const std::int64_t at_once = 2 / L::teams * cuda::multiprocessors();
    const auto bands = std::max<std::int64_t>(1, at_once / (std::int64_t{strips} * shape.frames));
    job.band_rows = band_rows(shape.height, static_cast<int>(bands), 1);
    cuda::allow_shared_memory(mean_kernel<L, rest>);
    return [job, strips, &executor](const FilterImages<MemorySpace::device>& images) {
        auto with_images = job;
        with_images.in.set(images.in);
        with_images.out = cuda::KernelImage(images.out);
        with_images.in_chunks = with_images.in.rows.aligned_to(chunk_bytes);
        with_images.out_chunks = with_images.out.aligned_to(chunk_bytes);
        for_grids(
            with_images, strips, cuda::parts(job.in.height, job.band_rows), images.in.shape().frames, 1,
            [&](const Job& part, dim3 grid) {
                mean_kernel<L, rest>
                    <<<grid, dim3(L::team_threads, L::teams), shared_bytes<L>, executor.stream().handle()>>>(part);
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
            .threads_ahead = size / mean_lane_px,
            .bias = division.bias,
            .multiplier = division.multiplier};
    job.out_place = job.lead_px * shape_.channels & 8;
    return shape_.channels == 3 ? plan<3>(job, shape_, *executor_) : plan<1>(job, shape_, *executor_);
}

void Mean::run(const FilterImages<MemorySpace::device>& images) const {
    validate(images.in, shape_, "mean's image");
    validate(images.out, shape_, "mean's result");
    on_device_(images);
}

}  // namespace framewire
