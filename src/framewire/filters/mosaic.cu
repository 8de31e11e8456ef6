#include "framewire/core/view.hpp"
#include "framewire/cuda/kernel.cuh"
#include "framewire/cuda/kernel_image.hpp"
#include "framewire/filters/kernel.cuh"
#include "framewire/filters/mosaic.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>

// Mosaic on the GPU. A thread covers 16 pixels across in every n-th row:
//
//   1. it adds up each of its byte columns in registers,
//   2. adds these sums to those of its cells in shared memory,
//   3. the cells' means are computed, and one line of pixels per row of cells is drawn in shared memory,
//   4. warps copy that line to all rows of the cells.
//
// Cells that fit a block whole take one launch. Larger cells are added up by several blocks in one launch and filled in
// a second one. In both cases, each byte is read once and written once.

namespace framewire {
namespace {

constexpr int group_px = 16;
constexpr int threads_per_block = 256;
constexpr int usual_groups = 64, most_groups = 128;  // threads in a row of a block
constexpr int row_threads = threads_per_block / usual_groups;

// Returns the number of rows of cells in a block of small cells, chosen so that every thread of a column has rows to
// work on. It is smaller for cells of one pixel, whose sums would exceed the 48 KiB of shared memory that every GPU
// grants.
FRAMEWIRE_HOST_DEVICE constexpr int cell_rows_per_block(int cell) {
    if (cell >= 32) return 1;
    return cell >= 16 || cell == 1 ? 2 : row_threads;
}

// One zone of a batch; passed as a kernel parameter.
struct Job {
    cuda::KernelImage<const std::uint8_t> in;  // input, starting at the zone's upper left corner
    cuda::KernelImage<std::uint8_t> out;
    int width, height;  // size of the zone
    int cell, columns, rows;
    unsigned long long* totals;     // totals per frame and channel; null if not wanted
    unsigned long long* cell_sums;  // sums per frame, cell and channel; only for large cells
    int tile_groups;  // number of groups across a block, chosen so that a block holds whole cells if they are small
};

// Returns the index of the thread in its block.
__device__ int thread_number() { return static_cast<int>(threadIdx.y * blockDim.x + threadIdx.x); }

// A thread's share of the pixels: x to x + pixels - 1 in the rows first, first + step, ... below end.
struct Share {
    int x, pixels;
    int first, end, step;
};

// Returns the calling thread's share of rows `first` to `end` - 1.
__device__ Share share_of(const Job& job, int first, int end, int step) {
    const int x = (static_cast<int>(blockIdx.x) * job.tile_groups + static_cast<int>(threadIdx.x)) * group_px;
    const bool idle = static_cast<int>(threadIdx.x) >= job.tile_groups;
    return {x, idle ? 0 : max(0, min(group_px, job.width - x)), first, end, step};
}

// A thread's pixels of one row.
template <int channels>
struct Words {
    // Words per group.
    static constexpr int count = group_px * channels / 4;
    std::uint32_t word[count];
};

// Loads a group; bytes beyond `pixels` are 0.
template <int channels, bool aligned>
__device__ Words<channels> load(const std::uint8_t* from, int pixels) {
    Words<channels> words;
    if (aligned && pixels == group_px) {
#pragma unroll
        for (int i = 0; i < channels; ++i) {
            // No streaming hint, because each sector serves two of the loads.
            const auto four = __ldg(reinterpret_cast<const uint4*>(from) + i);
            words.word[4 * i] = four.x;
            words.word[4 * i + 1] = four.y;
            words.word[4 * i + 2] = four.z;
            words.word[4 * i + 3] = four.w;
        }
        return words;
    }
#pragma unroll
    for (int i = 0; i < Words<channels>::count; ++i) {
        words.word[i] = 0;
#pragma unroll
        for (int byte = 0; byte < 4; ++byte)
            if (4 * i + byte < pixels * channels) words.word[i] |= std::uint32_t{from[4 * i + byte]} << (8 * byte);
    }
    return words;
}

// Stores the first `pixels` pixels of a group.
template <int channels, bool aligned>
__device__ void store(const Words<channels>& words, int pixels, std::uint8_t* to) {
    if (aligned && pixels == group_px) {
#pragma unroll
        for (int i = 0; i < channels; ++i)
            reinterpret_cast<uint4*>(to)[i] = {words.word[4 * i], words.word[4 * i + 1], words.word[4 * i + 2],
                                               words.word[4 * i + 3]};
        return;
    }
#pragma unroll
    for (int i = 0; i < Words<channels>::count; ++i)
#pragma unroll
        for (int byte = 0; byte < 4; ++byte)
            if (4 * i + byte < pixels * channels)
                to[4 * i + byte] = static_cast<std::uint8_t>(words.word[i] >> (8 * byte));
}

// Sums of a group's byte columns, two per word: bytes 0 and 2, and bytes 1 and 3 of each word. 16 bits hold the sum of
// 257 rows.
template <int channels>
struct ColumnSums {
    Words<channels> even = {}, odd = {};

    // Adds one row.
    __device__ void add(const Words<channels>& words) {
#pragma unroll
        for (int i = 0; i < Words<channels>::count; ++i) {
            even.word[i] += words.word[i] & 0x00FF00FFu;
            odd.word[i] += words.word[i] >> 8 & 0x00FF00FFu;
        }
    }

    // Returns the sum of one channel of one pixel column.
    __device__ std::uint32_t operator()(int pixel, int channel) const {
        const int byte = pixel * channels + channel;
        const auto pair = byte % 2 ? odd.word[byte / 4] : even.word[byte / 4];
        return byte % 4 < 2 ? pair & 0xFFFFu : pair >> 16;
    }
};

static_assert(largest_small_cell_px <= 257 && part_rows <= 257);
static_assert(cell_rows_per_block(largest_small_cell_px / 2 + 1) <= threads_per_block / most_groups);

// Adds up a thread's share of the pixels. With `copy`, also writes them to the result.
template <int channels, bool aligned, bool copy>
__device__ ColumnSums<channels> add_up(const Job& job, const Share& share) {
    ColumnSums<channels> sums;
    if (share.pixels == 0) return sums;
    const auto* in = job.in.data + blockIdx.z * job.in.frame_stride + std::int64_t{share.x} * channels;
    auto* out = job.out.data + blockIdx.z * job.out.frame_stride + std::int64_t{share.x} * channels;
    for (int y = share.first; y < share.end; y += 2 * share.step) {
        // Load two rows at once.
        const int later = y + share.step;
        const auto a = load<channels, aligned>(in + y * job.in.row_stride, share.pixels);
        Words<channels> b = {};
        if (later < share.end) b = load<channels, aligned>(in + later * job.in.row_stride, share.pixels);
        sums.add(a);
        sums.add(b);
        if constexpr (copy) {
            store<channels, aligned>(a, share.pixels, out + y * job.out.row_stride);
            if (later < share.end) store<channels, aligned>(b, share.pixels, out + later * job.out.row_stride);
        }
    }
    return sums;
}

// Adds a thread's columns to the sums of their cells in shared memory. `cell_sums` starts with cell `first_cell`.
template <int channels>
__device__ void add_to_cells(const ColumnSums<channels>& sums, const Share& share, int cell_px, int first_cell,
                             std::uint32_t* cell_sums) {
    if (share.pixels == 0 || share.first >= share.end) return;
    const int cell = share.x / cell_px;
    auto* to = cell_sums + (cell - first_cell) * channels;
    int left = (cell + 1) * cell_px - share.x;  // pixels up to the next cell
    std::uint32_t sum[channels] = {};
#pragma unroll
    for (int pixel = 0; pixel < group_px; ++pixel) {
#pragma unroll
        for (int channel = 0; channel < channels; ++channel) sum[channel] += sums(pixel, channel);
        if (--left == 0 || pixel == group_px - 1) {
#pragma unroll
            for (int channel = 0; channel < channels; ++channel) {
                // Columns beyond the zone's edge add nothing; their cells may not exist.
                if (sum[channel]) atomicAdd(to + channel, sum[channel]);
                sum[channel] = 0;
            }
            to += channels;
            left = cell_px;
        }
    }
}

// Adds the sums of a block to its frame's totals. All threads of the block must call it.
template <int channels>
__device__ void add_to_totals(const Job& job, const ColumnSums<channels>& sums) {
    if (!job.totals) return;
    const auto lane = (threadIdx.y * blockDim.x + threadIdx.x) % 32;
#pragma unroll
    for (int channel = 0; channel < channels; ++channel) {
        std::uint32_t sum = 0;
#pragma unroll
        for (int pixel = 0; pixel < group_px; ++pixel) sum += sums(pixel, channel);
        sum = cuda::warp_sum(sum);
        if (lane == 0 && sum) atomicAdd(job.totals + std::int64_t{blockIdx.z} * channels + channel, sum);
    }
}

// Draws a thread's pixels of a line of cells to `line` in shared memory. `colours` holds one cell's colour per word,
// with B in the lowest byte, starting with cell `first_cell`.
template <int channels>
__device__ void draw_line(const Job& job, const Share& share, int first_cell, const std::uint32_t* colours,
                          std::uint8_t* line) {
    const int cell = share.x / job.cell;
    const auto* next = colours + (cell - first_cell);
    int left = (cell + 1) * job.cell - share.x;
    auto colour = *next;
    // The colour of every pixel; moves on to the next cell where one ends.
    std::uint32_t pixels[group_px];
#pragma unroll
    for (int pixel = 0; pixel < group_px; ++pixel) {
        if (left == 0) {
            if (pixel < share.pixels) colour = *++next;
            left = job.cell;
        }
        --left;
        pixels[pixel] = colour;
    }
    Words<channels> words;
#pragma unroll
    for (int four = 0; four < group_px / 4; ++four) {
        const auto a = pixels[4 * four], b = pixels[4 * four + 1], c = pixels[4 * four + 2], d = pixels[4 * four + 3];
        if constexpr (channels == 1) {
            words.word[four] = a | b << 8 | c << 16 | d << 24;
        } else {
            words.word[3 * four] = a | b << 24;
            words.word[3 * four + 1] = b >> 8 | c << 16;
            words.word[3 * four + 2] = c >> 16 | d << 8;
        }
    }
    store<channels, true>(words, group_px, line + static_cast<int>(threadIdx.x) * group_px * channels);
}

// Writes rows begin to end - 1 of a block, which are all copies of `line`, one warp per row. Adjacent threads write
// adjacent bytes; if each thread wrote its share, every memory sector would be split between two stores.
template <int channels, bool aligned>
__device__ void fill_rows(const Job& job, const std::uint8_t* line, int begin, int end) {
    const int x = static_cast<int>(blockIdx.x) * job.tile_groups * group_px;
    const int pixels = min(job.tile_groups * group_px, job.width - x);
    const ResultRows<32, most_groups * group_px * channels> results(
        job.out.data + blockIdx.z * job.out.frame_stride + std::int64_t{x} * channels, job.out.row_stride,
        pixels * channels, aligned);
    for (int y = begin + thread_number() / 32; y < end; y += threads_per_block / 32) results.store(line, y);
}

// Returns the mean of a cell of `pixels` pixels in every channel, rounded to nearest, halves up; packed with B in the
// lowest byte.
template <int channels, class Number>
__device__ std::uint32_t mean_colour(const Number* sums, Number pixels) {
    std::uint32_t colour = 0;
#pragma unroll
    for (int channel = 0; channel < channels; ++channel)
        colour |= static_cast<std::uint32_t>((2 * sums[channel] + pixels) / (2 * pixels)) << (8 * channel);
    return colour;
}

// Fills small cells in one launch. Phases, with a barrier between each: add up, compute the means, draw one line per
// row of cells, fill the rows.
template <int channels, bool aligned>
__global__ void __launch_bounds__(threads_per_block, 3) small_cells_kernel(Job job) {
    // Shared memory: one line per row of cells, then the sums and the colour of each cell.
    extern __shared__ uint4 shared[];
    const int cells_across = job.tile_groups * group_px / job.cell;
    const int cell_rows = cell_rows_per_block(job.cell);
    const int cells = cells_across * cell_rows;
    const int line_bytes = job.tile_groups * group_px * channels;
    auto* lines = reinterpret_cast<std::uint8_t*>(shared);
    auto* sums = reinterpret_cast<std::uint32_t*>(lines + cell_rows * line_bytes);
    auto* colours = sums + cells * channels;
    for (int i = thread_number(); i < cells * channels; i += threads_per_block) sums[i] = 0;
    __syncthreads();

    // The threads of a column share the block's rows of cells.
    const int threads_per_row = static_cast<int>(blockDim.y) / cell_rows;
    const int row_in_block = static_cast<int>(threadIdx.y) / threads_per_row;
    const int row = static_cast<int>(blockIdx.y) * cell_rows + row_in_block;
    const auto share = share_of(job, row * job.cell + static_cast<int>(threadIdx.y) % threads_per_row,
                                min((row + 1) * job.cell, job.height), threads_per_row);
    const int first_cell = static_cast<int>(blockIdx.x) * cells_across;
    const auto columns = add_up<channels, aligned, false>(job, share);
    add_to_cells(columns, share, job.cell, first_cell, sums + row_in_block * cells_across * channels);
    add_to_totals(job, columns);
    __syncthreads();

    for (int i = thread_number(); i < cells; i += threads_per_block) {
        // Cells beyond the zone's edge have no pixels.
        const int column = first_cell + i % cells_across;
        const int cell_row = static_cast<int>(blockIdx.y) * cell_rows + i / cells_across;
        const int width = min(job.cell, job.width - column * job.cell);
        const int height = min(job.cell, job.height - cell_row * job.cell);
        if (width > 0 && height > 0)
            colours[i] =
                mean_colour<channels, std::uint32_t>(sums + i * channels, static_cast<std::uint32_t>(width * height));
    }
    __syncthreads();
    if (share.pixels > 0 && static_cast<int>(threadIdx.y) % threads_per_row == 0 && share.first < share.end)
        draw_line<channels>(job, share, first_cell, colours + row_in_block * cells_across,
                            lines + row_in_block * line_bytes);
    __syncthreads();
    for (int i = 0; i < cell_rows; ++i) {
        const int first = (static_cast<int>(blockIdx.y) * cell_rows + i) * job.cell;
        fill_rows<channels, aligned>(job, lines + i * line_bytes, first, min(first + job.cell, job.height));
    }
}

// Large cells: a block covers some columns of one part of one row of cells.

// Maximum number of large cells that the columns of a block touch.
constexpr int most_cells_across = usual_groups * group_px / largest_small_cell_px + 2;

// A block's share of a row of large cells.
struct Part {
    Share share;
    int row;                // row of cells
    int first_cell, cells;  // cells that the block's columns touch
};

// Returns the calling thread's part.
__device__ Part part_of(const Job& job) {
    const int parts = (job.cell + part_rows - 1) / part_rows;
    const int row = static_cast<int>(blockIdx.y) / parts;
    const int begin = row * job.cell + static_cast<int>(blockIdx.y) % parts * part_rows;
    const int end = min(min(begin + part_rows, (row + 1) * job.cell), job.height);
    const int left = static_cast<int>(blockIdx.x) * job.tile_groups * group_px;
    const int right = min(left + job.tile_groups * group_px, job.width);
    return {share_of(job, begin + static_cast<int>(threadIdx.y), end, row_threads), row, left / job.cell,
            (right - 1) / job.cell - left / job.cell + 1};
}

// Returns the global sums of the cells that a block touches.
template <int channels>
__device__ unsigned long long* sums_of_cells(const Job& job, const Part& part) {
    const auto row = std::int64_t{blockIdx.z} * job.rows + part.row;
    return job.cell_sums + (row * job.columns + part.first_cell) * channels;
}

// Adds up the cells; the first launch for large cells.
template <int channels, bool aligned>
__global__ void __launch_bounds__(threads_per_block, 3) large_cells_sum_kernel(Job job) {
    __shared__ std::uint32_t sums[most_cells_across * channels];
    if (thread_number() < most_cells_across * channels) sums[thread_number()] = 0;
    __syncthreads();
    const auto part = part_of(job);
    const auto columns = add_up<channels, aligned, false>(job, part.share);
    add_to_cells(columns, part.share, job.cell, part.first_cell, sums);
    add_to_totals(job, columns);
    __syncthreads();
    if (const int i = thread_number(); i < part.cells * channels && sums[i])
        atomicAdd(sums_of_cells<channels>(job, part) + i, static_cast<unsigned long long>(sums[i]));
}

// Computes the means and fills the cells; the second launch for large cells.
template <int channels, bool aligned>
__global__ void __launch_bounds__(threads_per_block, 3) large_cells_fill_kernel(Job job) {
    __shared__ std::uint32_t colours[most_cells_across];
    __shared__ uint4 line[usual_groups * channels];
    const auto part = part_of(job);
    if (const int i = thread_number(); i < part.cells) {
        const auto width = min(job.cell, job.width - (part.first_cell + i) * job.cell);
        const auto height = min(job.cell, job.height - part.row * job.cell);
        colours[i] = mean_colour<channels, unsigned long long>(sums_of_cells<channels>(job, part) + i * channels,
                                                               static_cast<unsigned long long>(width) * height);
    }
    __syncthreads();
    auto* bytes = reinterpret_cast<std::uint8_t*>(line);
    if (part.share.pixels > 0 && threadIdx.y == 0)
        draw_line<channels>(job, part.share, part.first_cell, colours, bytes);
    __syncthreads();
    fill_rows<channels, aligned>(job, bytes, part.share.first - static_cast<int>(threadIdx.y), part.share.end);
}

// Copies the whole image while adding up its totals.
template <int channels, bool aligned>
__global__ void __launch_bounds__(threads_per_block, 2) copy_kernel(Job job) {
    const int begin = static_cast<int>(blockIdx.y) * part_rows;
    const auto share =
        share_of(job, begin + static_cast<int>(threadIdx.y), min(begin + part_rows, job.height), row_threads);
    add_to_totals(job, add_up<channels, aligned, true>(job, share));
}

// Launches the copy.
template <int channels, bool aligned>
void launch_copy(Job job, int frames, const cuda::Stream& stream) {
    job.tile_groups = usual_groups;
    const dim3 block(usual_groups, row_threads);
    const dim3 grid(cuda::blocks(job.width, usual_groups * group_px), cuda::blocks(job.height, part_rows),
                    static_cast<unsigned>(frames));
    cuda::Launch(stream, grid, block)(copy_kernel<channels, aligned>, job);
}

// Launches the kernels for one zone.
template <int channels, bool aligned>
void launch_cells(Job job, int frames, const cuda::Stream& stream) {
    if (job.cell <= largest_small_cell_px) {
        // Smallest number of groups that holds whole cells.
        const int groups_of_whole_cells = job.cell / std::gcd(job.cell, group_px);
        const int groups = groups_of_whole_cells <= usual_groups ? usual_groups : most_groups;
        job.tile_groups = groups / groups_of_whole_cells * groups_of_whole_cells;
        const int cell_rows = cell_rows_per_block(job.cell);
        const int cells = job.tile_groups * group_px / job.cell * cell_rows;
        const auto line_bytes = static_cast<std::size_t>(job.tile_groups) * group_px * channels;
        const auto memory_bytes =
            cell_rows * line_bytes + static_cast<std::size_t>(cells) * (channels + 1) * sizeof(std::uint32_t);
        const dim3 block(static_cast<unsigned>(groups), static_cast<unsigned>(threads_per_block / groups));
        const dim3 grid(cuda::blocks(job.width, job.tile_groups * group_px), cuda::blocks(job.rows, cell_rows),
                        static_cast<unsigned>(frames));
        cuda::Launch(stream, grid, block, memory_bytes)(small_cells_kernel<channels, aligned>, job);
        return;
    }
    job.tile_groups = usual_groups;
    const dim3 block(usual_groups, row_threads);
    const dim3 grid(cuda::blocks(job.width, usual_groups * group_px),
                    static_cast<unsigned>(job.rows * cuda::parts(job.cell, part_rows)), static_cast<unsigned>(frames));
    cuda::Launch(stream, grid, block)(large_cells_sum_kernel<channels, aligned>, job);
    cuda::Launch(stream, grid, block)(large_cells_fill_kernel<channels, aligned>, job);
}

// Calls work(job, frames, aligned) for batches of as many frames as fit a grid. `aligned` states whether rows may be
// read and written in vectors.
template <class Work>
void for_frames(const Job& job, int frames, int channels, Work&& work) {
    const bool aligned = job.in.aligned_to(16) && job.out.aligned_to(16);
    cuda::for_frames(frames, 1, [&](int first, int some_frames) {
        auto part = job;
        part.in = job.in.from_frame(first);
        part.out = job.out.from_frame(first);
        if (part.totals) part.totals += std::int64_t{first} * channels;
        if (part.cell_sums) part.cell_sums += std::int64_t{first} * job.rows * job.columns * channels;
        work(part, some_frames, aligned);
    });
}

}  // namespace

// Without zones, all cells are filled directly. With zones, or with cells of one pixel, the image is copied first,
// which also yields the totals.
void Mosaic::run(const FilterImages<MemorySpace::device>& images) {
    validate(images.in, shape_, "mosaic's image");
    validate(images.out, shape_, "mosaic's result");
    const auto& stream = executor_->stream();
    const int channels = shape_.channels;
    // Returns the kernel parameters for a zone.
    const auto job_of = [&](const CellGrid& grid) {
        const auto& zone = grid.zone;
        cuda::KernelImage in(images.in);
        cuda::KernelImage out(images.out);
        in.data = in.row(0, zone.y) + std::int64_t{zone.x} * channels;
        out.data = out.row(0, zone.y) + std::int64_t{zone.x} * channels;
        return Job{in, out, zone.width, zone.height, grid.cell_px, grid.columns, grid.rows, nullptr, nullptr, 0};
    };
    auto* totals = sums_.as<unsigned long long>();
    auto* cell_sums = totals + std::int64_t{shape_.frames} * channels;
    cuda::fill(totals, 0, static_cast<std::size_t>(shape_.frames * channels) * sizeof *totals, stream);

    // Clears the sums of large cells, if any, and launches the kernels.
    const auto fill_cells = [&](const Zone& zone, bool count_totals) {
        const CellGrid grid(zone, parameters_.cell_px);
        auto job = job_of(grid);
        if (count_totals) job.totals = totals;
        if (!grid.small_cells()) {
            job.cell_sums = cell_sums;
            const auto numbers = std::int64_t{shape_.frames} * grid.rows * grid.columns * channels;
            cuda::fill(cell_sums, 0, static_cast<std::size_t>(numbers) * sizeof *cell_sums, stream);
        }
        for_frames(job, shape_.frames, channels, [&](const Job& part, int frames, bool aligned) {
            const auto launch = channels == 3 ? (aligned ? launch_cells<3, true> : launch_cells<3, false>)
                                              : (aligned ? launch_cells<1, true> : launch_cells<1, false>);
            launch(part, frames, stream);
        });
    };
    // The whole image as one zone.
    const Zone everything{0, 0, shape_.width, shape_.height};
    if (parameters_.zones.empty() && parameters_.cell_px > 1) {
        fill_cells(everything, true);
    } else {
        auto job = job_of(CellGrid(everything, 1));
        job.totals = totals;
        for_frames(job, shape_.frames, channels, [&](const Job& part, int frames, bool aligned) {
            const auto launch = channels == 3 ? (aligned ? launch_copy<3, true> : launch_copy<3, false>)
                                              : (aligned ? launch_copy<1, true> : launch_copy<1, false>);
            launch(part, frames, stream);
        });
        if (parameters_.cell_px > 1)
            for (const auto& zone : parameters_.zones) fill_cells(zone, false);
    }
    has_run_ = true;
}

}  // namespace framewire
