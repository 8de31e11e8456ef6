#include "framewire/cuda/device/check.hpp"
#include "framewire/cuda/kernel/grid.cuh"
#include "framewire/detect/masks/median/mask_median.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>

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
constexpr int median_band_rows = 8;  // rows per warp; the rows around them only add to the counts, which is cheap

// Arguments of the kernel.
struct MedianJob {
    DeviceBitMaskView<const std::uint32_t> in;
    DeviceBitMaskView<std::uint32_t> out;
    int size_px, strips, bands;
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

// Computes sums(x) + more(x + shift) for numbers of `digits` and `more_digits` digits; the sum has one more
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

// Starts with the sums of one column and doubles the number of columns, adding one more where the size has a
// binary 1. After `done` digits there are fewer than 2^done columns, so the sums have column_digits + done
// digits.
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

    const int y_begin = band * median_band_rows, y_end = min(y_begin + median_band_rows, shape.height);
    Word counts[column_digits] = {};
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
    validate(in, shape_, "the median's mask");
    validate(out, shape_, "the median's result");
    const MedianJob job{.in = in,
                        .out = out,
                        .size_px = size_px_,
                        .strips = cuda::parts(in.row_words() / 2, strip_words),
                        .bands = cuda::parts(shape_.height, median_band_rows)};
    constexpr int most_digits = std::bit_width(std::uint32_t{most_mask_median_px});
    launch_median<most_digits>(job, size_px_, executor_->stream());
}

}  // namespace framewire
