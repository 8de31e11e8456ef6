#include "framewire/detect/foreground/foreground_matrix.hpp"
#include "framewire/filters/gray_input/gray_groups.cuh"
#include "framewire/filters/kernel/byte_products.cuh"
#include "framewire/filters/kernel/quads.cuh"

#include <algorithm>
#include <array>
#include <cstdint>

// A block slides down a strip of an image, 16 rows at a time: it makes them gray, into shared memory, and each warp
// blurs 32 columns of them. The tensor cores multiply bytes and add up in 32 bits, so 15-bit weights and the rows'
// 16-bit results go as a high and a low byte each.
//
// A warp's product is D[16 x 8] = A[16 x K] * B[K x 8]. In its registers lane 4 * g + q holds, with b = 0..3,
//     of A  rows g and g + 8, columns 4 * q + b (and 16 + 4 * q + b where K is 32),
//     of B  rows 4 * q + b (and 16 + 4 * q + b), column g,
//     of D  rows g and g + 8, columns 2 * q and 2 * q + 1.
// A is made of weights, B of pixels. Which pixel a row of B is does not matter as long as A's columns agree, so
// - along rows, K is the 48 pixels that 32 results see, lane q having 12 of them in a run: three words as they lie in
//   memory. The columns of B are 8 rows of the image, the rows of A are results;
// - along columns, B is what the products along rows left in the lane: rows 2 * q and 2 * q + 1 of 8, and of the
// next 8.
//   The rows of A are 16 results, and K the 32 rows that they see, half of which the lane has from the 16 rows before;
// - the results are numbered such that a lane ends up with 8 pixels beside each other in each of two rows.

namespace framewire {
namespace foreground_matrix_kernels {
namespace {

constexpr int warp_threads = 32;
constexpr int warps_per_block = 4;  // small blocks, so that a frame alone has as many as run at once on a large GPU
constexpr int threads_per_block = warps_per_block * warp_threads;
constexpr int warp_px = 32;
constexpr int strip_px = warps_per_block * warp_px;
constexpr int chunk_rows = 16;
constexpr int reach_px = 8;  // of the windows, at most
constexpr int row_shift = gaussian_row_shift(GaussianRounding::opencv);
constexpr int column_shift = gaussian_column_shift(GaussianRounding::opencv);

constexpr int strip_quads = (strip_px + 2 * reach_px) / quad_px;
constexpr int pitch_words = (strip_quads + 31 - 12) / 32 * 32 + 12;  // so that the lanes of a warp read from all banks
static_assert(pitch_words >= strip_quads && pitch_words % 32 == 12);
constexpr int warp_rows = chunk_rows / warps_per_block;             // that a warp loads of a chunk
constexpr int row_quads = strip_quads / warp_threads;               // of each, that every lane loads
constexpr int left_quads = strip_quads - row_quads * warp_threads;  // of each, that some lanes load
constexpr int quads_per_lane = warp_rows * row_quads + 1;
static_assert(chunk_rows % warps_per_block == 0 && warp_rows * left_quads <= warp_threads);

// The words that each lane has of the matrices of weights, high and low bytes apart.
struct Fragments {
    std::uint32_t row_32[2][2][4];  // for both halves of a warp's results, K 32
    std::uint32_t row_16[2][2][2];  // K 16
    std::uint32_t column[2][4];
};
constexpr int fragment_words = sizeof(Fragments) / sizeof(std::uint32_t);

// Which of a warp's 32 pixels result `row` (0 to 15) of half `half` is.
constexpr int result_px(int half, int row) { return 8 * (row % 8 / 2) + 2 * (2 * half + row / 8) + row % 2; }
// Which of 16 rows byte `b` of lane q's word is, on the way from rows to columns.
constexpr int chunk_row(int q, int b) { return 2 * q + b % 2 + 8 * (b / 2); }

// Words 4 * i to 4 * i + 3 of a lane lie beside each other, and then those of the next lane.
std::array<std::uint32_t, fragment_words * warp_threads> make_fragments(const GaussianWeights& weights) {
    // One byte of the weight of the tap that sees `from` from `to`.
    const auto weight_byte = [&](int from, int to, int part) {
        const int tap = from - to + weights.reach.before, mirrored = weights.taps - 1 - tap;
        if (tap < 0 || mirrored < 0) return 0u;
        const auto weight =
            static_cast<std::uint32_t>(weights.folded[std::min(tap, mirrored)]) * (tap == mirrored ? 2u : 1u);
        return part == 0 ? weight >> 8 : weight & 255;
    };
    std::array<std::uint32_t, fragment_words * warp_threads> words{};
    for (int lane = 0; lane < warp_threads; ++lane) {
        const int g = lane / 4, q = lane % 4;
        Fragments fragments{};
        for (int part = 0; part < 2; ++part)
            for (int b = 0; b < 4; ++b) {
                for (int half = 0; half < 2; ++half)
                    for (int word = 0; word < 6; ++word) {
                        auto& fragment =
                            word < 4 ? fragments.row_32[part][half][word] : fragments.row_16[part][half][word - 4];
                        fragment |= weight_byte(12 * q + 4 * (word / 2) + b - reach_px,
                                                result_px(half, g + 8 * (word % 2)), part)
                                    << (8 * b);
                    }
                for (int word = 0; word < 4; ++word)
                    fragments.column[part][word] |=
                        weight_byte(chunk_rows * (word / 2) + chunk_row(q, b) - reach_px, g + 8 * (word % 2), part)
                        << (8 * b);
            }
        const auto* from = reinterpret_cast<const std::uint32_t*>(&fragments);
        for (int word = 0; word < fragment_words; ++word)
            words[static_cast<std::size_t>(4 * (word / 4 * warp_threads + lane) + word % 4)] = from[word];
    }
    return words;
}

struct Job {
    QuadSource in;
    cuda::KernelImage<const std::uint8_t> background;  // one frame's stride is 0: it is that of all
    cuda::KernelImage<std::uint8_t> out;               // the blurred images, or nothing
    bool background_words, out_words;                  // every row begins at a multiple of 4
    DeviceBitMaskView<std::uint32_t> mask;
    const uint4* fragments;
    SplitWeights gray;
    std::uint32_t threshold;
    int strips, bands, band_rows;
};

// 16 rows' results along the rows, as the products along the columns take them: for each quarter of the pixels.
struct RowResults {
    std::uint32_t high[4], low[4];
};

// A lane's fragments in shared memory, four words at a time: where Fragments has them.
class LaneFragments {
public:
    __device__ explicit LaneFragments(const uint4* of_lane) : of_lane_(of_lane) {}

    struct Left32 {
        std::uint32_t words[4];
    };
    struct Left16 {
        std::uint32_t words[2];
    };

    __device__ Left32 row_32(int part, int half) const { return at(2 * part + half); }
    __device__ Left16 row_16(int part, int half) const {
        const auto both = at(4 + part);
        return {{both.words[2 * half], both.words[2 * half + 1]}};
    }
    __device__ Left32 column(int part) const { return at(6 + part); }

private:
    __device__ Left32 at(int index) const {
        const auto four = of_lane_[index * warp_threads];
        return {{four.x, four.y, four.z, four.w}};
    }
    const uint4* of_lane_;
};

__device__ RowResults blur_rows(const LaneFragments& weights, const std::uint32_t* words) {
    std::uint32_t pixels[2][3];
#pragma unroll
    for (int rows = 0; rows < 2; ++rows)
#pragma unroll
        for (int word = 0; word < 3; ++word) pixels[rows][word] = words[8 * rows * pitch_words + word];
    RowResults results;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        Sums sum[2]{};  // of 8 rows each
#pragma unroll
        for (int part = 0; part < 2; ++part) {
            const auto weights_32 = weights.row_32(part, half);
            const auto weights_16 = weights.row_16(part, half);
#pragma unroll
            for (int rows = 0; rows < 2; ++rows) {
                auto& sums = sum[rows];
                if (part == 1) sums = scale_add(sums, 256, 1u << (row_shift - 1));
                sums = multiply_add(sums, weights_32.words, pixels[rows][0], pixels[rows][1]);
                sums = multiply_add(sums, weights_16.words, pixels[rows][2]);
            }
        }
#pragma unroll
        for (int pair = 0; pair < 2; ++pair) {
            std::uint32_t two[2];  // low bytes of two results, then high ones
#pragma unroll
            for (int rows = 0; rows < 2; ++rows)
                two[rows] =
                    __byte_perm(sum[rows].sum[2 * pair] >> row_shift, sum[rows].sum[2 * pair + 1] >> row_shift, 0x5140);
            results.low[2 * half + pair] = __byte_perm(two[0], two[1], 0x5410);
            results.high[2 * half + pair] = __byte_perm(two[0], two[1], 0x7632);
        }
    }
    return results;
}

// Eight pixels of a row as pairs, each in 16 bits.
struct EightPixels {
    std::uint32_t pairs[4];
};

// Of rows g and g + 8.
__device__ void blur_columns(const LaneFragments& weights, const RowResults& above, const RowResults& below,
                             EightPixels (&result)[2]) {
    const auto high = weights.column(0), low = weights.column(1);
#pragma unroll
    for (int quarter = 0; quarter < 4; ++quarter) {
        auto sums = multiply_add({}, high.words, above.high[quarter], below.high[quarter]);
        sums = scale_add(sums, 256, 0);
        sums = multiply_add(sums, high.words, above.low[quarter], below.low[quarter]);
        sums = multiply_add(sums, low.words, above.high[quarter], below.high[quarter]);
        sums = scale_add(sums, 256, 1u << (column_shift - 1));
        sums = multiply_add(sums, low.words, above.low[quarter], below.low[quarter]);
#pragma unroll
        for (int row = 0; row < 2; ++row)
            result[row].pairs[quarter] =
                sums.sum[2 * row] >> column_shift | (sums.sum[2 * row + 1] >> (column_shift - 16) & 0x00ff0000);
    }
}

// Bits of the pixels that differ by more than the threshold.
__device__ std::uint32_t difference_bits(const EightPixels& pixels, uint2 background, std::uint32_t threshold) {
    // One number stays above 0x8000 while the difference is not below -threshold, the other while not above threshold.
    const auto room = (0x8000u + threshold) * 0x00010001u;
    std::uint32_t gathered = 0;
#pragma unroll
    for (int pair = 0; pair < 4; ++pair) {
        const auto other = __byte_perm(pair < 2 ? background.x : background.y, 0, pair % 2 ? 0x4342 : 0x4140);
        const auto within = (room + pixels.pairs[pair] - other) & (room + other - pixels.pairs[pair]);
        gathered |= (~within & 0x80008000) >> (2 * (3 - pair));
    }
    return (gathered >> 9 & 0x55) | (gathered >> 24 & 0xaa);
}

// Eight pixels of a row from `x` on; nothing outside.
__device__ uint2 load_eight(const std::uint8_t* row, int x, int width, bool aligned) {
    if (aligned && x + 8 <= width) {
        const auto* words = reinterpret_cast<const std::uint32_t*>(row + x);
        return {__ldg(words), __ldg(words + 1)};
    }
    uint2 pixels{};
    for (int pixel = 0; pixel < 8 && x + pixel < width; ++pixel)
        (pixel < 4 ? pixels.x : pixels.y) |= static_cast<std::uint32_t>(row[x + pixel]) << (8 * (pixel % 4));
    return pixels;
}

__device__ void store_eight(std::uint8_t* row, int x, int width, bool aligned, const EightPixels& pixels) {
#pragma unroll
    for (int quad = 0; quad < 2; ++quad)
        store_quad<1>(row, x + quad * quad_px, width, aligned,
                      {{__byte_perm(pixels.pairs[2 * quad], pixels.pairs[2 * quad + 1], 0x6420)}});
}

// Four pixels as they lie in memory, in words.
template <int channels>
__device__ Quad<channels> load_words(const std::uint8_t* pixels) {
    Quad<channels> words;
#pragma unroll
    for (int word = 0; word < channels; ++word)
        words.plane[word] = __ldg(reinterpret_cast<const std::uint32_t*>(pixels) + word);
    return words;
}

// Pixels x to x + 3 of a row; zeros for those outside the image.
template <int channels>
__device__ Quad<channels> load_inside(const std::uint8_t* row, int x, int width, bool aligned) {
    if (aligned && x >= 0 && x + quad_px <= width) return load_words<channels>(row + x * channels);
    Quad<channels> words{};
    if (x + quad_px <= 0 || x >= width) return words;
#pragma unroll
    for (int byte = 0; byte < quad_px * channels; ++byte) {
        const int at = x * channels + byte;
        if (at >= 0 && at < width * channels)
            words.plane[byte / 4] |= static_cast<std::uint32_t>(row[at]) << (8 * (byte % 4));
    }
    return words;
}

template <int channels>
__global__ void __launch_bounds__(threads_per_block, 4) foreground_kernel(__grid_constant__ const Job job) {
    constexpr int fragment_quads = sizeof(Fragments) * warp_threads / sizeof(uint4);
    __shared__ uint4 fragments[fragment_quads];
    __shared__ std::uint32_t gray[2][chunk_rows * pitch_words];
    const int thread = static_cast<int>(threadIdx.x), lane = thread % warp_threads, warp = thread / warp_threads;
    const int g = lane / 4, q = lane % 4;
    const int strip = static_cast<int>(blockIdx.x) % job.strips;
    const int band = static_cast<int>(blockIdx.x) / job.strips % job.bands;
    const int frame = static_cast<int>(blockIdx.x) / job.strips / job.bands;
    const int x_strip = strip * strip_px, x = x_strip + warp * warp_px;
    const int y_begin = band * job.band_rows, y_end = min(y_begin + job.band_rows, job.in.height);
    const int chunks = (y_end - y_begin + chunk_rows - 1) / chunk_rows + 1;  // the first only has rows above
    const int width = job.in.width;
    const int pixels_left = width - x - 8 * q;  // from the lane's on
    const auto inside = pixels_left >= 8 ? 255u : pixels_left <= 0 ? 0u : (1u << pixels_left) - 1;

    const LaneFragments weights(fragments + lane);

    // A warp loads some rows of a chunk: as many quads of each for each lane, and what is left of all for the first
    // lanes.
    constexpr int last = quads_per_lane - 1;
    Quad<channels> loaded[quads_per_lane] = {};
    const auto row_of = [&](int index) { return index < last ? index / row_quads : lane / left_quads % warp_rows; };
    const auto quad_of = [&](int index) {
        return index < last ? lane + index % row_quads * warp_threads : row_quads * warp_threads + lane % left_quads;
    };
    const bool at_edge = x_strip == 0 || x_strip + strip_px + reach_px > width;
    const bool whole_words = job.in.words && !at_edge;
    const auto load = [&](int chunk) {
        const auto row_at = [&](int row) {
            const int y = y_begin - reach_px + chunk * chunk_rows + warp_rows * warp + row;
            return job.in.rows.row(frame, border_index(y, job.in.height, Border::reflect101));
        };
        const std::uint8_t* row = nullptr;
#pragma unroll
        for (int index = 0; index < quads_per_lane; ++index) {
            if (index == last || index % row_quads == 0) row = row_at(row_of(index));
            const int at = x_strip - reach_px + quad_of(index) * quad_px;
            loaded[index] = whole_words ? load_words<channels>(row + at * channels)
                                        : load_inside<channels>(row, at, width, job.in.words);
        }
    };
    const auto store_gray = [&](int chunk) {
        auto* rows = gray[chunk % 2] + warp_rows * warp * pitch_words;
#pragma unroll
        for (int index = 0; index < quads_per_lane; ++index) {
            auto gray_quad = loaded[index].plane[0];
            if constexpr (channels == 3)
                gray_quad = gray_of_four(gray_quad, loaded[index].plane[1], loaded[index].plane[2], job.gray);
            if (index < last || lane < warp_rows * left_quads)
                rows[row_of(index) * pitch_words + quad_of(index)] = gray_quad;
        }
    };
    // What a strip at the image's edges sees outside it, from its own gray pixels.
    const auto fill_border = [&](int chunk) {
        for (int i = thread; i < chunk_rows * 2 * reach_px; i += threads_per_block) {
            auto* row = reinterpret_cast<std::uint8_t*>(gray[chunk % 2] + i / (2 * reach_px) * pitch_words);
            const int rim = i % (2 * reach_px);
            const int outside = rim < reach_px ? x_strip - reach_px + rim : width + rim - reach_px;
            const int to = outside - x_strip + reach_px;
            if ((outside < 0 || outside >= width) && to < strip_px + 2 * reach_px)
                row[to] = row[border_index(outside, width, Border::reflect101) - x_strip + reach_px];
        }
    };

    // The rows of results that a chunk's rows complete.
    RowResults above{};
    const auto blur = [&](int chunk) {
        const int y = y_begin + (chunk - 1) * chunk_rows + g;
        uint2 background[2] = {};  // on its way while rows are blurred
#pragma unroll
        for (int row = 0; row < 2; ++row)
            if (chunk > 0 && job.mask.data() && y + 8 * row < y_end)
                background[row] =
                    load_eight(job.background.row(frame, y + 8 * row), x + 8 * q, width, job.background_words);
        const auto below = blur_rows(weights, gray[chunk % 2] + g * pitch_words + warp * (warp_px / quad_px) + 3 * q);
        if (chunk > 0) {
            EightPixels pixels[2];
            blur_columns(weights, above, below, pixels);
#pragma unroll
            for (int row = 0; row < 2; ++row) {
                const bool in_band = y + 8 * row < y_end;
                if (job.out.data && in_band)
                    store_eight(job.out.row(frame, y + 8 * row), x + 8 * q, width, job.out_words, pixels[row]);
                if (!job.mask.data()) continue;
                auto bits = (difference_bits(pixels[row], background[row], job.threshold) & inside) << (8 * q);
                bits |= __shfl_xor_sync(~0u, bits, 1);
                bits |= __shfl_xor_sync(~0u, bits, 2);
                if (q == row && in_band) job.mask.row(frame, y + 8 * row)[x / warp_px] = bits;
            }
        }
        above = below;
    };

    load(0);
    uint4 own_fragments[fragment_quads / threads_per_block];
    static_assert(fragment_quads % threads_per_block == 0);
#pragma unroll
    for (int part = 0; part < fragment_quads / threads_per_block; ++part)
        own_fragments[part] = __ldg(job.fragments + part * threads_per_block + thread);
#pragma unroll
    for (int part = 0; part < fragment_quads / threads_per_block; ++part)
        fragments[part * threads_per_block + thread] = own_fragments[part];
    store_gray(0);
    for (int chunk = 0; chunk < chunks; ++chunk) {
        __syncthreads();
        if (at_edge) {
            fill_border(chunk);
            __syncthreads();
        }
        if (chunk + 1 < chunks) load(chunk + 1);
        if (x / warp_px < mask_row_words(width)) blur(chunk);
        if (chunk + 1 < chunks) store_gray(chunk + 1);
    }
}

}  // namespace
}  // namespace foreground_matrix_kernels

bool MatrixForeground::serves(const GaussianWeights& weights) {
    using namespace foreground_matrix_kernels;
    return weights.reach.before <= reach_px && weights.reach.after <= reach_px &&
           cuda::device_attribute(cudaDevAttrComputeCapabilityMajor) >= 8;
}

MatrixForeground::MatrixForeground(const GaussianWeights& weights, const Shape& frames, Executor& executor)
    : executor_(&executor) {
    using namespace foreground_matrix_kernels;
    strips_ = cuda::parts(mask_row_words(frames.width), strip_px / warp_px);
    // High bands blur fewer rows twice; many make enough blocks for the whole GPU.
    constexpr int most_band_rows = 272;
    const int bands = std::max(cuda::parts(frames.height, most_band_rows), bands_for_all(strips_, frames.frames));
    band_rows_ = band_rows(frames.height, bands, chunk_rows);
    bands_ = cuda::parts(frames.height, band_rows_);
    const auto fragments = make_fragments(weights);
    const auto bytes = fragments.size() * sizeof(fragments[0]);
    fragments_ = cuda::DeviceBuffer(bytes);
    cuda::upload(fragments.data(), fragments_.data(), bytes, executor.stream());
    executor.stream().synchronize();
}

void MatrixForeground::run(DeviceView<const std::uint8_t> frames, DeviceView<const std::uint8_t> background,
                           int threshold, DeviceBitMaskView<std::uint32_t> mask,
                           DeviceView<std::uint8_t> blurred) const {
    using namespace foreground_matrix_kernels;
    const auto& shape = frames.shape();
    Job job{.in = QuadSource(shape, Border::reflect101),
            .background = cuda::KernelImage<const std::uint8_t>(background),
            .out = cuda::KernelImage<std::uint8_t>(blurred),
            .mask = mask,
            .fragments = fragments_.as<const uint4>(),
            .gray = split(gray_weights(GrayMethod::weighted)),
            .threshold = static_cast<std::uint32_t>(threshold),
            .strips = strips_,
            .bands = bands_,
            .band_rows = band_rows_};
    job.in.set(frames);
    job.background_words = job.background.aligned_to(4);
    job.out_words = job.out.aligned_to(4);
    const auto blocks = static_cast<unsigned>(strips_ * bands_ * shape.frames);
    const auto& stream = executor_->stream();
    if (shape.channels == 3)
        cuda::Launch(stream, blocks, threads_per_block)(foreground_kernel<3>, job);
    else
        cuda::Launch(stream, blocks, threads_per_block)(foreground_kernel<1>, job);
}

}  // namespace framewire
