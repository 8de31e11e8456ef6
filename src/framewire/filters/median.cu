#include "framewire/cuda/buffer.hpp"
#include "framewire/cuda/kernel.cuh"
#include "framewire/filters/median.cuh"
#include "framewire/filters/median.hpp"
#include "framewire/filters/median_networks.hpp"

#include <algorithm>
#include <cstdint>

namespace framewire {
namespace median_kernels {
namespace {

// Above this size, histograms are faster than networks.
constexpr int largest_network_median = 15;

}  // namespace
}  // namespace median_kernels

// Raises the limit on shared memory and divides images into blocks, for the methods that need it.
void Median::plan_for_cuda() {
    using namespace median_kernels;
    // Sizes up to 7 need no plan.
    const int size = parameters_.size;
    if (size > largest_network_median) {
        histograms_.emplace(size, shape_, cuda::limits());
        allow_histogram_median();
    } else if (size >= smallest_median_of_strips) {
        strip_bytes_ = cuda::limits().block_shared_bytes;
        allow_strip_median(size, shape_.channels);
    }
}

// Chooses the kernel by size: copy, sort in registers, networks, networks with strips, histograms.
void Median::run(const FilterImages<MemorySpace::device>& images) {
    using namespace median_kernels;
    validate(images.in, shape_, "median's image");
    validate(images.out, shape_, "median's result");
    const auto [size, border] = parameters_;
    const auto& stream = executor_->stream();
    const auto in = images.in;
    const auto out = images.out;
    cuda::for_frames(shape_.frames, 1, [&](int frame, int frames) {
        const MedianImages part{cuda::KernelImage(in).from_frame(frame),
                                cuda::KernelImage(out).from_frame(frame),
                                shape_.width,
                                shape_.height,
                                shape_.channels,
                                frames};
        if (size == 1) {
            cuda::copy(in.frames(frame, frames), out.frames(frame, frames), stream);
        } else if (size == 3) {
            median_of_nine_on_device(part, border, stream);
        } else if (size < smallest_median_of_strips) {
            network_median_on_device(part, size, border, stream);
        } else if (size <= largest_network_median) {
            strip_median_on_device(part, size, border, strip_bytes_, stream);
        } else {
            histogram_median_on_device(part, size, border, *histograms_, stream);
        }
    });
}

namespace median_three_kernels {
namespace {

// Median of nine. A thread slides down a strip that is 16 bytes wide, with everything in registers. Each word of a row
// supplies two pairs: bytes 1 and 3 in place (`odd`), and bytes 0 and 2 after a shift by one byte (`even`). Sorting the
// three rows of a column works on these pairs directly. Horizontal neighbours are three bytes away (BGR) or one byte
// (gray). In one direction they already form a pair; in the other, a pair is assembled from two words.
constexpr int threads = 128;
constexpr int strip_words = 4;
// Rows of results per thread.
constexpr int rows_per_thread = 16;

// A strip's words and one more on either side; the word to the left has index -1.
struct Row {
    Pair even[strip_words + 2], odd[strip_words + 2];
};

using Words = std::uint32_t[strip_words + 2];

// Splits words into pairs.
__device__ __forceinline__ Row row_of(const Words& words) {
    Row row;
#pragma unroll
    for (int i = 0; i < strip_words + 2; ++i) {
        row.even[i] = words[i] << 8;
        row.odd[i] = words[i];
    }
    return row;
}

// The three rows around a pixel, sorted column by column.
struct Sorted {
    Row low, middle, high;
};

// Returns the word to the left of a strip at the start of a row, which the border takes from the strip's own pixels.
template <int channels>
__device__ __forceinline__ std::uint32_t left_of_row(const Words& words, Border border) {
    if (border == Border::zero) return 0;
    if (border == Border::replicate) return words[1] << (channels == 3 ? 8 : 24);
    return channels == 3 ? __byte_perm(words[1], words[2], 0x5430) : words[1] << 16;
}
// Returns the word to the right of a strip at the end of a row.
template <int channels>
__device__ __forceinline__ std::uint32_t right_of_row(const Words& words, Border border) {
    if (border == Border::zero) return 0;
    if (border == Border::replicate) return words[strip_words] >> (channels == 3 ? 8 : 24);
    return channels == 3 ? __byte_perm(words[strip_words - 1], words[strip_words], 0x4432) : words[strip_words] >> 16;
}

// Reads the words of a strip, row by row.
template <int channels>
struct Source {
    const std::uint8_t* frame;
    std::int64_t row_stride;
    int width, height, column;
    Border border;
    bool words_aligned, strips_aligned;

    // Loads row y as words or, at the edges of the image, as bytes.
    __device__ __forceinline__ void load(int y, Words& words) const {
        const int from = border_index(y, height, border), row_bytes = width * channels;
        const auto* data = from < 0 ? nullptr : frame + from * row_stride;
        if (strips_aligned && data && column + 16 <= row_bytes) {
            const auto* strip = reinterpret_cast<const std::uint32_t*>(data + column);
            const auto own = __ldg(reinterpret_cast<const uint4*>(strip));
            words[1] = own.x, words[2] = own.y, words[3] = own.z, words[4] = own.w;
            words[0] = column > 0 ? __ldg(strip - 1) : left_of_row<channels>(words, border);
            if (column + 20 <= row_bytes)
                words[5] = __ldg(strip + strip_words);
            else if (column + 16 == row_bytes)
                words[5] = right_of_row<channels>(words, border);
            else
                words[5] = load_word(data, column + 16, width, channels, border, words_aligned);
        } else {
#pragma unroll 1
            for (int i = 0; i < strip_words + 2; ++i) {
                const auto word = load_word(data, column + 4 * (i - 1), width, channels, border, words_aligned);
#pragma unroll
                for (int at = 0; at < strip_words + 2; ++at)
                    if (at == i) words[at] = word;
            }
        }
    }
};

// Inserts a value into two sorted ones.
__device__ __forceinline__ void insert(const PairOrder& order, Pair value, Pair low, Pair high, Pair& first,
                                       Pair& second, Pair& third) {
    first = order.lower(value, low);
    const auto rest = order.upper(value, low, first);
    second = order.lower(rest, high);
    third = order.upper(rest, high, second);
}

// Returns the median of three pairs.
__device__ __forceinline__ Pair median_of_three(Pair a, Pair b, Pair c) {
    const auto low = PairOrder::lower(a, b), high = PairOrder::upper(a, b);
    return PairOrder::upper(low, PairOrder::lower(high, c));
}

// The pairs one pixel to the left and to the right of a pair.
struct Neighbours {
    Pair left, right;
};

// Returns the neighbours of the even bytes of word `i`; beside_odd() returns those of the odd bytes.
template <int channels>
__device__ __forceinline__ Neighbours beside_even(const Row& row, int i) {
    if (channels == 3) return {row.odd[i - 1], __byte_perm(row.odd[i], row.odd[i + 1], 0x5533)};
    return {__byte_perm(row.odd[i - 1], row.odd[i], 0x5533), row.odd[i]};
}
template <int channels>
__device__ __forceinline__ Neighbours beside_odd(const Row& row, int i) {
    if (channels == 3) return {__byte_perm(row.even[i - 1], row.even[i], 0x5533), row.even[i + 1]};
    return {row.even[i], __byte_perm(row.even[i], row.even[i + 1], 0x5533)};
}

// Returns the median of nine as the median of three values: the largest of the low ones, the median of the middle ones,
// and the smallest of the high ones of the three sorted columns.
__device__ __forceinline__ Pair median_of_columns(const Neighbours& low, Pair low_here, const Neighbours& middle,
                                                  Pair middle_here, const Neighbours& high, Pair high_here) {
    return median_of_three(PairOrder::upper(PairOrder::upper(low.left, low.right), low_here),
                           median_of_three(middle.left, middle.right, middle_here),
                           PairOrder::lower(PairOrder::lower(high.left, high.right), high_here));
}

// Computes and stores a row of medians: 16 bytes, or `bytes` at the end of a row.
template <int channels>
__device__ __forceinline__ void store_medians(const Sorted& rows, std::uint8_t* out, int bytes, bool aligned) {
    std::uint32_t words[strip_words];
#pragma unroll
    for (int i = 1; i <= strip_words; ++i) {
        const auto even = median_of_columns(beside_even<channels>(rows.low, i), rows.low.even[i],
                                            beside_even<channels>(rows.middle, i), rows.middle.even[i],
                                            beside_even<channels>(rows.high, i), rows.high.even[i]);
        const auto odd =
            median_of_columns(beside_odd<channels>(rows.low, i), rows.low.odd[i], beside_odd<channels>(rows.middle, i),
                              rows.middle.odd[i], beside_odd<channels>(rows.high, i), rows.high.odd[i]);
        words[i - 1] = __byte_perm(even, odd, 0x7351);
    }
    if (aligned && bytes >= 16) {
        *reinterpret_cast<uint4*>(out) = {words[0], words[1], words[2], words[3]};
        return;
    }
#pragma unroll
    for (int byte = 0; byte < 16; ++byte)
        if (byte < bytes) out[byte] = static_cast<std::uint8_t>(words[byte / 4] >> (byte % 4 * 8));
}

// Computes medians of size 3. blockIdx.x counts strips and bands of rows, blockIdx.y frames.
template <int channels>
__global__ void __launch_bounds__(threads, 5) median_of_nine(MedianImages images, Border border, bool words_aligned,
                                                             bool strips_aligned, bool out_aligned, PairOrder order) {
    const int row_bytes = images.width * channels, strips = (row_bytes + 15) / 16;
    const int index = static_cast<int>(blockIdx.x) * threads + static_cast<int>(threadIdx.x);
    const int column = index % strips * 16, first_row = index / strips * rows_per_thread;
    if (first_row >= images.height) return;
    const Source<channels> source{images.in.data + blockIdx.y * images.in.frame_stride,
                                  images.in.row_stride,
                                  images.width,
                                  images.height,
                                  column,
                                  border,
                                  words_aligned,
                                  strips_aligned};
    auto* out = images.out.data + blockIdx.y * images.out.frame_stride + first_row * images.out.row_stride + column;

    // Computes two rows of results at a time. Their windows share two rows, which are sorted only once. The next two
    // rows are read ahead.
    const int end_row = min(first_row + rows_per_thread, images.height);
    Words above_words, upper_words, lower_words, below_words;
    source.load(first_row - 1, above_words);
    source.load(first_row, upper_words);
    source.load(first_row + 1, lower_words);
    source.load(first_row + 2, below_words);
    auto above = row_of(above_words), upper = row_of(upper_words);
    for (int y = first_row; y < end_row; y += 2) {
        const auto lower = row_of(lower_words), below = row_of(below_words);
        if (y + 2 < end_row) {
            source.load(y + 3, lower_words);
            source.load(y + 4, below_words);
        }
        // The two common rows are sorted once; each result then inserts its third row.
        Sorted first, second;
#pragma unroll
        for (int i = 0; i < strip_words + 2; ++i) {
            const auto even_low = order.lower(upper.even[i], lower.even[i]);
            const auto even_high = order.upper(upper.even[i], lower.even[i], even_low);
            insert(order, above.even[i], even_low, even_high, first.low.even[i], first.middle.even[i],
                   first.high.even[i]);
            insert(order, below.even[i], even_low, even_high, second.low.even[i], second.middle.even[i],
                   second.high.even[i]);
            const auto odd_low = order.lower(upper.odd[i], lower.odd[i]);
            const auto odd_high = order.upper(upper.odd[i], lower.odd[i], odd_low);
            insert(order, above.odd[i], odd_low, odd_high, first.low.odd[i], first.middle.odd[i], first.high.odd[i]);
            insert(order, below.odd[i], odd_low, odd_high, second.low.odd[i], second.middle.odd[i], second.high.odd[i]);
        }
        store_medians<channels>(first, out, row_bytes - column, out_aligned);
        out += images.out.row_stride;
        if (y + 1 < end_row) store_medians<channels>(second, out, row_bytes - column, out_aligned);
        out += images.out.row_stride;
        // Move down by two rows.
        above = lower;
        upper = below;
    }
}

}  // namespace
}  // namespace median_three_kernels

// Passes a PairOrder to the kernel, so that the compiler does not know its factors.
void median_of_nine_on_device(const MedianImages& images, Border border, const cuda::Stream& stream) {
    using namespace median_three_kernels;
    const auto strips = cuda::parts(std::int64_t{images.width} * images.channels, 16);
    const auto bands = cuda::parts(images.height, rows_per_thread);
    const dim3 grid(cuda::blocks(strips * bands, threads), static_cast<unsigned>(images.frames));
    const auto kernel = images.channels == 3 ? median_of_nine<3> : median_of_nine<1>;
    cuda::Launch(stream, grid, threads)(kernel, images, border, images.in.aligned_to(4), images.in.aligned_to(16),
                                        images.out.aligned_to(16), PairOrder{});
}

}  // namespace framewire
