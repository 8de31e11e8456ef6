#pragma once

// Comparison of a block of 64x64 pixels with the reference by one thread block. For .cu files only.

#include "framewire/cuda/kernel/kernel_image.hpp"
#include "framewire/cuda/kernel/warp.cuh"
#include "framewire/delta/blocks/grid.hpp"
#include "framewire/delta/changes.hpp"

#include <cstdint>

namespace framewire::delta {

/// Number of bytes off by more than the threshold, and the errors of the remaining bytes.
struct Errors {
    std::uint32_t count = 0, largest = 0, squared = 0;

    /// Returns the sum over the lanes of a warp. `squared` cannot overflow: a block has at most 12288 bytes with a
    /// squared error of at most 254^2 each.
    __device__ Errors of_warp() const {
        return {cuda::warp_sum(count), cuda::warp_max(largest), cuda::warp_sum(squared)};
    }
    /// Adds the errors of another area.
    __device__ void add(const Errors& other) {
        count += other.count;
        largest = max(largest, other.largest);
        squared += other.squared;
    }
    /// Adds the errors, but not the count, to the summary of a stream. Atomic.
    __device__ void add_errors_to(Summary& summary) const {
        if (largest) atomicMax(&summary.max_error, largest);
        static_assert(sizeof(summary.squared_error) == sizeof(unsigned long long));
        if (squared)
            atomicAdd(reinterpret_cast<unsigned long long*>(&summary.squared_error),
                      static_cast<unsigned long long>(squared));
    }
};

/// Number of bytes that a thread loads at once; rows must be aligned to it for vector loads.
inline constexpr int compared_bytes = 16;

/// A block in both pictures.
struct ComparedBlock {
    const cuda::KernelImage<const std::uint8_t>&current, &reference;
    int stream;
    BlockPlace place;
};

/// The bytes of a block that one thread holds in registers, 16 in a group. Four threads share a row, and each has every
/// fourth group of it; the thread block covers threads / 4 rows at once. Each byte is read once. If `vectors` is set,
/// rows are aligned and a whole block is read with 16-byte loads.
///
///     thread    0 | 1 | 2 | 3 | 0 | ...   groups of 16 bytes in row 0
///               4 | 5 | 6 | 7 | 4 | ...   row 1
template <int channels, bool vectors, int threads>
class ComparedBytes {
public:
    /// Loads the thread's bytes of both pictures. Bytes outside the block load as 0 in both, so they do not differ.
    __device__ explicit ComparedBytes(const ComparedBlock& at)
        : whole_(vectors && at.place.width == block_side),
          row_bytes_(at.place.width * channels),
          rows_(at.place.height) {
        load(at.current, at, now_);
        load(at.reference, at, held_);
    }

    /// Returns the errors of the thread's bytes. Not reduced over threads.
    __device__ Errors compare(std::uint32_t threshold) const {
        // Fast path: usually no byte is off by more than the threshold. The maxima are taken in lanes of 16 bits, of
        // which only the high byte counts.
        std::uint32_t squared = 0, largest_odd = 0, largest_even = 0;
#pragma unroll
        for (int i = 0; i < groups; ++i)
#pragma unroll
            for (int word = 0; word < 4; ++word) {
                const auto distance = __vabsdiffu4(now_[i][word], held_[i][word]);
                squared = __dp4a(distance, distance, squared);
                largest_odd = __vmaxu2(largest_odd, distance);
                largest_even = __vmaxu2(largest_even, distance << 8);
            }
        const auto largest = __vmaxu2(largest_odd, largest_even) & 0xFF00FF00u;
        const auto of_both = max(largest >> 24, largest >> 8 & 0xFFu);
        return of_both <= threshold ? Errors{0, of_both, squared} : count_changes(threshold);
    }

private:
    static constexpr int threads_per_row = 4, rows_at_once = threads / threads_per_row;
    static constexpr int groups = block_side / rows_at_once * channels;
    static_assert(threads_per_row * channels * compared_bytes == block_side * channels);

    static __device__ int y_of(int i) {
        return static_cast<int>(threadIdx.x) / threads_per_row + i / channels * rows_at_once;
    }
    static __device__ int at_of(int i) {
        return (static_cast<int>(threadIdx.x) % threads_per_row + i % channels * threads_per_row) * compared_bytes;
    }
    __device__ void load(const cuda::KernelImage<const std::uint8_t>& from, const ComparedBlock& at,
                         std::uint32_t (&to)[groups][4]) const {
        const auto* const first = from.row(at.stream, at.place.y) + std::int64_t{at.place.x} * channels;
        if (whole_) {
#pragma unroll
            for (int i = 0; i < groups; ++i) {
                uint4 words{};
                if (y_of(i) < rows_)
                    words = *reinterpret_cast<const uint4*>(first + y_of(i) * from.row_stride + at_of(i));
                to[i][0] = words.x, to[i][1] = words.y, to[i][2] = words.z, to[i][3] = words.w;
            }
            return;
        }
#pragma unroll
        for (int i = 0; i < groups; ++i) {
            const auto* const bytes = first + y_of(i) * from.row_stride + at_of(i);
            to[i][0] = to[i][1] = to[i][2] = to[i][3] = 0;
#pragma unroll
            for (int byte = 0; byte < compared_bytes; ++byte)
                if (y_of(i) < rows_ && at_of(i) + byte < row_bytes_)
                    to[i][byte / 4] |= std::uint32_t{bytes[byte]} << (byte % 4 * 8);
        }
    }

    // Slow path of compare(): masks out the bytes that are off by more than the threshold and counts them.
    __device__ Errors count_changes(std::uint32_t threshold) const {
        const auto limit = threshold * 0x01010101u;
        Errors errors;
        std::uint32_t largest = 0;
#pragma unroll
        for (int i = 0; i < groups; ++i)
#pragma unroll
            for (int word = 0; word < 4; ++word) {
                const auto distance = __vabsdiffu4(now_[i][word], held_[i][word]);
                const auto mask = __vcmpgtu4(distance, limit);
                const auto error = distance & ~mask;
                errors.count += __popc(mask) / 8;
                errors.squared = __dp4a(error, error, errors.squared);
                largest = __vmaxu4(largest, error);
            }
        const auto pairs = __vmaxu2(largest & 0x00FF00FFu, largest >> 8 & 0x00FF00FFu);
        errors.largest = max(pairs & 0xFFFFu, pairs >> 16);
        return errors;
    }

    std::uint32_t now_[groups][4], held_[groups][4];
    bool whole_;
    int row_bytes_, rows_;
};

}  // namespace framewire::delta
