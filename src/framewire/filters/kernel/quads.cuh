#pragma once

// For .cu files: four pixels of a row at a time ("quads"), one 32-bit word of bytes per channel.

#include "framewire/core/view.hpp"
#include "framewire/cuda/kernel/grid.cuh"
#include "framewire/cuda/kernel/kernel_image.hpp"
#include "framewire/filters/border.hpp"

#include <cstdint>

namespace framewire {

/// Pixels per quad.
inline constexpr int quad_px = 4;

/// Number of bands into which to divide an image so that its strips and frames give four blocks per multiprocessor. For
/// plans.
inline int bands_for_all(int strips, int frames) {
    const int wanted_blocks = 4 * cuda::multiprocessors();
    return static_cast<int>((wanted_blocks - 1) / (std::int64_t{strips} * frames)) + 1;
}

/// Height of a band if the image is divided into `bands` bands or slightly fewer. A multiple of `step_rows`, equal for
/// all bands but the last.
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

/// __byte_perm() on host and device. From the highest to the lowest byte of the result, a digit of the selector names
/// its source: 0 to 3 for the bytes of `low`, 4 to 7 for those of `high`.
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
// Bytes b0 g0 r0 b1, g1 r1 b2 g2, r2 b3 g3 r3; channel c of pixel p has the value 0x10 * p + c.
static_assert(planes_of(0x10'02'01'00, 0x21'20'12'11, 0x32'31'30'22).plane[0] == 0x30'20'10'00);
static_assert(planes_of(0x10'02'01'00, 0x21'20'12'11, 0x32'31'30'22).plane[1] == 0x31'21'11'01);
static_assert(planes_of(0x10'02'01'00, 0x21'20'12'11, 0x32'31'30'22).plane[2] == 0x32'22'12'02);
static_assert(interleave({{0x30'20'10'00, 0x31'21'11'01, 0x32'22'12'02}}).word[0] == 0x10'02'01'00);
static_assert(interleave({{0x30'20'10'00, 0x31'21'11'01, 0x32'22'12'02}}).word[1] == 0x21'20'12'11);
static_assert(interleave({{0x30'20'10'00, 0x31'21'11'01, 0x32'22'12'02}}).word[2] == 0x32'31'30'22);
#endif

/// The input image of a window, extended beyond its edges by the border.
struct QuadSource {
    /// The image.
    cuda::KernelImage<const std::uint8_t> rows;
    /// Its size, in pixels.
    int width, height;
    /// Pixels outside it.
    Border border;
    bool words;  ///< every row starts at a multiple of 4

    /// Uninitialised; for members of jobs.
    QuadSource() = default;
    /// For plans, before an image is known.
    QuadSource(const Shape& shape, Border beyond)
        : width(shape.width), height(shape.height), border(beyond), words(false) {}
    /// Sets the image of the next launch.
    void set(DeviceView<const std::uint8_t> view) {
        rows = cuda::KernelImage(view);
        words = rows.aligned_to(4);
    }

    /// Returns true if pixels x to x + 3 can be read as words. `x` is a multiple of 4.
    __device__ bool has_words(int x) const { return words && x >= 0 && x + quad_px <= width; }

    /// The words of pixels x to x + 3 of row y, if has_words(x). Free of branches, so that the loads of consecutive
    /// calls overlap. `y` may lie outside the image.
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

    /// Pixels x to x + 3 of row y, channel by channel; all may lie outside the image.
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

/// Stores pixels x to x + 3 of a row, as far as they lie within its width. `aligned`: rows start at a multiple of 4.
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
