#pragma once

// What the kernels of all pointwise filters share: a thread takes 16 pixels, keeps them in registers as BGR whatever
// the image's channels, and hands them to per-pixel functions (a one-channel pixel as three equal channels).

#include "framewire/core/view.hpp"
#include "framewire/cuda/kernel/grid.cuh"
#include "framewire/cuda/kernel/kernel_image.hpp"
#include "framewire/filters/kernel/warp_store.cuh"
#include "framewire/filters/pointwise/pixel.hpp"

#include <algorithm>
#include <cstdint>

namespace framewire::pointwise {

inline constexpr int threads_per_block = warp_store_threads;
inline constexpr int group_px = lane_px;

/// 16 BGR pixels as they lie in memory. Indexed by constants only, so that it stays in registers.
struct Group {
    std::uint32_t words[12];
};

/// Four pixels to the three words they take in memory.
inline __device__ void pack(Pixel p0, Pixel p1, Pixel p2, Pixel p3, std::uint32_t* words) {
    words[0] = __byte_perm(p0, p1, 0x4210);
    words[1] = __byte_perm(p1, p2, 0x5421);
    words[2] = __byte_perm(p2, p3, 0x6542);
}

/// Each pixel becomes function(pixel).
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

/// Each pixel becomes function(pixel, the pixel of `other` in its place).
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

/// A batch to read or to write.
struct Image : cuda::KernelImage<std::uint8_t> {
    int channels = 0;
    bool aligned = false;  ///< every group of pixels begins at a multiple of 16 bytes
};

/// Of a view to read or to write. `dense`: every image of the launch is, and the batch goes as one row.
template <class Byte>
Image image_of(const DeviceView<Byte>& view, bool dense) {
    const cuda::KernelImage<Byte> image(view, dense ? cuda::OneRow::batch : cuda::OneRow::none);
    return {{const_cast<std::uint8_t*>(image.data), image.row_stride, image.frame_stride},
            view.shape().channels,
            image.aligned_to(16)};
}

/// The rows of a launch: blockIdx.y counts them, groups of pixels lie along blockIdx.x.
struct Rows {
    std::int64_t row_px;
    int rows_per_frame, first_frame;
};

/// Where a thread works.
struct Place {
    std::int64_t x;
    int frame, y;
    int pixels;       ///< of the group that are in the row: 16, fewer at its end, 0 beyond
    bool whole_warp;  ///< all lanes have 16

    explicit __device__ Place(const Rows& rows)
        : x((std::int64_t{blockIdx.x} * threads_per_block + threadIdx.x) * group_px),
          frame(rows.first_frame + static_cast<int>(blockIdx.y) / rows.rows_per_frame),
          y(static_cast<int>(blockIdx.y) % rows.rows_per_frame),
          pixels(static_cast<int>(max(std::int64_t{0}, min(std::int64_t{group_px}, rows.row_px - x)))),
          whole_warp(is_whole_warp(x, rows.row_px)) {}

    __device__ std::uint8_t* in(const Image& image) const {
        return image.data + frame * image.frame_stride + y * image.row_stride + x * image.channels;
    }
};

inline __device__ Group load(const Image& image, const Place& place) {
    Group group;
    const auto* from = place.in(image);
    if (image.aligned && place.pixels == group_px) {
        const auto* vectors = reinterpret_cast<const uint4*>(from);
        if (image.channels == 3) {
            // Not with a hint to drop what was read: each sector serves two of the loads.
            const auto a = vectors[0], b = vectors[1], c = vectors[2];
            return {{a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w, c.x, c.y, c.z, c.w}};
        }
        const auto gray = __ldcs(vectors);
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

/// Into a one-channel image goes the first channel.
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
    // Taken apart by constants, as ever: an index known only at run time would put the group into local memory.
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

/// Calls launch(rows, grid) until a batch of `shape` is covered: once for dense images, else for as many frames at a
/// time as a grid has rows for.
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

/// Calls launch(first frame, grid) for kernels that go over the changes of a batch of `shape`, blockIdx.y counting
/// frames. How many changes there are only the GPU knows: enough blocks to keep it busy, each taking its share.
template <class Launch>
void for_changes(const Shape& shape, Launch&& launch) {
    constexpr int most_blocks = 264;
    const auto blocks = std::clamp<std::int64_t>(shape.frame_bytes() / (16 * threads_per_block), 1, most_blocks);
    cuda::for_frames(shape.frames, 1, [&](int first, int frames) {
        launch(first, dim3(static_cast<unsigned>(blocks), static_cast<unsigned>(frames)));
    });
}

}  // namespace framewire::pointwise
