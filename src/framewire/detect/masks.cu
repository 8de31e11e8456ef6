#include "framewire/cuda/check.hpp"
#include "framewire/cuda/kernel.cuh"
#include "framewire/detect/masks.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>

namespace framewire {
namespace mask_region_kernels {
namespace {

constexpr int threads_per_block = 256;

// Each thread clears the bits outside of the region in four words; rows are multiples of four words.
__global__ void __launch_bounds__(threads_per_block)
    keep_kernel(const uint4* region, std::int64_t frame_quads, uint4* masks, std::int64_t quads) {
    const auto index = std::int64_t{blockIdx.x} * threads_per_block + threadIdx.x;
    if (index >= quads) return;
    const auto keep = region[index % frame_quads];
    auto mask = masks[index];
    mask = {mask.x & keep.x, mask.y & keep.y, mask.z & keep.z, mask.w & keep.w};
    masks[index] = mask;
}

}  // namespace
}  // namespace mask_region_kernels

void MaskRegion::apply(DeviceBitMaskView<std::uint32_t> masks) const {
    using namespace mask_region_kernels;
    require_same_size(masks.shape());
    const auto frame_quads = masks.frame_words() / 4, quads = frame_quads * masks.shape().frames;
    const auto blocks = cuda::blocks(quads, threads_per_block);
    cuda::Launch(executor_->stream(), blocks, threads_per_block)(
        keep_kernel, reinterpret_cast<const uint4*>(region_.view<MemorySpace::device>().data()), frame_quads,
        reinterpret_cast<uint4*>(masks.data()), quads);
}

}  // namespace framewire

// Morphology of bit masks on the GPU. A warp holds one row of a strip, two words per thread. The first and the last
// thread hold the words beside the strip, into which elements reach by at most 31 bits per phase. A launch has one or
// two phases:
//
//     lane:   0     | 1 ... 30          | 31
//     words:  halo  | strip of 60 words | halo
//
// A block's tile of rows is in shared memory; the result of one phase is the tile of the next. An erosion dilates the
// complement, so tiles are complemented between an erosion and a dilation. Pixels outside of the image are unset in
// either form.

namespace framewire {
namespace mask_morphology_kernels {
namespace {

constexpr int warp_threads = 32;
constexpr int threads_per_block = 256;
constexpr int warps_per_block = threads_per_block / warp_threads;
constexpr int words_per_thread = 2;
constexpr int strip_words = (warp_threads - 2) * words_per_thread;
constexpr int rows_per_turn = 2;  // result rows of a warp at a time; they read the same rows except for two

constexpr int most_phases = 2;
constexpr int most_band_rows = 64;
constexpr int most_shared_rows = 192;  // 48 KiB of tiles, which every GPU provides
// A second phase in the same launch saves a mask in between, but every band computes its halo once more.
constexpr int largest_fused_radius = 15;

// Arguments of a launch.
struct Job {
    DeviceBitMaskView<const std::uint32_t> in;
    DeviceBitMaskView<std::uint32_t> out;
    DilationSteps steps;
    // ~0 to complement the input, the first phase's result and the second phase's result, else 0.
    std::uint32_t flip[most_phases + 1];
    int strips, bands, band_rows;
};

// Returns the mask of the pixels of a word that are inside the image.
__device__ std::uint32_t pixels_inside(int word, int width_px) {
    const int pixels = width_px - 32 * word;
    return word < 0 || pixels <= 0 ? 0u : pixels >= 32 ? ~0u : (1u << pixels) - 1;
}

__device__ void join(uint2& words, uint2 others) {
    words.x |= others.x;
    words.y |= others.y;
}

// ORs each pixel with the pixels `shift_px` to its left and right; the neighbouring words come from the adjacent
// lanes.
__device__ uint2 dilate_along(uint2 words, int shift_px) {
    const auto left = __shfl_up_sync(~0u, words.y, 1), right = __shfl_down_sync(~0u, words.x, 1);
    return {words.x | __funnelshift_l(left, words.x, shift_px) | __funnelshift_r(words.x, words.y, shift_px),
            words.y | __funnelshift_l(words.x, words.y, shift_px) | __funnelshift_r(words.y, right, shift_px)};
}

// Computes two rows of the result for one column of a tile; `row` points to the first one in the tile.
__device__ void dilate_rows(const DilationSteps& steps, const uint2* row, uint2 (&result)[rows_per_turn]) {
    result[0] = row[0];
    result[1] = row[warp_threads];
    // The outermost rows read so far. `above` is joined to the first result row now and to the second one next.
    auto above = result[0], below = result[1];
    int distance = 1;
    const auto *up = row, *down = row + warp_threads;
    for (int index = 0; index < steps.count; ++index) {
        const auto step = steps.steps[index];
        for (; distance < step.rows_end; ++distance) {
            up -= warp_threads;
            down += warp_threads;
            join(result[0], below);
            join(result[1], above);
            above = *up;
            below = *down;
            join(result[0], above);
            join(result[1], below);
        }
        if (step.shift_px != 0)
            for (auto& one : result) one = dilate_along(one, step.shift_px);
    }
}

// Loads rows, dilates them in one or two phases and stores them, one block per strip and band.
template <int phases>
__global__ void __launch_bounds__(threads_per_block) mask_kernel(__grid_constant__ const Job job) {
    extern __shared__ uint2 shared[];
    const auto& shape = job.in.shape();
    const int lane = static_cast<int>(threadIdx.x) % warp_threads, warp = static_cast<int>(threadIdx.x) / warp_threads;
    const int strip = static_cast<int>(blockIdx.x) % job.strips,
              band = static_cast<int>(blockIdx.x) / job.strips % job.bands;
    const int frame = static_cast<int>(blockIdx.x) / job.strips / job.bands;
    const int word = strip * strip_words + (lane - 1) * words_per_thread;
    const uint2 inside{pixels_inside(word, shape.width), pixels_inside(word + 1, shape.width)};
    const bool in_row = word >= 0 && word < job.in.row_words();
    const int radius = job.steps.radius;

    int y_begin = band * job.band_rows - phases * radius;  // first row of the tile
    int rows = job.band_rows + 2 * phases * radius;        // even for all tiles
    for (int row = warp; row < rows; row += warps_per_block) {
        const int y = y_begin + row;
        uint2 words{};
        if (in_row && y >= 0 && y < shape.height) {
            words = *reinterpret_cast<const uint2*>(job.in.row(frame, y) + word);
            words = {(words.x ^ job.flip[0]) & inside.x, (words.y ^ job.flip[0]) & inside.y};
        }
        shared[row * warp_threads + lane] = words;
    }

    auto* tile = shared + lane;
#pragma unroll
    for (int phase = 1; phase <= phases; ++phase) {
        __syncthreads();
        auto* next_tile = tile + rows * warp_threads;
        y_begin += radius;
        rows -= 2 * radius;
        const auto flip = job.flip[phase];
        for (int row = warp * rows_per_turn; row < rows; row += warps_per_block * rows_per_turn) {
            uint2 result[rows_per_turn];
            dilate_rows(job.steps, tile + (row + radius) * warp_threads, result);
#pragma unroll
            for (int at = 0; at < rows_per_turn; ++at) {
                const int y = y_begin + row + at;
                const bool in_image = in_row && y >= 0 && y < shape.height;
                const uint2 words{(result[at].x ^ flip) & inside.x, (result[at].y ^ flip) & inside.y};
                if (phase < phases)
                    next_tile[(row + at) * warp_threads] = in_image ? words : uint2{};
                else if (in_image && lane > 0 && lane < warp_threads - 1)
                    *reinterpret_cast<uint2*>(job.out.row(frame, y) + word) = words;
            }
        }
        tile = next_tile;
    }
}

// Returns the total rows of a block's tiles, one per phase; each tile includes the halo that the next one needs.
constexpr int shared_rows(int band_rows, int radius, int phases) {
    return phases * band_rows + phases * (phases + 1) * radius;
}

static_assert(shared_rows(most_band_rows, max_element_px / 2, 1) <= most_shared_rows);

// Launches one or two phases.
template <int phases>
void launch(const Job& job, const cuda::Stream& stream) {
    const auto blocks = static_cast<unsigned>(job.strips * job.bands * job.in.shape().frames);
    const auto shared_bytes =
        sizeof(uint2) * warp_threads * static_cast<std::size_t>(shared_rows(job.band_rows, job.steps.radius, phases));
    cuda::Launch(stream, blocks, threads_per_block, shared_bytes)(mask_kernel<phases>, job);
}

}  // namespace
}  // namespace mask_morphology_kernels

// Runs once per plan: the choice depends on the shape, the element and the number of frames only.
void MaskMorphology::plan_for_cuda() {
    using namespace mask_morphology_kernels;
    const int strips = cuda::parts(mask_row_words(shape_.width), strip_words);
    // Tall bands load and dilate fewer rows twice; low bands give a GPU enough blocks if there are too few frames.
    constexpr std::int64_t wanted_blocks = 512;
    const auto bands_wanted = cuda::parts(wanted_blocks, std::int64_t{strips} * shape_.frames);
    const auto rows_wanted = static_cast<int>(cuda::parts(std::int64_t{shape_.height}, bands_wanted));
    for (int phases = 1; phases <= most_phases; ++phases) {
        if (phases == 2 && steps_.radius > largest_fused_radius) continue;
        const int rows_with_room = (most_shared_rows - shared_rows(0, steps_.radius, phases)) / phases / 2 * 2;
        const int rows = std::clamp((rows_wanted + 1) / 2 * 2, 8, std::min(most_band_rows, rows_with_room));
        bands_[phases - 1] = {strips, cuda::parts(shape_.height, rows), rows};
    }
}

// The intermediate mask and the result alternate so that the last launch writes the result.
void MaskMorphology::run(DeviceBitMaskView<const std::uint32_t> in, DeviceBitMaskView<std::uint32_t> out) {
    using namespace mask_morphology_kernels;
    validate(in, shape_, "the input of the mask morphology");
    validate(out, shape_, "the output of the mask morphology");
    const auto& stream = executor_->stream();
    if (phases_.count == 0) cuda::copy(in.data(), out.data(), bit_mask_bytes(shape_), stream);
    const int fused = steps_.radius <= largest_fused_radius ? most_phases : 1;
    for (int index = 0; index < phases_.count; index += fused) {
        const int launches_left = (phases_.count - index - 1) / fused;
        const auto to = launches_left % 2 == 0 ? out : between_.view<MemorySpace::device>();
        const int here = std::min(fused, phases_.count - index);
        const auto& [strips, bands, band_rows] = bands_[here - 1];
        Job job{.in = in, .out = to, .steps = steps_, .strips = strips, .bands = bands, .band_rows = band_rows};
        bool complemented = false;
        for (int phase = 0; phase < here; ++phase) {
            const bool erodes = phases_.erodes(index + phase);
            job.flip[phase] = erodes != complemented ? ~0u : 0u;
            complemented = erodes;
        }
        job.flip[here] = complemented ? ~0u : 0u;
        if (here == 2)
            launch<2>(job, stream);
        else
            launch<1>(job, stream);
        in = to;
    }
}

}  // namespace framewire

// Median of bit masks on the GPU. A warp holds a row of a strip, 64 pixels per thread; the first and the last
// thread hold the pixels beside the strip that windows reach. The counts of the columns stay in registers, in
// binary digits, while the warp moves down the rows of its band:
//
//     counts[column] += row y + radius, -= row y - radius - 1      number of set pixels in `size` rows
//     sums = counts of `size` adjacent columns, by doubling        number of set pixels in the window
//     median = sums > size * size / 2

namespace framewire {
namespace mask_median_kernels {
namespace {

using Word = unsigned long long;

constexpr int warp_threads = 32;
constexpr int threads_per_block = 128;
constexpr int word_px = 64;
constexpr int strip_words = warp_threads - 2;
// Rows per warp. The rows around them only add to the counts, which is cheap; low bands give a GPU enough warps if
// there are few frames.
constexpr int most_band_rows = 8;
constexpr std::int64_t wanted_warps = 1024;

// Arguments of the kernel.
struct MedianJob {
    DeviceBitMaskView<const std::uint32_t> in;
    DeviceBitMaskView<std::uint32_t> out;
    int size_px, strips, bands, band_rows;
};

// Returns the pixels of a word of a row; edge pixels are replicated beyond the image.
__device__ Word median_word(const std::uint32_t* row, int word, int width_px) {
    const int last = width_px - 1;
    const int inside = width_px - word_px * word;
    const auto last_pixel = [&] { return (row[last / 32] >> (last % 32) & 1u) != 0 ? ~Word{0} : Word{0}; };
    if (word < 0) return (row[0] & 1u) != 0 ? ~Word{0} : Word{0};
    if (inside <= 0) return last_pixel();
    const auto pixels = reinterpret_cast<const Word*>(row)[word];
    return inside < word_px ? pixels | last_pixel() << inside : pixels;
}

// Returns, for each pixel, the pixel `shift_px` (below 64) to its right.
__device__ Word pixels_right(Word word, int shift_px) {
    const Word next = __shfl_down_sync(~0u, word, 1);
    return word >> shift_px | next << (word_px - shift_px);
}

// Computes sums(x) + more(x + shift) for numbers of `digits` and `more_digits` binary digits; the sum has one more
// digit.
template <int digits, int more_digits, int room, int more_room>
__device__ void add_shifted(Word (&sums)[room], const Word (&more)[more_room], int shift_px) {
    static_assert(digits < room && more_digits <= more_room);
    Word carry = 0;
#pragma unroll
    for (int digit = 0; digit < digits; ++digit) {
        const Word a = sums[digit], b = digit < more_digits ? pixels_right(more[digit], shift_px) : 0;
        sums[digit] = a ^ b ^ carry;
        carry = (a & b) | ((a ^ b) & carry);
    }
    sums[digits] = carry;
}

// Starts with the sums of one column and doubles the number of columns, adding one more for each binary 1 of the
// size. After `done` digits there are fewer than 2^done columns, so the sums have column_digits + done digits.
template <int column_digits, int done, int room>
__device__ void add_columns(Word (&sums)[room], const Word (&counts)[column_digits], int size_px, int columns) {
    if constexpr (done < column_digits) {
        constexpr int digits = column_digits + done;
        add_shifted<digits, digits>(sums, sums, columns);
        columns *= 2;
        if ((size_px >> (column_digits - 1 - done) & 1) != 0) {
            add_shifted<digits + 1, column_digits>(sums, counts, columns);
            ++columns;
        }
        add_columns<column_digits, done + 1>(sums, counts, size_px, columns);
    }
}

// A warp starts with the counts of the first window's columns, then adds and subtracts one row at a time.
template <int column_digits>
__global__ void __launch_bounds__(threads_per_block) median_kernel(__grid_constant__ const MedianJob job) {
    const auto& shape = job.in.shape();
    const int lane = static_cast<int>(threadIdx.x) % warp_threads;
    const auto warp = static_cast<std::int64_t>(blockIdx.x) * (threads_per_block / warp_threads) +
                      static_cast<int>(threadIdx.x) / warp_threads;
    const int strip = static_cast<int>(warp % job.strips), band = static_cast<int>(warp / job.strips % job.bands);
    const auto frame = static_cast<int>(warp / job.strips / job.bands);
    if (frame >= shape.frames) return;  // true for the whole warp
    const int word = strip * strip_words + lane - 1, radius = job.size_px / 2;
    const int half = job.size_px * job.size_px / 2;
    const int inside = shape.width - word_px * word;
    // Bits to the right of the image stay 0.
    const Word in_image = word < 0 || inside <= 0 ? 0 : inside < word_px ? (Word{1} << inside) - 1 : ~Word{0};
    const auto read = [&](int y) {
        return median_word(job.in.row(frame, min(max(y, 0), shape.height - 1)), word, shape.width);
    };

    const int y_begin = band * job.band_rows, y_end = min(y_begin + job.band_rows, shape.height);
    Word counts[column_digits] = {};
#pragma unroll 4
    for (int y = y_begin - radius; y < y_begin + radius; ++y) {
        Word carry = read(y);
#pragma unroll
        for (auto& count : counts) {
            const Word before = count;
            count ^= carry;
            carry &= before;
        }
    }
    for (int y = y_begin; y < y_end; ++y) {
        // The first window of the band needs one more row and loses none.
        const Word comes = read(y + radius), goes = y > y_begin ? read(y - radius - 1) : 0;
        Word carry = comes & ~goes, borrow = goes & ~comes;
#pragma unroll
        for (auto& count : counts) {
            const Word before = count;
            count ^= carry | borrow;
            carry &= before;
            borrow &= ~before;
        }

        Word sums[2 * column_digits + 1] = {};
#pragma unroll
        for (int digit = 0; digit < column_digits; ++digit) sums[digit] = counts[digit];
        add_columns<column_digits, 1>(sums, counts, job.size_px, 1);
        Word above = 0;
#pragma unroll
        for (int digit = 0; digit < 2 * column_digits; ++digit)
            above = (half >> digit & 1) != 0 ? above & sums[digit] : above | sums[digit];
        // The result was computed at the left column of each window; move it to the middle.
        const Word left = __shfl_up_sync(~0u, above, 1);
        const Word median = (above << radius | left >> (word_px - radius)) & in_image;
        if (lane > 0 && lane < warp_threads - 1 && 2 * word < job.out.row_words())
            reinterpret_cast<Word*>(job.out.row(frame, y))[word] = median;
    }
}

// Selects the instance by the number of binary digits of the size.
template <int column_digits>
void launch_median(const MedianJob& job, int size_px, const cuda::Stream& stream) {
    if (std::bit_width(static_cast<unsigned>(size_px)) != column_digits) {
        if constexpr (column_digits > 2) launch_median<column_digits - 1>(job, size_px, stream);
        return;
    }
    const auto warps = std::int64_t{job.strips} * job.bands * job.in.shape().frames;
    cuda::Launch(stream, cuda::blocks(warps, threads_per_block / warp_threads), threads_per_block)(
        median_kernel<column_digits>, job);
}

}  // namespace
}  // namespace mask_median_kernels

void MaskMedian::run(DeviceBitMaskView<const std::uint32_t> in, DeviceBitMaskView<std::uint32_t> out) const {
    using namespace mask_median_kernels;
    validate(in, shape_, "the input of the mask median");
    validate(out, shape_, "the output of the mask median");
    const int strips = cuda::parts(in.row_words() / 2, strip_words);
    const auto rows = std::int64_t{strips} * in.shape().frames * shape_.height;
    const auto band_rows = std::clamp<std::int64_t>(rows / wanted_warps, 1, most_band_rows);
    const MedianJob job{.in = in,
                        .out = out,
                        .size_px = size_px_,
                        .strips = strips,
                        .bands = cuda::parts(shape_.height, static_cast<int>(band_rows)),
                        .band_rows = static_cast<int>(band_rows)};
    constexpr int most_digits = std::bit_width(std::uint32_t{most_mask_median_px});
    launch_median<most_digits>(job, size_px_, executor_->stream());
}

}  // namespace framewire
