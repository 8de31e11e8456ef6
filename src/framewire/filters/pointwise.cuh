#pragma once

#include "framewire/core/view.hpp"
#include "framewire/cuda/kernel.cuh"
#include "framewire/cuda/kernel_image.hpp"
#include "framewire/filters/adjust.hpp"
#include "framewire/filters/filter.hpp"
#include "framewire/filters/gray_input.hpp"
#include "framewire/filters/heatmap.hpp"
#include "framewire/filters/kernel.cuh"

#include <algorithm>
#include <cstdint>

// Shared by the kernels of all pointwise filters. A thread holds 16 pixels in registers, always as BGR, and applies
// per-pixel functions to them; a pixel of a one-channel image is treated as three equal channels.
//
//   load()        16 pixels -> Group of 12 words (three 16-byte vectors for BGR, one for gray)
//   map_pixels()  unpacks four pixels from three words at a time, applies the function, packs them again
//   store()       Group -> image

namespace framewire::pointwise {

/// Threads per block of all pointwise kernels.
inline constexpr int threads_per_block = warp_store_threads;
/// Pixels per thread.
inline constexpr int group_px = lane_px;

/// 16 BGR pixels in their memory layout. Indexed only by constants, so that it stays in registers.
struct Group {
    /// Every three words hold four pixels.
    std::uint32_t words[12];
};

/// Packs four pixels into the three words that they occupy in memory.
inline __device__ void pack(Pixel p0, Pixel p1, Pixel p2, Pixel p3, std::uint32_t* words) {
    words[0] = __byte_perm(p0, p1, 0x4210);
    words[1] = __byte_perm(p1, p2, 0x5421);
    words[2] = __byte_perm(p2, p3, 0x6542);
}

/// Replaces each pixel by function(pixel).
template <class Function>
__device__ void map_pixels(Group& group, Function&& function) {
    constexpr std::uint32_t pixel_bits = 0xFFFFFF;
#pragma unroll
    for (int quarter = 0; quarter < 4; ++quarter) {
        auto* w = group.words + 3 * quarter;
        pack(function(w[0] & pixel_bits), function(__funnelshift_r(w[0], w[1], 24) & pixel_bits),
             function(__funnelshift_r(w[1], w[2], 16) & pixel_bits), function(w[2] >> 8), w);
    }
}

/// Replaces each pixel by function(pixel, pixel of `other` at the same position).
template <class Function>
__device__ void map_pixels(Group& group, const Group& other, Function&& function) {
    constexpr std::uint32_t pixel_bits = 0xFFFFFF;
#pragma unroll
    for (int quarter = 0; quarter < 4; ++quarter) {
        auto* w = group.words + 3 * quarter;
        const auto* o = other.words + 3 * quarter;
        pack(function(w[0] & pixel_bits, o[0] & pixel_bits),
             function(__funnelshift_r(w[0], w[1], 24) & pixel_bits, __funnelshift_r(o[0], o[1], 24) & pixel_bits),
             function(__funnelshift_r(w[1], w[2], 16) & pixel_bits, __funnelshift_r(o[1], o[2], 16) & pixel_bits),
             function(w[2] >> 8, o[2] >> 8), w);
    }
}

/// A batch that a kernel reads or writes, in the form of a kernel parameter.
struct Image : cuda::KernelImage<std::uint8_t> {
    /// Number of channels: 1 or 3.
    int channels = 0;
    bool aligned = false;  ///< true if every group of pixels starts at a multiple of 16 bytes
};

/// Returns the Image for a view. `dense` states that all images of the launch are dense; each batch is then treated as
/// one row.
template <class Byte>
Image image_of(const DeviceView<Byte>& view, bool dense) {
    const cuda::KernelImage<Byte> image(view, dense ? cuda::OneRow::batch : cuda::OneRow::none);
    return {{const_cast<std::uint8_t*>(image.data), image.row_stride, image.frame_stride},
            view.shape().channels,
            image.aligned_to(16)};
}

/// Rows of a launch. blockIdx.y counts rows; groups of pixels lie along blockIdx.x.
struct Rows {
    /// Pixels per row.
    std::int64_t row_px;
    /// Rows per frame, and first frame of the launch.
    int rows_per_frame, first_frame;
};

/// The position of a thread's group of pixels.
struct Place {
    /// First pixel of the group in its row.
    std::int64_t x;
    /// Frame within the batch, and row within the frame.
    int frame, y;
    int pixels;       ///< number of the group's pixels inside the row: 16, fewer at its end, 0 beyond
    bool whole_warp;  ///< true if all lanes of the warp have 16 pixels

    /// Computes the position of the calling thread.
    explicit __device__ Place(const Rows& rows)
        : x((std::int64_t{blockIdx.x} * threads_per_block + threadIdx.x) * group_px),
          frame(rows.first_frame + static_cast<int>(blockIdx.y) / rows.rows_per_frame),
          y(static_cast<int>(blockIdx.y) % rows.rows_per_frame),
          pixels(static_cast<int>(max(std::int64_t{0}, min(std::int64_t{group_px}, rows.row_px - x)))),
          whole_warp(is_whole_warp(x, rows.row_px)) {}

    /// Returns the address of the group in an image.
    __device__ std::uint8_t* in(const Image& image) const {
        return image.data + frame * image.frame_stride + y * image.row_stride + x * image.channels;
    }
};

/// Loads a group. Pixels beyond the row are 0.
inline __device__ Group load(const Image& image, const Place& place) {
    Group group;
    const auto* from = place.in(image);
    if (image.aligned && place.pixels == group_px) {
        const auto* vectors = reinterpret_cast<const uint4*>(from);
        if (image.channels == 3) {
            // No streaming hint, because each sector serves two of the loads.
            const auto a = vectors[0], b = vectors[1], c = vectors[2];
            return {{a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w, c.x, c.y, c.z, c.w}};
        }
        const auto gray = __ldcs(vectors);
        // Repeat each gray byte three times.
        const std::uint32_t four[] = {gray.x, gray.y, gray.z, gray.w};
#pragma unroll
        for (int quarter = 0; quarter < 4; ++quarter) {
            group.words[3 * quarter] = __byte_perm(four[quarter], 0, 0x1000);
            group.words[3 * quarter + 1] = __byte_perm(four[quarter], 0, 0x2211);
            group.words[3 * quarter + 2] = __byte_perm(four[quarter], 0, 0x3332);
        }
        return group;
    }
#pragma unroll
    for (int quarter = 0; quarter < 4; ++quarter) {
        Pixel four[4];
#pragma unroll
        for (int index = 0; index < 4; ++index) {
            const auto* pixel = from + (4 * quarter + index) * image.channels;
            four[index] = 0;
            if (4 * quarter + index < place.pixels)
                four[index] = image.channels == 1 ? gray_pixel(pixel[0]) : pixel_of(pixel[0], pixel[1], pixel[2]);
        }
        pack(four[0], four[1], four[2], four[3], group.words + 3 * quarter);
    }
    return group;
}

/// Stores those pixels of a group that lie in the row. A one-channel image gets the first channel.
inline __device__ void store(const Group& group, const Image& image, const Place& place) {
    auto* to = place.in(image);
    const auto* w = group.words;
    if (image.aligned && place.pixels == group_px) {
        auto* vectors = reinterpret_cast<uint4*>(to);
        if (image.channels == 3) {
            const uint4 a{w[0], w[1], w[2], w[3]}, b{w[4], w[5], w[6], w[7]}, c{w[8], w[9], w[10], w[11]};
            if (place.whole_warp) return store_by_warp(a, b, c, to);
            vectors[0] = a;
            vectors[1] = b;
            vectors[2] = c;
            return;
        }
        std::uint32_t four[4];
#pragma unroll
        for (int quarter = 0; quarter < 4;
             ++quarter)  // bytes 0 and 3 of the first word, 2 of the second, 1 of the third
            four[quarter] =
                __byte_perm(__byte_perm(w[3 * quarter], w[3 * quarter + 1], 0x0630), w[3 * quarter + 2], 0x5210);
        vectors[0] = {four[0], four[1], four[2], four[3]};
        return;
    }
// Unpack with constant indices, because a runtime index would move the group to local memory.
#pragma unroll
    for (int byte = 0; byte < 3 * group_px; ++byte) {
        if (byte / 3 >= place.pixels) continue;
        const auto value = static_cast<std::uint8_t>(w[byte / 4] >> (8 * (byte % 4)));
        if (image.channels == 3)
            to[byte] = value;
        else if (byte % 3 == 0)
            to[byte / 3] = value;
    }
}

/// Calls launch(rows, grid) until a batch of `shape` is covered: once for dense images, otherwise for batches of as
/// many frames as a grid has rows for.
template <class Launch>
void for_each_launch(const Shape& shape, bool dense, Launch&& launch) {
    constexpr int block_px = threads_per_block * group_px;
    if (dense) {
        const auto pixels = shape.rows() * shape.width;
        launch(Rows{pixels, 1, 0}, dim3(cuda::blocks(pixels, block_px), 1));
    } else {
        cuda::for_frames(shape.frames, shape.height, [&](int first, int frames) {
            launch(Rows{shape.width, shape.height, first},
                   dim3(cuda::blocks(shape.width, block_px), static_cast<unsigned>(frames * shape.height)));
        });
    }
}

/// Calls launch(first frame, grid) for kernels that process the changes of a batch of `shape`; blockIdx.y counts
/// frames. Only the GPU knows the number of changes, so the grid has enough blocks to keep the GPU busy, and each block
/// takes its share.
template <class Launch>
void for_changes(const Shape& shape, Launch&& launch) {
    constexpr int most_blocks = 264;
    const auto blocks = std::clamp<std::int64_t>(shape.frame_bytes() / (16 * threads_per_block), 1, most_blocks);
    cuda::for_frames(shape.frames, 1, [&](int first, int frames) {
        launch(first, dim3(static_cast<unsigned>(blocks), static_cast<unsigned>(frames)));
    });
}

}  // namespace framewire::pointwise

// Per-pixel code of filters that needs GPU instructions or memory; the code of the other filters is in their headers.

namespace framewire {

/// Computes adjust_pixel() on the GPU. The offset is folded into the rounding term: ((v * slope + 2^8) >> 9) + offset =
/// (v * slope + 2^8 + 2^9 * offset) >> 9.
class AdjustOnDevice {
public:
    /// Prepares the terms for the GPU.
    explicit AdjustOnDevice(const AdjustTerms& terms)
        : slope_(terms.slope),
          rounding_((1 << (adjust_slope_shift - 1)) + terms.offset * (1 << adjust_slope_shift)),
          saturation_(terms.saturation),
          weights_(split(gray_weights(GrayMethod::weighted))) {}
    /// Takes the terms from an operation of adjust_op().
    explicit AdjustOnDevice(const PointwiseOp& op) : AdjustOnDevice(adjust_terms_of(op)) {}

    /// Works like adjust_pixel(), but lets the packing instruction clamp to bytes.
    __device__ Pixel operator()(Pixel pixel) const {
        auto levels = packed(level(pixel & 255), level(pixel >> 8 & 255), level(pixel >> 16 & 255));
        if (saturation_ == neutral_saturation) return levels;
        const auto gray = static_cast<int>(gray_of(levels, weights_));
        const auto saturated = [&](std::uint32_t value) {
            return gray + (((static_cast<int>(value) - gray) * saturation_ + 128) >> 8);
        };
        return packed(saturated(levels & 255), saturated(levels >> 8 & 255), saturated(levels >> 16 & 255));
    }

private:
    // Computes adjust_level() without the clamp.
    __device__ int level(std::uint32_t value) const {
        return (static_cast<int>(value) * slope_ + rounding_) >> adjust_slope_shift;
    }

    // Clamps each number to 0..255 and packs the three into a pixel.
    static __device__ Pixel packed(int b, int g, int r) {
        std::uint32_t high, pixel;
        asm("cvt.pack.sat.u8.s32.b32 %0, %1, %2, %3;" : "=r"(high) : "r"(0), "r"(r), "r"(0));
        asm("cvt.pack.sat.u8.s32.b32 %0, %1, %2, %3;" : "=r"(pixel) : "r"(g), "r"(b), "r"(high));
        return pixel;
    }

    int slope_, rounding_, saturation_;
    SplitWeights weights_;
};

/// The heat map's table in shared memory. Neighbouring pixels need different entries, which constant memory would
/// return one after the other.
struct HeatmapColours {
    /// Size of the table in 16-byte vectors.
    static constexpr unsigned vectors = sizeof(HeatmapTable) / sizeof(uint4);
    static_assert(sizeof(HeatmapTable) % sizeof(uint4) == 0);

    /// Colours of the table.
    alignas(16) Pixel table[sizeof(HeatmapTable) / sizeof(Pixel)];

    /// Loads the table and synchronises the block. All threads of the block must call it; there must be at least
    /// `vectors` of them.
    __device__ void fetch(const Pixel* from) {
        if (threadIdx.x < vectors)
            reinterpret_cast<uint4*>(table)[threadIdx.x] = __ldg(reinterpret_cast<const uint4*>(from) + threadIdx.x);
        __syncthreads();
    }
    /// Returns the colour of a pixel, given its value now and in the previous frame.
    __device__ Pixel of(Pixel now, Pixel before) const { return table[heat_of(now, before)]; }
};

/// Computes the colour of one pixel on the GPU, for passes that fuse several filters.
class HeatmapOnDevice {
public:
    /// Takes the operation, which has no parameters.
    explicit HeatmapOnDevice(const PointwiseOp&) {}
    /// Returns the colour of a pixel, given its value now and in the previous frame, from a loaded table.
    __device__ Pixel operator()(Pixel now, Pixel before, const HeatmapColours& colours) const {
        return colours.of(now, before);
    }
};

}  // namespace framewire
