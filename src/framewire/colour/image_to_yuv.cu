#include "framewire/colour/device_planes.cuh"
#include "framewire/colour/image_to_yuv.hpp"
#include "framewire/colour/yuv.hpp"
#include "framewire/cuda/kernel.cuh"

#include <cstdint>

// Converts BGR or gray images to YUV on the GPU. Each lane converts 16 columns. If chroma is halved, a warp handles all
// image rows that contribute to one row of chroma and also writes the luma of its own rows:
//
//     4:2:0, centred rows   reads rows 2c, 2c+1          writes luma 2c, 2c+1 and chroma c
//     4:2:0, on the upper   reads rows 2c-1, 2c, 2c+1    writes luma 2c, 2c+1 and chroma c
//     4:2:2                 reads row c                  writes luma c and chroma c
//     4:4:4, gray           reads row c                  writes all planes of row c
//
// Horizontally, a lane also needs the pixel to its left. Sums over rows and columns are sixteenths of the mean.

namespace framewire {
namespace {

enum class Chroma { none, halved, each };

// An output component: three rounded products of B, G and R, and an offset. The factors include a power of two, `unit`,
// that scales the input to 15 bits.
struct YuvComponent {
    int b, g, r;
    int added;  // added to the sum before the lower 7 bits are dropped

    __device__ int operator()(int blue, int green, int red) const {
        constexpr int half = 1 << 14;
        return ((blue * b + half) >> 15) + ((green * g + half) >> 15) + ((red * r + half) >> 15) + added;
    }
};

// Arguments of the kernels.
struct Job {
    InImage in;
    OutImage luma, u, v;
    int width, height, chroma_width, chroma_height;
    int first_frame;
    int channels;
    bool interleaved;
    bool halved_y;        // one row of chroma belongs to two rows of luma
    int rows_for_chroma;  // number of image rows that contribute to a row of chroma: 1 to 3
    int first_row;        // first contributing row relative to the first own row: -1 or 0
    // Column weights of each contributing row, for even and odd samples of a lane, packed into bytes for add_row().
    std::uint32_t weights[3][2];
    int gray;  // factor of gray values
    YuvComponent y, u_of_bytes, v_of_bytes, u_of_sums, v_of_sums;
};

// Sixteen pixels in planar order.
struct Planar {
    std::uint32_t words[3][4];
};

// Separates four groups of three words of BGR into planes with byte permutations.
__device__ void split(const std::uint32_t (&bgr)[12], Planar& planar) {
#pragma unroll
    for (int four = 0; four < 4; ++four) {
        const auto w0 = bgr[3 * four], w1 = bgr[3 * four + 1], w2 = bgr[3 * four + 2];
        planar.words[0][four] = __byte_perm(__byte_perm(w0, w1, 0x0630), w2, 0x5210);
        planar.words[1][four] = __byte_perm(__byte_perm(w0, w1, 0x0741), w2, 0x6210);
        planar.words[2][four] = __byte_perm(__byte_perm(w0, w1, 0x0052), w2, 0x7410);
    }
}

// Loads sixteen BGR pixels, starting with column `x`, and separates their channels.
template <bool aligned>
__device__ void load_bgr(const std::uint8_t* row, int x, int width, Planar& planar) {
    std::uint32_t words[12];
    if (aligned && x + lane_px <= width)
        load_words<12>(row + 3 * x, words);
    else
        load_held<12, 3>(row, x, width, words);
    split(words, planar);
}

// Stores sixteen samples of a row, except those to the right of the image.
template <bool aligned>
__device__ void store_16(const std::uint32_t (&words)[4], std::uint8_t* row, int x, int width) {
    if (aligned && x + lane_px <= width)
        *reinterpret_cast<uint4*>(row + x) = {words[0], words[1], words[2], words[3]};
    else
        store_some<4>(words, width - x, row + x);
}

// Converts sixteen pixels to one component.
__device__ void convert_16(const Planar& pixels, const YuvComponent& component, std::uint32_t (&words)[4]) {
#pragma unroll
    for (int four = 0; four < 4; ++four) {
        int value[4];
#pragma unroll
        for (int at = 0; at < 4; ++at)
            value[at] = component(byte_of(pixels.words[0], 4 * four + at), byte_of(pixels.words[1], 4 * four + at),
                                  byte_of(pixels.words[2], 4 * four + at)) >>
                        to_yuv_shift;
        words[four] = held_bytes(value[0], value[1], value[2], value[3]);
    }
}

// Adds one row of pixels to the sums of eight chroma samples: sixteen times the mean per channel. Each sample is a dot
// product of four pixels and packed weights. For a sample with the two pixels p and p+1:
//
//     even sample: pixels p-1 .. p+2, weights (left, own, own, 0)
//     odd sample:  pixels p-2 .. p+1, weights (0, left, own, own)
__device__ void add_row(const Planar& pixels, const int (&before)[3], const std::uint32_t (&weights)[2],
                        int (&sums)[3][8]) {
#pragma unroll
    for (int channel = 0; channel < 3; ++channel)
#pragma unroll
        for (int four = 0; four < 4; ++four) {
            const auto* words = pixels.words[channel];
            const auto last = four == 0 ? static_cast<std::uint32_t>(before[channel]) << 24 : words[four - 1];
            const auto shifted = __byte_perm(last, words[four], 0x6543);
            auto& even = sums[channel][2 * four];
            auto& odd = sums[channel][2 * four + 1];
            even = static_cast<int>(__dp4a(shifted, weights[0], static_cast<std::uint32_t>(even)));
            odd = static_cast<int>(__dp4a(words[four], weights[1], static_cast<std::uint32_t>(odd)));
        }
}

// Converts the sums of eight samples and stores them in one interleaved plane or in two planes.
template <bool aligned>
__device__ void store_chroma(const Job& job, int frame, int row, int x, const int (&sums)[3][8]) {
    std::uint32_t u[2], v[2];
#pragma unroll
    for (int four = 0; four < 2; ++four) {
        int values[2][4];
#pragma unroll
        for (int at = 0; at < 4; ++at) {
            const int sample = 4 * four + at;
            values[0][at] = job.u_of_sums(sums[0][sample], sums[1][sample], sums[2][sample]) >> to_yuv_shift;
            values[1][at] = job.v_of_sums(sums[0][sample], sums[1][sample], sums[2][sample]) >> to_yuv_shift;
        }
        u[four] = held_bytes(values[0][0], values[0][1], values[0][2], values[0][3]);
        v[four] = held_bytes(values[1][0], values[1][1], values[1][2], values[1][3]);
    }
    const int first = x / 2, rest = job.chroma_width - first;
    // Vector stores need all eight samples to lie inside the image.
    const bool whole = aligned && rest >= 8;
    auto* to_u = job.u.row(frame, row);
    if (job.interleaved) {
        const std::uint32_t both[4] = {__byte_perm(u[0], v[0], 0x5140), __byte_perm(u[0], v[0], 0x7362),
                                       __byte_perm(u[1], v[1], 0x5140), __byte_perm(u[1], v[1], 0x7362)};
        if (whole)
            *reinterpret_cast<uint4*>(to_u + 2 * first) = {both[0], both[1], both[2], both[3]};
        else
            store_some<4>(both, 2 * rest, to_u + 2 * first);
        return;
    }
    auto* to_v = job.v.row(frame, row);
    if (whole) {
        *reinterpret_cast<uint2*>(to_u + first) = {u[0], u[1]};
        *reinterpret_cast<uint2*>(to_v + first) = {v[0], v[1]};
    } else {
        store_some<2>(u, rest, to_u + first);
        store_some<2>(v, rest, to_v + first);
    }
}

// Converts sixteen columns of a group of rows per lane; the table at the top of this file lists the rows of a group.
template <Chroma chroma, bool aligned>
__global__ void __launch_bounds__(warp_lanes* block_warps) bgr_to_yuv_kernel(Job job) {
    const int x = static_cast<int>(blockIdx.x * warp_lanes + threadIdx.x) * lane_px;
    const int group = static_cast<int>(blockIdx.y * block_warps + threadIdx.y);
    const int frame = job.first_frame + static_cast<int>(blockIdx.z);
    if (x >= job.width || group >= (chroma == Chroma::halved ? job.chroma_height : job.height)) return;

    if constexpr (chroma != Chroma::halved) {
        Planar pixels;
        std::uint32_t words[4];
        load_bgr<aligned>(job.in.row(frame, group), x, job.width, pixels);
        convert_16(pixels, job.y, words);
        store_16<aligned>(words, job.luma.row(frame, group), x, job.width);
        if constexpr (chroma == Chroma::each) {
            convert_16(pixels, job.u_of_bytes, words);
            store_16<aligned>(words, job.u.row(frame, group), x, job.width);
            convert_16(pixels, job.v_of_bytes, words);
            store_16<aligned>(words, job.v.row(frame, group), x, job.width);
        }
    } else {
        const int own = job.halved_y ? 2 : 1, first = own * group;
        int sums[3][8] = {};
        for (int row = 0; row < job.rows_for_chroma; ++row) {
            const int y = first + job.first_row + row;
            const auto* from = job.in.row(frame, held_index(y, job.height));
            Planar pixels;
            load_bgr<aligned>(from, x, job.width, pixels);
            if (y >= first && y < first + own && y < job.height) {
                std::uint32_t words[4];
                convert_16(pixels, job.y, words);
                store_16<aligned>(words, job.luma.row(frame, y), x, job.width);
            }
            // The pixel to the left of the lane's first one; replicated at the border.
            int before[3];
#pragma unroll
            for (int channel = 0; channel < 3; ++channel) before[channel] = from[3 * max(x - 1, 0) + channel];
            add_row(pixels, before, job.weights[row], sums);
        }
        store_chroma<aligned>(job, frame, group, x, sums);
    }
}

// Converts gray values to luma, 16 per lane.
template <bool aligned>
__global__ void __launch_bounds__(warp_lanes* block_warps) gray_to_luma_kernel(Job job) {
    const int x = static_cast<int>(blockIdx.x * warp_lanes + threadIdx.x) * lane_px;
    const int y = static_cast<int>(blockIdx.y * block_warps + threadIdx.y);
    const int frame = job.first_frame + static_cast<int>(blockIdx.z);
    if (x >= job.width || y >= job.height) return;
    const auto* row = job.in.row(frame, y);
    std::uint32_t gray[4], words[4];
    if (aligned && x + lane_px <= job.width)
        load_words<4>(row + x, gray);
    else
        load_held<4, 1>(row, x, job.width, gray);
#pragma unroll
    for (int four = 0; four < 4; ++four) {
        int value[4];
#pragma unroll
        for (int at = 0; at < 4; ++at)
            value[at] = (((byte_of(gray, 4 * four + at) * job.gray + (1 << 14)) >> 15) + job.y.added) >> to_yuv_shift;
        words[four] = held_bytes(value[0], value[1], value[2], value[3]);
    }
    store_16<aligned>(words, job.luma.row(frame, y), x, job.width);
}

// Fills a plane of `row_bytes` x `rows` with 128, the chroma of a picture without colour.
__global__ void __launch_bounds__(warp_lanes* block_warps)
    neutral_kernel(OutImage plane, int first_frame, int row_bytes, int rows) {
    const int x = static_cast<int>(blockIdx.x * warp_lanes + threadIdx.x) * lane_px;
    const int y = static_cast<int>(blockIdx.y * block_warps + threadIdx.y);
    if (x >= row_bytes || y >= rows) return;
    const std::uint32_t words[4] = {0x80808080, 0x80808080, 0x80808080, 0x80808080};
    store_some<4>(words, row_bytes - x, plane.row(first_frame + static_cast<int>(blockIdx.z), y) + x);
}

// Launches a kernel for batches of frames, each as large as a grid allows.
template <class Launch>
void launch(Job job, int groups, int frames, Launch&& kernel) {
    for_grids(job.width, groups, frames, [&](dim3 grid, int frame) {
        job.first_frame = frame;
        kernel(grid, dim3(warp_lanes, block_warps), job);
    });
}

// Launches the instance for aligned rows, which uses vector loads and stores, or the one for rows with any alignment.
void launch_bgr(const Job& job, const YuvInfo& info, bool aligned, const cuda::Stream& stream) {
    launch(job, info.chroma_height(), info.frames, [&](dim3 grid, dim3 block, const Job& part) {
        const auto start = [&](auto* whole, auto* any) {
            if (aligned)
                cuda::Launch(stream, grid, block)(whole, part);
            else
                cuda::Launch(stream, grid, block)(any, part);
        };
        switch (info.format.chroma) {
            case ChromaSampling::none:
                return start(bgr_to_yuv_kernel<Chroma::none, true>, bgr_to_yuv_kernel<Chroma::none, false>);
            case ChromaSampling::s444:
                return start(bgr_to_yuv_kernel<Chroma::each, true>, bgr_to_yuv_kernel<Chroma::each, false>);
            case ChromaSampling::s420:
            case ChromaSampling::s422:
                return start(bgr_to_yuv_kernel<Chroma::halved, true>, bgr_to_yuv_kernel<Chroma::halved, false>);
        }
    });
}

}  // namespace

// Prepares the coefficients for 15-bit inputs, and packs the weights of the chroma taps into bytes for
// __dp4a().
void ImageToYuv::run(DeviceView<const std::uint8_t> image, const DeviceYuv<std::uint8_t>& picture) const {
    validate(image, image_shape(), "the image to convert to YUV");
    validate(picture, picture_, "the YUV picture");
    const auto by = to_yuv_coefficients(picture_.coding);
    const auto& stream = executor_->stream();

    Job job{};
    job.in = InImage(image);
    job.luma = image_of(picture.planes[0]);
    job.u = image_of(picture.planes[1]);
    job.v = image_of(picture.planes[2]);
    job.width = picture_.width;
    job.height = picture_.height;
    job.chroma_width = picture_.chroma_width();
    job.chroma_height = picture_.chroma_height();
    job.interleaved = picture_.format.interleaved;

    constexpr int byte_unit = 1 << 7, sum_unit = 1 << 3;  // factors that scale bytes and sums of sixteen to 15 bits
    job.gray = byte_unit * by.y_gray;
    job.y = {byte_unit * by.y_b, byte_unit * by.y_g, byte_unit * by.y_r, by.y_offset};
    const auto chroma = [](int b, int g, int r, int unit) {
        return YuvComponent{unit * b, unit * g, unit * r, chroma_rounding + (128 << to_yuv_shift)};
    };
    job.u_of_bytes = chroma(by.u_b, by.u_g, by.u_r, byte_unit);
    job.v_of_bytes = chroma(by.v_b, by.v_g, by.v_r, byte_unit);
    job.u_of_sums = chroma(by.u_b, by.u_g, by.u_r, sum_unit);
    job.v_of_sums = chroma(by.v_b, by.v_g, by.v_r, sum_unit);

    bool aligned = job.in.aligned_to(16) && job.luma.aligned_to(16);
    if (channels_ == 1) {
        launch(job, picture_.height, picture_.frames, [&](dim3 grid, dim3 block, const Job& part) {
            if (aligned)
                cuda::Launch(stream, grid, block)(gray_to_luma_kernel<true>, part);
            else
                cuda::Launch(stream, grid, block)(gray_to_luma_kernel<false>, part);
        });
        for (int plane = 1; plane < picture_.planes(); ++plane) {
            const int row_bytes = static_cast<int>(picture_.plane_row_bytes(plane)), rows = picture_.plane_rows(plane);
            const auto to = image_of(picture.planes[static_cast<std::size_t>(plane)]);
            for_grids(row_bytes, rows, picture_.frames, [&](dim3 grid, int frame) {
                cuda::Launch(stream, grid, dim3(warp_lanes, block_warps))(neutral_kernel, to, frame, row_bytes, rows);
            });
        }
        return;
    }

    if (picture_.planes() > 1) aligned = aligned && job.u.aligned_to(16);
    if (picture_.planes() > 2) aligned = aligned && job.v.aligned_to(16);
    job.halved_y = picture_.format.chroma == ChromaSampling::s420;
    const auto rows = pixel_taps(0, job.halved_y, picture_.siting.centred_y);
    const auto columns = pixel_taps(0, true, picture_.siting.centred_x);
    // Weights of the columns: first the column to the left of a sample's two pixels, then these two.
    const int around[3] = {columns.first < 0 ? columns.weights[0] : 0, columns.weights[columns.first < 0 ? 1 : 0],
                           columns.weights[columns.first < 0 ? 2 : 1]};
    job.first_row = rows.first;
    for (int row = 0; row < 3 && rows.weights[row] > 0; ++row) {
        const auto packed = static_cast<std::uint32_t>(
            rows.weights[row] * around[0] | rows.weights[row] * around[1] << 8 | rows.weights[row] * around[2] << 16);
        job.weights[row][0] = packed;
        job.weights[row][1] = packed << 8;
        job.rows_for_chroma = row + 1;
    }
    launch_bgr(job, picture_, aligned, stream);
}

}  // namespace framewire
