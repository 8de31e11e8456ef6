#pragma once

#include "framewire/core/view.hpp"
#include "framewire/cuda/kernel.cuh"
#include "framewire/cuda/kernel_image.hpp"
#include "framewire/filters/filter.hpp"
#include "framewire/filters/window.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

// For .cu files: functions for four pixels of a row at a time ("quads"), with one 32-bit word of bytes per channel.

namespace framewire {

/// Pixels per quad.
inline constexpr int quad_px = 4;

/// Returns the number of bands into which a plan divides an image so that all strips of all frames together give at
/// least four blocks per multiprocessor.
inline int bands_for_all(int strips, int frames) {
    const int wanted_blocks = 4 * cuda::limits().multiprocessors;
    return static_cast<int>((wanted_blocks - 1) / (std::int64_t{strips} * frames)) + 1;
}

/// Returns the height of a band if the image is divided into `bands` bands or slightly fewer: a multiple of
/// `step_rows`, equal for all bands but the last.
inline int band_rows(int height, int bands, int step_rows) {
    return cuda::parts(cuda::parts(height, bands), step_rows) * step_rows;
}

/// Calls launch(job, grid) for as many frames at a time as fit a grid. Each frame takes `across` x `down` blocks and a
/// depth of `blocks_per_frame`. The function advances the images `in` and `out` of the job from call to call.
template <class Job, class Launch>
void for_grids(Job& job, int across, int down, int frames, int blocks_per_frame, Launch&& launch) {
    const auto in = job.in.rows.data;
    const auto out = job.out.data;
    cuda::for_frames(frames, blocks_per_frame, [&](int first, int some_frames) {
        job.in.rows.data = in + first * job.in.rows.frame_stride;
        job.out.data = out + first * job.out.frame_stride;
        launch(job, dim3(static_cast<unsigned>(across), static_cast<unsigned>(down),
                         static_cast<unsigned>(some_frames * blocks_per_frame)));
    });
}

/// Four adjacent pixels, channel by channel, with pixel 0 in the lowest byte.
template <int channels>
struct Quad {
    /// One word per channel.
    std::uint32_t plane[channels];
};

/// Computes __byte_perm() on host and device. From the highest to the lowest byte of the result, a digit of the
/// selector names its source: 0 to 3 for the bytes of `low`, 4 to 7 for those of `high`.
FRAMEWIRE_HOST_DEVICE constexpr std::uint32_t byte_perm(std::uint32_t low, std::uint32_t high, std::uint32_t selector) {
#ifdef __CUDA_ARCH__
    return __byte_perm(low, high, selector);
#else
    std::uint32_t result = 0;
    for (int byte = 0; byte < 4; ++byte) {
        const auto from = selector >> (4 * byte) & 7;
        result |= ((from < 4 ? low >> (8 * from) : high >> (8 * (from - 4))) & 255) << (8 * byte);
    }
    return result;
#endif
}

/// Splits three words with four BGR pixels into channels.
FRAMEWIRE_HOST_DEVICE constexpr Quad<3> planes_of(std::uint32_t w0, std::uint32_t w1, std::uint32_t w2) {
    return {{byte_perm(byte_perm(w0, w1, 0x0630), w2, 0x5210), byte_perm(byte_perm(w0, w1, 0x0741), w2, 0x6210),
             byte_perm(byte_perm(w0, w1, 0x0052), w2, 0x7410)}};
}

/// Three words with four BGR pixels.
struct BgrWords {
    std::uint32_t word[3];
};

/// Joins the channels of four pixels to BGR words; the inverse of planes_of().
FRAMEWIRE_HOST_DEVICE constexpr BgrWords interleave(const Quad<3>& quad) {
    const auto b = quad.plane[0], g = quad.plane[1], r = quad.plane[2];
    return {{byte_perm(byte_perm(b, g, 0x1040), r, 0x3410), byte_perm(byte_perm(b, g, 0x6205), r, 0x3250),
             byte_perm(byte_perm(b, g, 0x0730), r, 0x7216)}};
}

#ifndef __CUDA_ARCH__
// Test data: bytes b0 g0 r0 b1, g1 r1 b2 g2, r2 b3 g3 r3. Channel c of pixel p has the value 0x10 * p + c.
static_assert(planes_of(0x10'02'01'00, 0x21'20'12'11, 0x32'31'30'22).plane[0] == 0x30'20'10'00);
static_assert(planes_of(0x10'02'01'00, 0x21'20'12'11, 0x32'31'30'22).plane[1] == 0x31'21'11'01);
static_assert(planes_of(0x10'02'01'00, 0x21'20'12'11, 0x32'31'30'22).plane[2] == 0x32'22'12'02);
static_assert(interleave({{0x30'20'10'00, 0x31'21'11'01, 0x32'22'12'02}}).word[0] == 0x10'02'01'00);
static_assert(interleave({{0x30'20'10'00, 0x31'21'11'01, 0x32'22'12'02}}).word[1] == 0x21'20'12'11);
static_assert(interleave({{0x30'20'10'00, 0x31'21'11'01, 0x32'22'12'02}}).word[2] == 0x32'31'30'22);
#endif

/// Input image of a window filter, extended beyond its edges by the border.
struct QuadSource {
    /// The image.
    cuda::KernelImage<const std::uint8_t> rows;
    /// Size of the image, in pixels.
    int width, height;
    /// Source of pixels outside the image.
    Border border;
    bool words;  ///< true if every row starts at a multiple of 4 bytes

    /// Leaves the members uninitialised; for members of jobs.
    QuadSource() = default;
    /// Sets everything but the image; for plans.
    QuadSource(const Shape& shape, Border beyond)
        : width(shape.width), height(shape.height), border(beyond), words(false) {}
    /// Sets the image of the next launch.
    void set(DeviceView<const std::uint8_t> view) {
        rows = cuda::KernelImage(view);
        words = rows.aligned_to(4);
    }

    /// Returns true if pixels x to x + 3 can be read as words. `x` is a multiple of 4.
    __device__ bool has_words(int x) const { return words && x >= 0 && x + quad_px <= width; }

    /// Returns the words of pixels x to x + 3 of row y. Requires has_words(x). Free of branches, so that the loads of
    /// consecutive calls overlap. `y` may lie outside the image.
    template <int channels>
    __device__ Quad<channels> load_words(int frame, int y, int x) const {
        const int from = border_index(y, height, border);
        const auto* words = reinterpret_cast<const std::uint32_t*>(rows.row(frame, from < 0 ? 0 : from) + x * channels);
        Quad<channels> quad;
#pragma unroll
        for (int word = 0; word < channels; ++word) {
            const auto loaded = __ldg(words + word);
            quad.plane[word] = from < 0 ? 0 : loaded;
        }
        return quad;
    }

    /// Returns pixels x to x + 3 of row y, channel by channel; all may lie outside the image.
    template <int channels>
    __device__ Quad<channels> load_pixels(int frame, int y, int x) const {
        Quad<channels> quad{};
        const int from_y = border_index(y, height, border);
        if (from_y < 0) return quad;
        const auto* row = rows.row(frame, from_y);
        for (int pixel = 0; pixel < quad_px; ++pixel) {
            const int from_x = border_index(x + pixel, width, border);
            if (from_x < 0) continue;
#pragma unroll
            for (int channel = 0; channel < channels; ++channel)
                quad.plane[channel] |= static_cast<std::uint32_t>(row[from_x * channels + channel]) << (8 * pixel);
        }
        return quad;
    }
};

/// Splits words from load_words() into channels.
template <int channels>
__device__ Quad<channels> planes_of(const Quad<channels>& words) {
    if constexpr (channels == 3)
        return planes_of(words.plane[0], words.plane[1], words.plane[2]);
    else
        return words;
}

/// Calls store(row, quad) with pixels x to x + 3 of the rows first, first + step, ... below `count`, counted from row y
/// of the image. `at_once` loads are in flight at a time.
template <int channels, int at_once, class Store>
__device__ void load_column(const QuadSource& source, int frame, int y, int x, int first, int step, int count,
                            Store&& store) {
    if (!source.has_words(x)) {
        for (int row = first; row < count; row += step) store(row, source.load_pixels<channels>(frame, y + row, x));
        return;
    }
    for (int row = first; row < count; row += at_once * step) {
        Quad<channels> words[at_once];
#pragma unroll
        for (int at = 0; at < at_once; ++at)
            words[at] = source.load_words<channels>(frame, y + min(row + at * step, count - 1), x);
#pragma unroll
        for (int at = 0; at < at_once; ++at)
            if (row + at * step < count) store(row + at * step, planes_of(words[at]));
    }
}

/// Stores pixels x to x + 3 of a row, as far as they lie within its width. If `aligned`, rows start at multiples of 4
/// bytes.
template <int channels>
__device__ void store_quad(std::uint8_t* row, int x, int width, bool aligned, const Quad<channels>& quad) {
    if (aligned && x + quad_px <= width) {
        auto* words = reinterpret_cast<std::uint32_t*>(row + x * channels);
        if constexpr (channels == 3) {
            const auto bgr = interleave(quad);
            words[0] = bgr.word[0];
            words[1] = bgr.word[1];
            words[2] = bgr.word[2];
        } else {
            words[0] = quad.plane[0];
        }
        return;
    }
    for (int pixel = 0; pixel < quad_px && x + pixel < width; ++pixel)
#pragma unroll
        for (int channel = 0; channel < channels; ++channel)
            row[(x + pixel) * channels + channel] = static_cast<std::uint8_t>(quad.plane[channel] >> (8 * pixel));
}

}  // namespace framewire

// For .cu files: rows of a strip of the image are copied to shared memory asynchronously while earlier rows are
// processed. Each row goes into a slot:
//
//   slot    | black or border | pixels of the image | border or black |
//           first_byte        0                     row end           first_byte + slot_bytes
//
// The kernel calls fetch() a few rows ahead, waits for the copy, and calls fill_border() if has_border().

namespace framewire {

using cuda::chunk_bytes;

/// Copies bytes begin to end - 1 of a slot from a row that is not aligned, and clears the slot's other bytes. Not
/// inlined, because the unrolled code around it has to fit the instruction cache.
template <int threads>
__device__ __noinline__ void copy_bytes_to_slot(std::uint8_t* slot, const std::uint8_t* from, int begin, int end,
                                                int slot_bytes) {
    for (int byte = static_cast<int>(threadIdx.x) % threads; byte < slot_bytes; byte += threads)
        slot[byte] = byte >= begin && byte < end ? from[byte] : std::uint8_t{0};
}

/// Copies bytes begin to end - 1 of a row of results, which do not fill whole chunks.
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

    /// The strip's windows read pixels `x_begin` to `x_end` - 1, as far as they lie in the slot. If `chunks`, all rows
    /// are aligned to chunk_bytes.
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
            border_[at] = nowhere | skipped_bytes_;  // no target; the source is any byte of the image
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

    /// Starts copying row `y` to a slot. A row outside the image is replaced by the border's row or by black. The
    /// caller closes the group of copies with cuda::commit_copies().
    __device__ void fetch(int y, std::uint8_t* slot) const {
        const int from_y = border_index(y, source_.height, source_.border);
        copy(first_ + from_y * source_.rows.row_stride, from_y < 0, slot);
    }

    /// Does the same for `count` rows that are `apart` rows apart, to slots that are `slots_apart` bytes apart.
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
    // Number of chunks of a slot per thread.
    static constexpr int chunks_each = (slot_bytes / chunk_bytes + threads - 1) / threads;
    static constexpr int nowhere = std::numeric_limits<int>::min();
    // Number of bytes of the border per thread.
    static constexpr int border_each = (most_border_bytes + threads - 1) / threads;

    // Returns the thread's index among the `threads` that stage a row together.
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
    const std::uint8_t* first_;  // address of a slot's first byte in row 0; may lie before the row
    int skipped_bytes_;          // number of bytes in a slot before the row begins
    int row_bytes_;              // number of bytes from the start of a slot to the end of the row
    bool chunks_, has_border_;
    int there_[chunks_each];   // number of bytes of each chunk that lie in the row
    int border_[border_each];  // per border byte: source in the slot in the lower half, target in the upper half
};

/// Stores rows of results, at most `most_bytes` each, from shared memory to the image.
template <int threads, int most_bytes>
class ResultRows {
public:
    /// Prepares to store `count` bytes per row, starting at `first` in row 0. If `chunks`, every row starts at a
    /// multiple of chunk_bytes.
    __device__ ResultRows(std::uint8_t* first, std::int64_t row_stride, int count, bool chunks)
        : first_(first), row_stride_(row_stride), count_(count), chunks_(chunks) {}
    /// Prepares to store `count` bytes per row of a frame, starting at `byte`.
    __device__ ResultRows(const cuda::KernelImage<std::uint8_t>& rows, bool chunks, int frame, int byte, int count)
        : ResultRows(rows.row(frame, 0) + byte, rows.row_stride, count, chunks) {}

    /// Stores row `y`. `from` is aligned to chunk_bytes.
    __device__ void store(const std::uint8_t* from, int y) const { copy(from, first_ + y * row_stride_); }

    /// Does the same for `count` rows that are `apart` rows apart; rows at or beyond `y_end` are skipped.
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

// For .cu files: how a warp stores BGR pixels if every lane has 16 of them.

namespace framewire {

/// Pixels per lane, which are 48 bytes of BGR.
inline constexpr int lane_px = 16;

/// Maximum number of threads in a block that calls store_by_warp().
inline constexpr int warp_store_threads = 256;

/// Returns true, for all lanes of a warp or for none, if each lane has 16 pixels of one row of `row_px` and the lanes'
/// pixels are adjacent. `x` is the lane's first pixel.
inline __device__ bool is_whole_warp(std::int64_t x, std::int64_t row_px) {
    const auto first = x - threadIdx.x % 32 * lane_px;
    return first >= 0 && first + 32 * lane_px <= row_px;
}

/// Stores 48 bytes per lane. `to` is the lane's own address, a multiple of 16 and 48 bytes after that of the previous
/// lane. The bytes are exchanged between lanes in shared memory, so that each store instruction of the warp writes 512
/// contiguous bytes; direct stores would write every vector as a separate half sector. Call it with all lanes of a
/// warp, any number of times.
inline __device__ void store_by_warp(const uint4& a, const uint4& b, const uint4& c, std::uint8_t* to) {
    __shared__ uint4 staged[warp_store_threads / 32][96];
    const auto lane = threadIdx.x % 32;
    auto* of_warp = staged[threadIdx.x / 32];
    // A lane's 48 bytes start 12 banks after those of the previous lane, so eight lanes do not conflict.
    of_warp[3 * lane] = a;
    of_warp[3 * lane + 1] = b;
    of_warp[3 * lane + 2] = c;
    __syncwarp();
    auto* vectors = reinterpret_cast<uint4*>(to - 48 * lane);
#pragma unroll
    for (int third = 0; third < 3; ++third) vectors[32 * third + lane] = of_warp[32 * third + lane];
    __syncwarp();
}

}  // namespace framewire

// For .cu files: filters whose windows reach only a few pixels, run by warps that slide down strips of the image
// independently of each other.
//
//   lane        0        1   2   ...  30        31
//   pixels   read only | results ............ | read only      8 (BGR) or 16 (gray) per lane
//
// Lanes exchange pixels by shuffles. Rows arrive in shared memory through StagedRows and leave through ResultRows.

namespace framewire {

/// Layout of a warp on a strip. The first and the last lane have no results and only supply pixels to their neighbours'
/// windows. A lane has at least as many pixels as a window reaches to one side.
template <int channels>
struct WarpStrip {
    /// Pixels per lane.
    static constexpr int lane_px = channels == 3 ? 8 : 16;
    /// Size of a lane's pixels, in bytes and in 32-bit words.
    static constexpr int lane_bytes = lane_px * channels, lane_words = lane_bytes / 4;
    /// Number of pixels and of bytes in a row of a strip's results.
    static constexpr int out_px = 30 * lane_px, out_bytes = 30 * lane_bytes;
    // Padding before the first lane, so that the second one is aligned.
    static constexpr int lead_bytes = (chunk_bytes - lane_bytes % chunk_bytes) % chunk_bytes;

    /// Size of a staged row, in bytes.
    static constexpr int slot_bytes = (lead_bytes + 32 * lane_bytes + chunk_bytes - 1) / chunk_bytes * chunk_bytes;
    static_assert(out_bytes % chunk_bytes == 0);

    /// Returns the offset in a row, possibly negative, at which slots start for results that start with pixel `x`.
    static __device__ int first_byte(int x) { return (x - lane_px) * channels - lead_bytes; }

    /// Returns the thread's index in its warp.
    static __device__ int lane() { return static_cast<int>(threadIdx.x) % 32; }

    /// Loads this lane's pixels of a staged row.
    static __device__ void load(const std::uint8_t* slot, std::uint32_t (&words)[lane_words]) {
        const auto* from = slot + lead_bytes + lane() * lane_bytes;
        if constexpr (lane_bytes % 16 == 0) {
            const auto four = *reinterpret_cast<const uint4*>(from);
            words[0] = four.x;
            words[1] = four.y;
            words[2] = four.z;
            words[3] = four.w;
        } else {
#pragma unroll
            for (int word = 0; word < lane_words; word += 2) {
                const auto two = reinterpret_cast<const uint2*>(from)[word / 2];
                words[word] = two.x;
                words[word + 1] = two.y;
            }
        }
    }

    /// Returns true if this lane has results.
    static __device__ bool has_result() { return lane() >= 1 && lane() <= 30; }

    /// Stores this lane's pixels of a row of results to `row`, which has out_bytes. Only for lanes with results.
    static __device__ void store(const std::uint32_t (&words)[lane_words], std::uint8_t* row) {
        auto* to = row + (lane() - 1) * lane_bytes;
        if constexpr (lane_bytes % 16 == 0) {
            *reinterpret_cast<uint4*>(to) = {words[0], words[1], words[2], words[3]};
        } else {
#pragma unroll
            for (int word = 0; word < lane_words; word += 2)
                reinterpret_cast<uint2*>(to)[word / 2] = {words[word], words[word + 1]};
        }
    }
};

/// Parameters shared by all warps of a launch. settle_warps() sets everything but the images.
struct WarpJob {
    /// Input image with its border.
    QuadSource in;
    /// Result.
    cuda::KernelImage<std::uint8_t> out;
    bool in_chunks, out_chunks;    ///< true if the rows of `in` and of `out` start at multiples of chunk_bytes
    int strips, bands, band_rows;  ///< number of strips and of bands per frame; rows per band
};

/// Part of the result that one warp computes. If `y_end` is 0, the warp has nothing to do.
struct WarpPart {
    /// Frame, strip, and rows y to y_end - 1.
    int frame, strip, y, y_end;

    /// Returns the part of the calling warp, which follows from its index in the grid.
    template <int warps_per_block>
    static __device__ WarpPart of(const WarpJob& job) {
        const int number = static_cast<int>(blockIdx.x) * warps_per_block + static_cast<int>(threadIdx.x) / 32;
        const int strip = number % job.strips, band = number / job.strips;
        if (band >= job.bands) return {};
        return {static_cast<int>(blockIdx.z), strip, band * job.band_rows,
                min((band + 1) * job.band_rows, job.in.height)};
    }
};

/// Returns the number of bands into which to divide an image of `rows` rows for the shortest time, estimated as rounds
/// of parts times rows per part. Every band first reads `more_rows` rows for its windows. `each` is the number of
/// strips in all frames, which are divided in the same way, and the GPU runs `at_once` parts at a time.
inline int best_bands(int rows, int more_rows, std::int64_t each, std::int64_t at_once) {
    constexpr int most_bands = 64;
    int best = 1;
    std::int64_t least_cost = std::numeric_limits<std::int64_t>::max();
    for (int bands = 1; bands <= std::min(most_bands, rows); ++bands) {
        const auto cost = (each * bands + at_once - 1) / at_once * (cuda::parts(rows, bands) + more_rows);
        if (cost >= least_cost) continue;
        least_cost = cost;
        best = bands;
    }
    return best;
}

/// Sets up the job of a plan: divides images of a shape into `strips` and into bands whose height is a multiple of
/// `step_rows`. `blocks` run on each multiprocessor at a time; windows read `more_rows` rows besides their own.
template <int warps_per_block>
void settle_warps(WarpJob& job, const Shape& shape, Border border, int strips, int blocks, int step_rows,
                  int more_rows) {
    job.in = QuadSource(shape, border);
    job.strips = strips;
    const std::int64_t at_once = std::int64_t{warps_per_block} * blocks * cuda::limits().multiprocessors;
    const int bands = best_bands(shape.height, more_rows, std::int64_t{strips} * shape.frames, at_once);
    job.band_rows = band_rows(shape.height, bands, step_rows);
    job.bands = cuda::parts(shape.height, job.band_rows);
}

/// Calls launch(job, grid) with a job from settle_warps() and the images, for as many frames at a time as fit a grid.
template <int warps_per_block, class Job, class Launch>
void launch_warps(Job job, const FilterImages<MemorySpace::device>& images, Launch&& launch) {
    job.in.set(images.in);
    job.out = cuda::KernelImage(images.out);
    job.in_chunks = job.in.rows.aligned_to(chunk_bytes);
    job.out_chunks = job.out.aligned_to(chunk_bytes);
    for_grids(job, cuda::parts(job.strips * job.bands, warps_per_block), 1, images.in.shape().frames, 1, launch);
}

}  // namespace framewire
