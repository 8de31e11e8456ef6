#include "framewire/cuda/kernel.cuh"
#include "framewire/cuda/kernel_image.hpp"
#include "framewire/filters/gray_input.cuh"
#include "framewire/hog/hog.cuh"
#include "framewire/hog/hog.hpp"
#include "framewire/hog/spread.hpp"

#include <algorithm>
#include <cstdint>

// HOG on the GPU, in up to four launches per group of frames:
//
//     gray_kernel   image -> gray; counts its gray levels per band of the frame  (or split_kernel: image -> planes)
//     table_kernel  counts -> gamma table of 256 bytes per frame                 (only with the report's gamma)
//     cells_kernel  gray, table -> histograms of cells     (or spread_kernel with central gradients)
//     norm_kernel   cells -> normalised blocks             (only with a norm)

namespace framewire {
namespace hog_kernels {
namespace {

// ---- Gray, and the histogram of its levels ----

// A batch as groups of 16 pixels. The rows of the gray image are whole groups.
struct GrayJob {
    cuda::KernelImage<const std::uint8_t> in;
    std::uint8_t* gray;
    HogBandCounts* counts;
    int width, height;
    unsigned groups_per_row, groups;  // groups per frame
};

// Counts gray levels. Each lane of a warp counts in its own histogram, which is in its own memory bank, so lanes never
// conflict, regardless of the image. The block's warps share the 32 histograms.
template <int channels, bool aligned, bool counted>
__global__ void __launch_bounds__(hog_count_threads) gray_kernel(GrayJob job, SplitWeights weights) {
    __shared__ std::uint32_t counts[counted ? hog_gamma_bins * 32 : 1];
    __shared__ std::uint32_t warp_largest[hog_count_threads / 32];
    if constexpr (counted) {
        for (int i = threadIdx.x; i < hog_gamma_bins * 32 / 4; i += hog_count_threads)
            reinterpret_cast<uint4*>(counts)[i] = {};
        __syncthreads();
    }

    // The block's part of the frame: groups of 16 pixels, one grid width apart.
    const auto* in = job.in.data + blockIdx.y * job.in.frame_stride;
    auto* gray_groups = reinterpret_cast<uint4*>(job.gray) + std::int64_t{blockIdx.y} * job.groups;
    auto* own = counts + threadIdx.x % 32;
    std::uint32_t largest = 0;  // maximum of each of four bytes
    for (auto index = blockIdx.x * hog_count_threads + threadIdx.x; index < job.groups;
         index += gridDim.x * hog_count_threads) {
        const auto y = index / job.groups_per_row;
        const auto x = static_cast<int>(index - y * job.groups_per_row) * hog_group_px;
        const auto pixels = min(hog_group_px, job.width - x);
        const auto gray =
            load_gray_group<channels, aligned>(in + y * job.in.row_stride + x * channels, pixels, weights);
        gray_groups[index] = gray;
        if constexpr (!counted) continue;
        const std::uint32_t words[4] = {gray.x, gray.y, gray.z, gray.w};
        largest = __vmaxu4(__vmaxu4(largest, __vmaxu4(gray.x, gray.y)), __vmaxu4(gray.z, gray.w));
        // The offset of the level's bin is the bin times 32: moves bits 2 to 7 of the byte to bits 5 to 10.
        const auto count = [&](int pixel) {
            const auto word = words[pixel / 4];
            const auto at = pixel % 4 == 0 ? word << 3 : word >> (pixel % 4 * 8 - 3);
            atomicAdd(own + (at & 63u * 32), 1u);
        };
        if (pixels == hog_group_px) {
#pragma unroll
            for (int pixel = 0; pixel < hog_group_px; ++pixel) count(pixel);
        } else {
#pragma unroll
            for (int pixel = 0; pixel < hog_group_px; ++pixel)
                if (pixel < pixels) count(pixel);
        }
    }
    if constexpr (!counted) return;
    largest = __vmaxu4(largest, largest >> 16);
    largest = cuda::warp_max(max(largest & 255, largest >> 8 & 255));
    if (threadIdx.x % 32 == 0) warp_largest[threadIdx.x / 32] = largest;
    __syncthreads();

    auto& out = job.counts[std::int64_t{blockIdx.y} * gridDim.x + blockIdx.x];
    if (threadIdx.x < hog_gamma_bins) {
        std::uint32_t sum = 0;
        // Each thread starts in a different bank.
        for (int i = 0; i < 32; ++i) sum += counts[threadIdx.x * 32 + (threadIdx.x + i) % 32];
        out.bins[threadIdx.x] = sum;
    } else if (threadIdx.x == hog_gamma_bins) {
        for (const auto of_warp : warp_largest) largest = max(largest, of_warp);
        out.largest = largest;
    }
}

// ---- Planes of blue, green and red: one thread per group of 16 pixels ----

constexpr int split_threads = 128;

// BGR frames and their planes, three per frame.
struct SplitJob {
    cuda::KernelImage<const std::uint8_t> in;
    cuda::KernelImage<std::uint8_t> planes;
    int width;
};

// A warp reads consecutive bytes; most of its loads are served by the L1 cache.
__global__ void __launch_bounds__(split_threads) split_kernel(SplitJob job) {
    const int x = static_cast<int>(blockIdx.x) * split_threads + static_cast<int>(threadIdx.x);
    if (x >= job.width) return;
    const auto* from = job.in.data + blockIdx.z * job.in.frame_stride + blockIdx.y * job.in.row_stride + 3 * x;
    auto* to = job.planes.data + 3 * blockIdx.z * job.planes.frame_stride + blockIdx.y * job.planes.row_stride + x;
#pragma unroll
    for (int plane = 0; plane < 3; ++plane) to[plane * job.planes.frame_stride] = from[plane];
}

// ---- The gamma table: one block per frame, one thread per gray value ----

constexpr int table_threads = 256;

// Adds the counts of all bands, finds the three quantiles with one thread per bin, and computes the table.
__global__ void __launch_bounds__(table_threads)
    table_kernel(const HogBandCounts* counts, int bands, std::uint8_t* tables) {
    constexpr int parts = table_threads / hog_gamma_bins;
    __shared__ std::uint32_t sums[parts][hog_gamma_bins];
    __shared__ std::uint32_t warp_largest[table_threads / 32];
    __shared__ HogLevels levels;
    // Four threads per bin add up the counts of different bands.
    counts += std::int64_t{blockIdx.x} * bands;
    const int bin = threadIdx.x % hog_gamma_bins, part = threadIdx.x / hog_gamma_bins;
    std::uint32_t sum = 0, largest = 0;
    for (int band = part; band < bands; band += parts) sum += counts[band].bins[bin];
    for (int band = threadIdx.x; band < bands; band += table_threads) largest = max(largest, counts[band].largest);
    sums[part][bin] = sum;
    largest = cuda::warp_max(largest);
    if (threadIdx.x % 32 == 0) warp_largest[threadIdx.x / 32] = largest;
    __syncthreads();
    if (threadIdx.x < hog_gamma_bins) {
        for (int other = 1; other < parts; ++other) sum += sums[other][bin];
        sums[0][bin] = sum;
    }
    __syncthreads();
    if (threadIdx.x < hog_gamma_bins) {
        std::uint64_t below = 0, pixels = 0;
        for (int other = 0; other < hog_gamma_bins; ++other) {
            below += other < bin ? sums[0][other] : 0;
            pixels += sums[0][other];
        }
        const auto through = below + sums[0][bin];
        if (hog_reaches(below, through, pixels, 5)) levels.low = bin * hog_levels_per_bin;
        if (hog_reaches(below, through, pixels, 50)) levels.mid = bin * hog_levels_per_bin;
        if (hog_reaches(below, through, pixels, 95)) levels.high = bin * hog_levels_per_bin;
        if (threadIdx.x == 0) {
            for (const auto of_warp : warp_largest) largest = max(largest, of_warp);
            levels.largest = static_cast<int>(largest);
        }
    }
    __syncthreads();
    // Each thread computes the new value for its gray value.
    const auto exponent = hog_gamma_exponent(levels);
    tables[std::int64_t{blockIdx.x} * table_threads + threadIdx.x] =
        hog_gamma(static_cast<int>(threadIdx.x), levels, exponent);
}

// ---- Gradients and votes: one block per row of adjacent cells, one thread per two columns of a cell ----

constexpr int cell_threads = 64;
// The last thread of a cell of odd width has one column.
constexpr int columns_each = 2;
// Words of a row: the columns and one more at each end, wherever a word begins.
constexpr int tile_words = cell_threads * columns_each / 4 + 3;

// Iterates over the places of a table with `columns` columns. Thread i takes place i and every cell_threads-th place
// after it, and needs no divisions for the steps.
struct Places {
    int columns, row_step, column_step;

    // Computes the steps with divisions on the host, once per launch.
    explicit Places(int columns_of_row)
        : columns(columns_of_row),
          row_step(cell_threads / columns_of_row),
          column_step(cell_threads % columns_of_row) {}

    // Calls take(row, column) for each place of the thread.
    template <class Take>
    __device__ void each(int rows, Take&& take) const {
        int row = static_cast<int>(threadIdx.x) / columns, column = static_cast<int>(threadIdx.x) % columns;
        while (row < rows) {
            take(row, column);
            row += row_step;
            column += column_step;
            if (column >= columns) {
                column -= columns;
                ++row;
            }
        }
    }
};

// Arguments of cells_kernel().
struct CellJob {
    const std::uint8_t* gray;
    std::int64_t row_stride_bytes;
    int width, height;
    const std::uint8_t* tables;
    float* out;
    int cell, rows, columns;
    int cell_columns;                        // threads per cell
    Places slots_of_cells, cells_with_bins;  // slots x cells of a block, and cells x bins of it
    HogRing ring;
};

// Returns the shared memory of a block: histograms, table and tile.
constexpr std::size_t cell_memory_bytes(int cell, int bins) {
    return static_cast<std::size_t>(bins + 1) * cell_threads * sizeof(float2) + 256 +
           static_cast<std::size_t>(cell + 2) * tile_words * 4;
}

static_assert(cell_memory_bytes(hog_most_cell, hog_most_bins) <= 48 * 1024,
              "every GPU allows 48 KiB of shared memory per block");

// Adds a pixel's vote to the thread's own histogram.
__device__ void vote(int gx, int gy, const HogRing& ring, float2* own) {
    // Both shares go to one slot, so a vote is a single access of 8 bytes.
    const auto vote = vote_of(gx, gy, ring);
    auto& to = own[vote.slot * cell_threads];
    const float2 before = to;
    to = {before.x + vote.first, before.y + vote.second};
}

// Computes histograms with one block per group of cells in a row of cells. Each thread votes into its own histogram;
// then the histograms of a cell's threads are added.
__global__ void __launch_bounds__(cell_threads) cells_kernel(__grid_constant__ const CellJob job) {
    extern __shared__ float2 sums[];  // slots x threads
    const int bins = job.ring.bins, slots = bins + 1;
    auto* table = reinterpret_cast<std::uint8_t*>(sums + slots * cell_threads);
    auto* tile = table + 256;
    const auto frame = std::int64_t{blockIdx.z};
    const int thread = static_cast<int>(threadIdx.x), block_cells = job.slots_of_cells.columns;
    const int first_cell = static_cast<int>(blockIdx.x) * block_cells,
              cells = min(block_cells, job.columns - first_cell);
    const int first_x = first_cell * job.cell, first_y = static_cast<int>(blockIdx.y) * job.cell;

    reinterpret_cast<std::uint32_t*>(table)[thread] =
        reinterpret_cast<const std::uint32_t*>(job.tables + frame * 256)[thread];
    for (int slot = 0; slot < slots; ++slot) sums[slot * cell_threads + thread] = {};
    __syncthreads();

    // Loads the tile and applies gamma. Words outside the image are neither set here nor read below.
    const int tile_x = (first_x - 1) & ~3;  // -4 at the left border
    const int row_words = static_cast<int>(job.row_stride_bytes / 4);
    const auto* gray = job.gray + frame * job.height * job.row_stride_bytes;
    for (int i = thread; i < (job.cell + 2) * tile_words; i += cell_threads) {
        const int row = i / tile_words, word = tile_x / 4 + i % tile_words;
        const int y = min(max(first_y - 1 + row, 0), job.height - 1);
        if (word < 0 || word >= row_words) continue;
        const auto four = reinterpret_cast<const std::uint32_t*>(gray + y * job.row_stride_bytes)[word];
        reinterpret_cast<std::uint32_t*>(tile)[i] = table[four & 255] | table[four >> 8 & 255] << 8 |
                                                    table[four >> 16 & 255] << 16 |
                                                    static_cast<std::uint32_t>(table[four >> 24]) << 24;
    }
    __syncthreads();

    if (thread < cells * job.cell_columns) {
        const int cell = thread / job.cell_columns, column = (thread - cell * job.cell_columns) * columns_each;
        const int x = first_x + cell * job.cell + column;
        const bool has_second = column + 1 < job.cell;
        // Columns beyond the image repeat the border.
        const auto* from = tile - tile_x;
        const std::uint8_t* const columns[4] = {from + max(x - 1, 0), from + x, from + min(x + 1, job.width - 1),
                                                from + min(x + 2, job.width - 1)};
        // Differences and sums of one row for the two columns; Sobel combines three rows.
        struct Line {
            int difference[columns_each], sum[columns_each];
        };
        const auto line = [&](int row) -> Line {
            const int at = row * tile_words * 4;
            const int a = columns[0][at], b = columns[1][at], c = columns[2][at], d = columns[3][at];
            return {{c - a, d - b}, {a + c + 2 * b, b + d + 2 * c}};
        };
        auto above = line(0), here = line(1);
#pragma unroll 4
        for (int row = 2; row < job.cell + 2; ++row) {
            const auto below = line(row);
#pragma unroll
            for (int i = 0; i < columns_each; ++i)
                if (i == 0 || has_second)
                    vote(above.difference[i] + 2 * here.difference[i] + below.difference[i],
                         below.sum[i] - above.sum[i], job.ring, sums + thread);
            above = here;
            here = below;
        }
    }
    __syncthreads();

    // Adds up the histograms of a cell, slot by slot, in the first of them. The starting point rotates with the cell,
    // so that the threads of half a warp read from different banks.
    job.slots_of_cells.each(slots, [&](int slot, int cell) {
        if (cell >= cells) return;
        auto* columns = sums + slot * cell_threads + cell * job.cell_columns;
        int at = cell * job.cell_columns / 16 % job.cell_columns;
        float2 sum{};
        for (int column = 0; column < job.cell_columns; ++column) {
            sum.x += columns[at].x;
            sum.y += columns[at].y;
            at = at + 1 == job.cell_columns ? 0 : at + 1;
        }
        columns[0] = sum;
    });
    __syncthreads();

    // Closes the ring: slot 0 belongs to the last bin as well, and slot `bins` to the first.
    auto* out = job.out + ((frame * job.rows + blockIdx.y) * job.columns + first_cell) * bins;
    job.cells_with_bins.each(cells, [&](int cell, int bin) {
        const auto* sum = sums + cell * job.cell_columns;
        auto value = sum[bin * cell_threads].y + sum[(bin + 1) * cell_threads].x;
        if (bin == bins - 1) value += sum[0].x;
        if (bin == 0) value += sum[bins * cell_threads].y;
        out[cell * bins + bin] = value;
    });
}

// ---- The norm: four lanes per block of cells, which take turns with its values ----

constexpr int norm_threads = 128;
constexpr int norm_lanes = 4;

// Arguments of norm_kernel().
struct NormJob {
    const float* cells;
    HogShape from;
    float* out;
    HogShape to;
    int block;
    bool twice;  // l2hys and opencv
    HogLengths lengths;
};

// Normalises blocks. Each lane adds the squares of every fourth value; shuffles combine the sums.
__global__ void __launch_bounds__(norm_threads) norm_kernel(NormJob job) {
    const int x = static_cast<int>(blockIdx.x * norm_threads + threadIdx.x) / norm_lanes;
    const int y = static_cast<int>(blockIdx.y), frame = static_cast<int>(blockIdx.z);
    const int lane = static_cast<int>(threadIdx.x) % norm_lanes, run = job.block * job.from.values;
    const auto row_values = std::int64_t{job.from.columns} * job.from.values;
    // Lanes after the last block contribute to no sum.
    const bool there = x < job.to.columns;
    const auto* cells = job.cells + (std::int64_t{frame} * job.from.rows + y) * row_values + x * job.from.values;
    const auto each = [&](auto&& take) {
        const auto* row = cells;
        int at = lane;
        for (int i = lane; there && i < job.to.values; i += norm_lanes) {
            for (; at >= run; at -= run) row += row_values;
            take(i, row[at]);
            at += norm_lanes;
        }
    };
    // Returns the factor 1 / (sqrt(|v|^2 + e^2) + `added`) of the values, or of the clipped values.
    const auto scale = [&](auto&& of, float added) {
        float sum = 0;
        each([&](int, float value) { sum += of(value) * of(value); });
#pragma unroll
        for (int step = 1; step < norm_lanes; step *= 2) sum += __shfl_xor_sync(~0u, sum, step);
        return 1 / (sqrtf(sum + job.lengths.squared) + added);
    };
    const auto first = scale([](float value) { return value; }, job.lengths.first);
    const auto held = [&](float value) { return job.twice ? fminf(value * first, hog_largest_share) : value; };
    const auto second = job.twice ? scale(held, job.lengths.second) : first;
    auto* out = job.out + ((std::int64_t{frame} * job.to.rows + y) * job.to.columns + x) * job.to.values;
    each([&](int i, float value) { out[i] = held(value) * second; });
}

}  // namespace
}  // namespace hog_kernels

// Rows are a dimension of the grid, because no frame has more of them than a grid has blocks.
void hog_split_on_device(DeviceView<const std::uint8_t> bgr, DeviceView<std::uint8_t> planes,
                         const cuda::Stream& stream) {
    using namespace hog_kernels;
    const auto& shape = bgr.shape();
    cuda::for_frames(shape.frames, 1, [&](int first, int count) {
        const SplitJob job{cuda::KernelImage<const std::uint8_t>(bgr).from_frame(first),
                           cuda::KernelImage<std::uint8_t>(planes).from_frame(3 * first), shape.width};
        const dim3 grid(cuda::blocks(shape.width, split_threads), static_cast<unsigned>(shape.height),
                        static_cast<unsigned>(count));
        cuda::Launch(stream, grid, split_threads)(split_kernel, job);
    });
}

// Queues all launches for batches of as many frames as fit a grid. Central gradients use spread_votes_on_device()
// instead of cells_kernel(). Planes of colours pass through gray_kernel as if they were frames, or through
// split_kernel.
void Hog::run(DeviceView<const std::uint8_t> frames, HogView<float, MemorySpace::device> out) {
    using namespace hog_kernels;
    const bool are_planes = planes_ == 3 && frames.shape().channels == 1;
    const int images = shape_.frames * planes_;  // of one channel in `gray_`
    validate(frames, are_planes ? shape_.with_channels(1).with_frames(images) : shape_, "hog's image");
    check(out.shape());
    const auto& stream = executor_->stream();
    const auto groups_per_row = static_cast<unsigned>(row_stride_bytes_ / hog_group_px);
    const auto weights = split(gray_weights(GrayMethod::weighted));
    const cuda::KernelImage<const std::uint8_t> in(frames);
    const bool aligned = in.aligned_to(16);
    const bool normed = parameters_.norm != HogNorm::none;
    const bool counted = parameters_.gamma == HogGamma::report;
    auto* cells = normed ? cells_.as<float>() : out.data();
    if (planes_ == 3 && !are_planes)
        hog_split_on_device(frames,
                            {gray_.data(),
                             {images, shape_.height, shape_.width, 1},
                             row_stride_bytes_,
                             row_stride_bytes_ * shape_.height},
                            stream);
    cuda::for_frames(planes_ == 3 && !are_planes ? 0 : images, 1, [&](int first, int count) {
        const auto grid_frames = static_cast<unsigned>(count);
        auto* gray = gray_.data() + first * row_stride_bytes_ * shape_.height;
        auto* tables = tables_.data() + std::int64_t{first} * 256;
        auto* counts = counts_.as<HogBandCounts>() + std::int64_t{first} * bands_;
        const GrayJob gray_job{in.from_frame(first),
                               gray,
                               counts,
                               shape_.width,
                               shape_.height,
                               groups_per_row,
                               groups_per_row * static_cast<unsigned>(shape_.height)};
        const auto launch = [&](auto* kernel) {
            cuda::Launch(stream, dim3(static_cast<unsigned>(bands_), grid_frames), hog_count_threads)(kernel, gray_job,
                                                                                                      weights);
        };
        const auto launch_for = [&]<bool counts_levels>() {
            if (frames.shape().channels == 3)
                launch(aligned ? gray_kernel<3, true, counts_levels> : gray_kernel<3, false, counts_levels>);
            else
                launch(aligned ? gray_kernel<1, true, counts_levels> : gray_kernel<1, false, counts_levels>);
        };
        if (counted)
            launch_for.template operator()<true>();
        else
            launch_for.template operator()<false>();
        if (counted) cuda::Launch(stream, grid_frames, table_threads)(table_kernel, counts, bands_, tables);
        if (spread_) return;

        const int cell_columns = cuda::parts(parameters_.cell, columns_each);
        const int block_cells = cell_threads / cell_columns;
        const CellJob job{gray,
                          row_stride_bytes_,
                          shape_.width,
                          shape_.height,
                          tables,
                          cells + first * cells_shape_.rows * cells_shape_.row_values(),
                          parameters_.cell,
                          cells_shape_.rows,
                          cells_shape_.columns,
                          cell_columns,
                          Places(block_cells),
                          Places(parameters_.bins),
                          hog_ring(parameters_.bins, parameters_.signed_gradients)};
        const dim3 grid(cuda::blocks(cells_shape_.columns, block_cells), static_cast<unsigned>(cells_shape_.rows),
                        grid_frames);
        cuda::Launch(stream, grid, cell_threads, cell_memory_bytes(parameters_.cell, parameters_.bins))(cells_kernel,
                                                                                                        job);
    });
    if (spread_)
        spread_votes_on_device(*spread_,
                               {.gray = gray_.data(),
                                .row_stride_bytes = row_stride_bytes_,
                                .planes = planes_,
                                .width = shape_.width,
                                .height = shape_.height,
                                .cell = parameters_.cell,
                                .rows = shape_.height / parameters_.cell,
                                .columns = shape_.width / parameters_.cell,
                                .tables = tables_.data(),
                                .ring = hog_ring(parameters_.bins, parameters_.signed_gradients),
                                .shape = cells_shape_,
                                .out = cells},
                               executor_->stream());
    if (!normed) return;
    cuda::for_frames(output_shape_.frames, 1, [&](int first, int count) {
        const NormJob job{cells + first * cells_shape_.rows * cells_shape_.row_values(),
                          cells_shape_,
                          out.data() + first * output_shape_.rows * output_shape_.row_values(),
                          output_shape_,
                          own_histograms() ? 1 : parameters_.block,
                          parameters_.norm != HogNorm::l2,
                          hog_lengths(parameters_, output_shape_.values)};
        const dim3 grid(cuda::blocks(output_shape_.columns * norm_lanes, norm_threads),
                        static_cast<unsigned>(output_shape_.rows), static_cast<unsigned>(count));
        cuda::Launch(stream, grid, norm_threads)(norm_kernel, job);
    });
}

}  // namespace framewire
