#pragma once

// Only for .cu files: four pixels of a row at a time, one word of bytes for each channel.

#include "framewire/core/view.hpp"
#include "framewire/cuda/kernel/grid.cuh"
#include "framewire/cuda/kernel/kernel_image.hpp"
#include "framewire/filters/border.hpp"

#include <cstdint>

namespace framewire {

inline constexpr int quad_px = 4;

/// The bands an image must be cut into so that its strips make four blocks for each multiprocessor. For plans.
inline int bands_for_all(int strips, int frames) {
    const int wanted_blocks = 4 * cuda::multiprocessors();
    return static_cast<int>((wanted_blocks - 1) / (std::int64_t{strips} * frames)) + 1;
}

/// The height of `bands` bands or a few less, all but the last of one height and that a multiple of `step_rows`.
inline int band_rows(int height, int bands, int step_rows) {
    return cuda::parts(cuda::parts(height, bands), step_rows) * step_rows;
}

/// Calls launch(job, grid) for as many frames at a time as a grid has room for; each frame takes `across` x `down` and
/// `blocks_per_frame` in the grid's depth. A job has `in` and `out`, which it goes through.
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

/// Pixel 0 is in the lowest byte.
template <int channels>
struct Quad {
    std::uint32_t plane[channels];
};

/// The three words of four BGR pixels, channel by channel, and back. A selector of __byte_perm names the result's bytes
/// from the highest to the lowest: 0 to 3 of its first word, 4 to 7 of its second.
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

FRAMEWIRE_HOST_DEVICE constexpr Quad<3> planes_of(std::uint32_t w0, std::uint32_t w1, std::uint32_t w2) {
    return {{byte_perm(byte_perm(w0, w1, 0x0630), w2, 0x5210), byte_perm(byte_perm(w0, w1, 0x0741), w2, 0x6210),
             byte_perm(byte_perm(w0, w1, 0x0052), w2, 0x7410)}};
}

struct BgrWords {
    std::uint32_t word[3];
};

FRAMEWIRE_HOST_DEVICE constexpr BgrWords interleave(const Quad<3>& quad) {
    const auto b = quad.plane[0], g = quad.plane[1], r = quad.plane[2];
    return {{byte_perm(byte_perm(b, g, 0x1040), r, 0x3410), byte_perm(byte_perm(b, g, 0x6205), r, 0x3250),
             byte_perm(byte_perm(b, g, 0x0730), r, 0x7216)}};
}

#ifndef __CUDA_ARCH__
// b0 g0 r0 b1, g1 r1 b2 g2, r2 b3 g3 r3 with pixel p's channels numbered 0x10 * p + channel.
static_assert(planes_of(0x10'02'01'00, 0x21'20'12'11, 0x32'31'30'22).plane[0] == 0x30'20'10'00);
static_assert(planes_of(0x10'02'01'00, 0x21'20'12'11, 0x32'31'30'22).plane[1] == 0x31'21'11'01);
static_assert(planes_of(0x10'02'01'00, 0x21'20'12'11, 0x32'31'30'22).plane[2] == 0x32'22'12'02);
static_assert(interleave({{0x30'20'10'00, 0x31'21'11'01, 0x32'22'12'02}}).word[0] == 0x10'02'01'00);
static_assert(interleave({{0x30'20'10'00, 0x31'21'11'01, 0x32'22'12'02}}).word[1] == 0x21'20'12'11);
static_assert(interleave({{0x30'20'10'00, 0x31'21'11'01, 0x32'22'12'02}}).word[2] == 0x32'31'30'22);
#endif

/// The input of a window: rows and pixels outside the image are its border's.
struct QuadSource {
    cuda::KernelImage<const std::uint8_t> rows;
    int width, height;
    Border border;
    bool words;  ///< every row begins at a multiple of 4

    QuadSource() = default;
    /// For images to come, in plans.
    QuadSource(const Shape& shape, Border beyond)
        : width(shape.width), height(shape.height), border(beyond), words(false) {}
    /// For this one.
    void set(DeviceView<const std::uint8_t> view) {
        rows = cuda::KernelImage(view);
        words = rows.aligned_to(4);
    }

    /// Whether pixels x to x + 3, x a multiple of 4, can be read as words.
    __device__ bool has_words(int x) const { return words && x >= 0 && x + quad_px <= width; }

    /// Pixels x to x + 3 of row y, which has_words(x) is true for. Nothing in here branches, so that several calls
    /// after each other have their loads under way together.
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

    /// Pixels x to x + 3 of row y, wherever they are, channel by channel.
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

/// What load_words gave, channel by channel.
template <int channels>
__device__ Quad<channels> planes_of(const Quad<channels>& words) {
    if constexpr (channels == 3)
        return planes_of(words.plane[0], words.plane[1], words.plane[2]);
    else
        return words;
}

/// Calls store(row, quad) with pixels x to x + 3 of each of the rows first, first + step, ... below `count`, counted
/// from row y; `at_once` of them are under way at a time.
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

/// Writes those of pixels x to x + 3 that the row has.
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
