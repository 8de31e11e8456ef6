#pragma once

// For .cu files: rows of a strip of the image are copied to shared memory asynchronously while earlier rows are
// processed. Each row goes into a slot:
//
//   slot    | black or border | pixels of the image | border or black |
//           first_byte        0                     row end           first_byte + slot_bytes
//
// The kernel calls fetch() a few rows ahead, waits for the copy, and calls fill_border() if has_border().

#include "framewire/cuda/kernel/async_copy.cuh"
#include "framewire/filters/kernel/quads.cuh"

#include <cstdint>
#include <limits>

namespace framewire {

using cuda::chunk_bytes;

/// Copies bytes begin to end - 1 of a slot from a row that is not aligned, and clears the others. Not inlined, because
/// the unrolled code around it has to fit the instruction cache.
template <int threads>
__device__ __noinline__ void copy_bytes_to_slot(std::uint8_t* slot, const std::uint8_t* from, int begin, int end,
                                                int slot_bytes) {
    for (int byte = static_cast<int>(threadIdx.x) % threads; byte < slot_bytes; byte += threads)
        slot[byte] = byte >= begin && byte < end ? from[byte] : std::uint8_t{0};
}

/// Copies bytes begin to end - 1 of a row of results that do not fill whole chunks.
template <int threads>
__device__ __noinline__ void copy_bytes_from(const std::uint8_t* from, std::uint8_t* to, int begin, int end) {
    for (int byte = begin + static_cast<int>(threadIdx.x) % threads; byte < end; byte += threads) to[byte] = from[byte];
}

/// Copies the bytes of rows from `first_byte` (a multiple of chunk_bytes, may be negative) to `first_byte + slot_bytes`
/// into slots in shared memory, with `threads` threads. Windows read at most `most_border_bytes` outside the image.
template <int channels, int threads, int slot_bytes, int most_border_bytes>
class StagedRows {
public:
    static_assert(slot_bytes % chunk_bytes == 0 && slot_bytes < 1 << 15);

    /// The strip's windows read pixels `x_begin` to `x_end` - 1, as far as they lie in the slot. `chunks` says that all
    /// rows are aligned to chunk_bytes.
    __device__ StagedRows(const QuadSource& source, bool chunks, int frame, int first_byte, int x_begin, int x_end)
        : source_(source),
          first_(source.rows.row(frame, 0) + first_byte),
          skipped_bytes_(max(0, -first_byte)),
          row_bytes_(source.width * channels - first_byte),
          chunks_(chunks) {
#pragma unroll
        for (int at = 0; at < chunks_each; ++at) {
            const int byte = (thread() + at * threads) * chunk_bytes;
            there_[at] = byte < skipped_bytes_ ? 0 : max(0, min(chunk_bytes, row_bytes_ - byte));
        }
        const int left = source.border == Border::zero ? 0 : max(0, min(0, x_end) - x_begin);
        const int right = source.border == Border::zero ? 0 : max(0, x_end - max(source.width, x_begin));
#pragma unroll
        for (int at = 0; at < border_each; ++at) {
            border_[at] = nowhere | skipped_bytes_;  // a byte of the image
            const int byte = thread() + at * threads;
            if (byte >= (left + right) * channels) continue;
            const int pixel = byte / channels, channel = byte % channels;
            const int x = pixel < left ? x_begin + pixel : max(source.width, x_begin) + pixel - left;
            const int from = border_index(x, source.width, source.border) * channels + channel - first_byte;
            const int to = x * channels + channel - first_byte;
            // A window may read only some channels of the outermost pixels; channels outside the slot are not read.
            if (to >= 0 && to < slot_bytes && from >= 0 && from < slot_bytes) border_[at] = to << 16 | from;
        }
        has_border_ = left + right > 0;
    }

    /// Starts copying row `y` to a slot; a row outside the image is taken from the border or black.
    /// cuda::commit_copies() closes the group.
    __device__ void fetch(int y, std::uint8_t* slot) const {
        const int from_y = border_index(y, source_.height, source_.border);
        copy(first_ + from_y * source_.rows.row_stride, from_y < 0, slot);
    }

    /// As above for `count` rows that are `apart` rows apart, to slots that are `slots_apart` bytes apart.
    template <int count, int apart>
    __device__ void fetch(int y, std::uint8_t* slot, int slots_apart) const {
        if (y < 0 || y + (count - 1) * apart >= source_.height) {
#pragma unroll 1
            for (int row = 0; row < count; ++row) fetch(y + row * apart, slot + row * slots_apart);
            return;
        }
        const auto* from = first_ + y * source_.rows.row_stride;
#pragma unroll
        for (int row = 0; row < count; ++row) {
            copy(from, false, slot + row * slots_apart);
            from += apart * source_.rows.row_stride;
        }
    }

    /// Returns true if the strip reads pixels outside the image, so that fill_border() is needed for each slot.
    __device__ bool has_border() const { return has_border_; }

    /// Copies the border's pixels within a slot, once its row has arrived.
    __device__ void fill_border(std::uint8_t* slot) const {
        std::uint8_t bytes[border_each];
#pragma unroll
        for (int at = 0; at < border_each; ++at) bytes[at] = slot[border_[at] & 0xffff];
#pragma unroll
        for (int at = 0; at < border_each; ++at)
            if (border_[at] >= 0) slot[border_[at] >> 16] = bytes[at];
    }

private:
    // Chunks of a slot per thread.
    static constexpr int chunks_each = (slot_bytes / chunk_bytes + threads - 1) / threads;
    static constexpr int nowhere = std::numeric_limits<int>::min();
    // Bytes of the border per thread.
    static constexpr int border_each = (most_border_bytes + threads - 1) / threads;

    // Index among the `threads` that stage a row together.
    static __device__ int thread() { return static_cast<int>(threadIdx.x) % threads; }

    // Copies one row: asynchronously in chunks, or byte by byte if rows are not aligned.
    __device__ void copy(const std::uint8_t* from, bool black, std::uint8_t* slot) const {
        if (!chunks_)
            return copy_bytes_to_slot<threads>(slot, from, skipped_bytes_, black ? 0 : row_bytes_, slot_bytes);
#pragma unroll
        for (int at = 0; at < chunks_each; ++at) {
            const int byte = (thread() + at * threads) * chunk_bytes;
            if ((at + 1) * threads * chunk_bytes <= slot_bytes || byte < slot_bytes)
                cuda::copy_chunk_async(slot + byte, from + byte, black ? 0 : there_[at]);
        }
    }

    const QuadSource& source_;
    const std::uint8_t* first_;  // a slot's first byte of row 0; may lie before the row
    int skipped_bytes_;          // bytes of a slot before the row begins
    int row_bytes_;              // bytes from the start of a slot to the end of the row
    bool chunks_, has_border_;
    int there_[chunks_each];   // number of bytes of each chunk that lie in the row
    int border_[border_each];  // per border byte: its source in the slot, and its target in the upper half
};

/// Stores rows of results, at most `most_bytes` each, from shared memory to the image.
template <int threads, int most_bytes>
class ResultRows {
public:
    /// `count` bytes of each row, starting at `first` in row 0. With `chunks`, every row starts at a multiple of
    /// chunk_bytes.
    __device__ ResultRows(std::uint8_t* first, std::int64_t row_stride, int count, bool chunks)
        : first_(first), row_stride_(row_stride), count_(count), chunks_(chunks) {}
    /// `count` bytes of each row of a frame, from `byte` on.
    __device__ ResultRows(const cuda::KernelImage<std::uint8_t>& rows, bool chunks, int frame, int byte, int count)
        : ResultRows(rows.row(frame, 0) + byte, rows.row_stride, count, chunks) {}

    /// Stores row `y`. `from` is aligned to chunk_bytes.
    __device__ void store(const std::uint8_t* from, int y) const { copy(from, first_ + y * row_stride_); }

    /// As above for `count` rows that are `apart` rows apart; rows at or beyond `y_end` are skipped.
    template <int count, int apart>
    __device__ void store(const std::uint8_t* from, int from_apart, int y, int y_end) const {
        auto* to = first_ + y * row_stride_;
#pragma unroll
        for (int row = 0; row < count; ++row) {
            if (y + row * apart < y_end) copy(from + row * from_apart, to);
            to += apart * row_stride_;
        }
    }

private:
    // Stores one row: whole chunks as vectors, the remainder byte by byte.
    __device__ void copy(const std::uint8_t* from, std::uint8_t* to) const {
        const int thread = static_cast<int>(threadIdx.x) % threads, whole = chunks_ ? count_ / chunk_bytes : 0;
#pragma unroll
        for (int at = 0; at < (most_bytes / chunk_bytes + threads - 1) / threads; ++at)
            if (const int chunk = thread + at * threads; chunk < whole)
                reinterpret_cast<uint4*>(to)[chunk] = reinterpret_cast<const uint4*>(from)[chunk];
        if (whole * chunk_bytes < count_) copy_bytes_from<threads>(from, to, whole * chunk_bytes, count_);
    }

    std::uint8_t* first_;
    std::int64_t row_stride_;
    int count_;
    bool chunks_;
};

}  // namespace framewire
