#include "framewire/colour/device_planes.cuh"
#include "framewire/colour/yuv.hpp"
#include "framewire/colour/yuv_to_image.hpp"
#include "framewire/cuda/kernel.cuh"

#include <cstdint>

// Converts YUV pictures to BGR or gray images on the GPU. Each lane converts 16 columns. With 4:2:0 a warp handles a
// group of two rows that lie between the same two rows of chroma, so that it loads each row of chroma once per group:
//
//     centred rows:     rows 2g-1, 2g    between chroma rows g-1, g
//     on the upper row: rows 2g, 2g+1    between chroma rows g, g+1
//     other formats:    row g            with chroma row g, if any
//
// Horizontally, a lane needs 8 chroma samples and one more on each side.

namespace framewire {
namespace {

enum class Samples { bytes, lower_words, upper_words };
enum class Chroma { none, halved, pairs, each };  // pairs: halved, and U and V alternate in one plane

constexpr int half_px = lane_px / 2;

// Product with constant parts folded into two numbers: (number * factor + offset) >> 15, a rounded_product().
struct Product {
    int factor, offset;

    __device__ int operator()(int number) const { return (number * factor + offset) >> 15; }
};

// Arguments of the kernel.
struct Job {
    InImage luma, u, v;
    OutImage out;
    int width, height, chroma_width, chroma_height;
    int first_frame;
    bool each_row;   // each row has its own chroma: groups are single rows
    bool centred_y;  // groups start with odd rows
    // Weights for each row of the group, for even and odd pixels, packed into bytes for ChromaPairs::sixteenths().
    std::uint32_t weights[2][2];
    Product y, b_u, g_u, g_v, r_v;
};

// Returns sample `at` of an array of words.
template <Samples kind>
__device__ int value_of(const std::uint32_t* words, int at) {
    if constexpr (kind == Samples::bytes) return byte_of(words, at);
    const int word = static_cast<int>(at % 2 ? words[at / 2] >> 16 : words[at / 2] & 0xFFFF);
    return word_value(word, kind == Samples::upper_words);
}

// Returns sample `at` of a row in memory.
template <Samples kind>
__device__ int value_at(const std::uint8_t* row, int at) {
    if constexpr (kind == Samples::bytes) return row[at];
    return word_value(reinterpret_cast<const std::uint16_t*>(row)[at], kind == Samples::upper_words);
}

// The chroma samples of one component that a lane needs from one row: eight, and one on each side.
template <Samples kind>
struct ChromaSamples {
    std::uint32_t words[kind == Samples::bytes ? 2 : 4];
    int before, behind;
};

// Loads U and V of a lane, starting with sample `first`.
template <Samples kind, Chroma chroma, bool aligned>
__device__ void load_chroma(const Job& job, int frame, int y, int first, ChromaSamples<kind> (&uv)[2]) {
    constexpr int sample_bytes = kind == Samples::bytes ? 1 : 2;
    constexpr int words = kind == Samples::bytes ? 2 : 4;
    const int row = held_index(y, job.chroma_height), count = job.chroma_width;
    const int before = held_index(first - 1, count), behind = held_index(first + half_px, count);
    const bool whole = aligned && first + half_px <= count;
    if constexpr (chroma == Chroma::pairs) {
        const auto* from = job.u.row(frame, row);
        std::uint32_t both[2 * words];
        if (whole)
            load_words<2 * words>(from + 2 * sample_bytes * first, both);
        else
            load_held<2 * words, 2 * sample_bytes>(from, first, count, both);
#pragma unroll
        for (int word = 0; word < words; ++word) {
            const auto low = both[2 * word], high = both[2 * word + 1];
            uv[0].words[word] = __byte_perm(low, high, sample_bytes == 1 ? 0x6420 : 0x5410);
            uv[1].words[word] = __byte_perm(low, high, sample_bytes == 1 ? 0x7531 : 0x7632);
        }
        for (int component = 0; component < 2; ++component) {
            uv[component].before = value_at<kind>(from, 2 * before + component);
            uv[component].behind = value_at<kind>(from, 2 * behind + component);
        }
    } else {
        for (int component = 0; component < 2; ++component) {
            const auto* from = (component ? job.v : job.u).row(frame, row);
            if (whole)
                load_words<words>(from + sample_bytes * first, uv[component].words);
            else
                load_held<words, sample_bytes>(from, first, count, uv[component].words);
            uv[component].before = value_at<kind>(from, before);
            uv[component].behind = value_at<kind>(from, behind);
        }
    }
}

// Samples k - 1 and k of two rows, for k from 0 to 8, prepared for weighting.
template <Samples kind>
struct ChromaPairs {
    // Samples of bytes, packed for __dp4a(): a sample and the next one of the first row, then of the second row.
    // Samples of words are stored as numbers in `rows`.
    std::uint32_t pairs[kind == Samples::bytes ? half_px + 1 : 1];
    int rows[kind == Samples::bytes ? 1 : 2][kind == Samples::bytes ? 1 : half_px + 2];

    // Arranges the samples of two rows so that one __dp4a() weights the four samples around a pixel.
    __device__ ChromaPairs(const ChromaSamples<kind>& first, const ChromaSamples<kind>& second) {
        if constexpr (kind == Samples::bytes) {
            const auto join = [](std::uint32_t a, std::uint32_t b, std::uint32_t selector) {
                return __byte_perm(a, b, selector);
            };
            const auto *a = first.words, *b = second.words;
            const auto ends = [&](std::uint32_t a0, std::uint32_t a1, std::uint32_t b0, std::uint32_t b1, int last) {
                // Joins byte `last` of a word with the first byte of the next.
                return join(join(a0, a1, 0x40 | last), join(b0, b1, 0x40 | last), 0x5410);
            };
            pairs[0] = ends(static_cast<std::uint32_t>(first.before), a[0], static_cast<std::uint32_t>(second.before),
                            b[0], 0);
            pairs[4] = ends(a[0], a[1], b[0], b[1], 3);
            pairs[8] = ends(a[1], static_cast<std::uint32_t>(first.behind), b[1],
                            static_cast<std::uint32_t>(second.behind), 3);
#pragma unroll
            for (int word = 0; word < 2; ++word) {
                pairs[4 * word + 1] = join(a[word], b[word], 0x5410);
                pairs[4 * word + 2] = join(a[word], b[word], 0x6521);
                pairs[4 * word + 3] = join(a[word], b[word], 0x7632);
            }
        } else {
            rows[0][0] = first.before;
            rows[1][0] = second.before;
#pragma unroll
            for (int at = 0; at < half_px; ++at) {
                rows[0][at + 1] = value_of<kind>(first.words, at);
                rows[1][at + 1] = value_of<kind>(second.words, at);
            }
            rows[0][half_px + 1] = first.behind;
            rows[1][half_px + 1] = second.behind;
        }
    }

    // Returns sixteen times the chroma of pixel `px`, which lies between samples px / 2 - 1 and px / 2 if px is even,
    // otherwise between px / 2 and the next. The bytes of `weights` apply to both samples in the first row, then to
    // both in the second.
    __device__ int sixteenths(int px, std::uint32_t weights) const {
        const int pair = (px + 1) / 2;
        if constexpr (kind == Samples::bytes) {
            return static_cast<int>(__dp4a(pairs[pair], weights, 0u));
        } else {
            int sum = 0;
#pragma unroll
            for (int row = 0; row < 2; ++row)
#pragma unroll
                for (int at = 0; at < 2; ++at)
                    sum += rows[row][pair + at] * static_cast<int>(weights >> (16 * row + 8 * at) & 255);
            return sum;
        }
    }
};

// Clamps four pixels of B, G, R to bytes and packs them into three words.
__device__ void pack_bgr(const int (&bgr)[4][3], std::uint32_t* words) {
    const auto* all = &bgr[0][0];
#pragma unroll
    for (int word = 0; word < 3; ++word)
        words[word] = held_bytes(all[4 * word], all[4 * word + 1], all[4 * word + 2], all[4 * word + 3]);
}

// Converts one row of a lane; `chroma_of(component, px)` returns sixteenths of chroma.
template <Samples kind, Chroma chroma, int channels, bool aligned, class ChromaOf>
__device__ void convert_row(const Job& job, int frame, int y, int x, ChromaOf&& chroma_of) {
    constexpr int sample_bytes = kind == Samples::bytes ? 1 : 2;
    // Lanes to the right of the image take part in store_by_warp() without any pixels.
    const bool any = x < job.width && y >= 0 && y < job.height;
    const bool whole = aligned && x + lane_px <= job.width;
    std::uint32_t luma[4 * sample_bytes] = {};
    if (any) {
        const auto* from = job.luma.row(frame, y);
        if (whole)
            load_words<4 * sample_bytes>(from + sample_bytes * x, luma);
        else
            load_held<4 * sample_bytes, sample_bytes>(from, x, job.width, luma);
    }
    std::uint32_t words[4 * channels];
#pragma unroll
    for (int four = 0; four < lane_px / 4; ++four) {
        int bgr[4][3], gray[4];
#pragma unroll
        for (int at = 0; at < 4; ++at) {
            const int px = 4 * four + at;
            gray[at] = job.y(value_of<kind>(luma, px));
            if constexpr (chroma == Chroma::none) {
                gray[at] >>= from_yuv_shift;
                bgr[at][0] = bgr[at][1] = bgr[at][2] = gray[at];
            } else {
                const int u = chroma_of(0, px), v = chroma_of(1, px);
                bgr[at][0] = (gray[at] + job.b_u(u)) >> from_yuv_shift;
                bgr[at][1] = (gray[at] + job.g_u(u) + job.g_v(v)) >> from_yuv_shift;
                bgr[at][2] = (gray[at] + job.r_v(v)) >> from_yuv_shift;
            }
        }
        if constexpr (channels == 3)
            pack_bgr(bgr, words + 3 * four);
        else
            words[four] = held_bytes(gray[0], gray[1], gray[2], gray[3]);
    }
    if (y < 0 || y >= job.height) return;  // true for the whole warp
    auto* out = job.out.row(frame, y);
    if constexpr (channels == 1) {
        if (any && whole)
            *reinterpret_cast<uint4*>(out + x) = {words[0], words[1], words[2], words[3]};
        else if (any)
            store_some<4>(words, job.width - x, out + x);
    } else {
        const int first = x - static_cast<int>(threadIdx.x) * lane_px;
        // Number of lanes with all sixteen pixels inside the image.
        const int whole_lanes = aligned ? min((job.width - first) / lane_px, warp_lanes) : 0;
        if (aligned) store_by_warp(words, whole_lanes, out + 3 * first);
        if (any && !whole) store_some<12>(words, 3 * (job.width - x), out + 3 * x);
    }
}

// Converts sixteen columns of a group of rows per lane; the table at the top of this file lists the rows of a group.
template <Samples kind, Chroma chroma, int channels, bool aligned>
__global__ void __launch_bounds__(warp_lanes* block_warps) yuv_to_image_kernel(Job job) {
    const int x = static_cast<int>(blockIdx.x * warp_lanes + threadIdx.x) * lane_px;
    const int group = static_cast<int>(blockIdx.y * block_warps + threadIdx.y);
    const int frame = job.first_frame + static_cast<int>(blockIdx.z);
    if constexpr (chroma == Chroma::none) {
        convert_row<kind, chroma, channels, aligned>(job, frame, group, x, [](int, int) { return 0; });
    } else if constexpr (chroma == Chroma::each) {
        constexpr int words = kind == Samples::bytes ? 4 : 8;
        constexpr int sample_bytes = kind == Samples::bytes ? 1 : 2;
        std::uint32_t uv[2][words] = {};
        if (x < job.width && group < job.height)
            for (int component = 0; component < 2; ++component) {
                const auto* from = (component ? job.v : job.u).row(frame, group);
                if (aligned && x + lane_px <= job.width)
                    load_words<words>(from + sample_bytes * x, uv[component]);
                else
                    load_held<words, sample_bytes>(from, x, job.width, uv[component]);
            }
        convert_row<kind, chroma, channels, aligned>(
            job, frame, group, x, [&](int component, int px) { return 16 * value_of<kind>(uv[component], px); });
    } else {
        // Both rows of a group lie between the same two rows of chroma.
        const int y = job.each_row ? group : 2 * group - job.centred_y;
        if (y >= job.height) return;
        const int first = job.each_row ? group : group - job.centred_y;
        const int second = job.each_row ? group : first + 1;
        ChromaSamples<kind> above[2] = {}, below[2] = {};
        if (x < job.width) {
            load_chroma<kind, chroma, aligned>(job, frame, first, x / 2, above);
            load_chroma<kind, chroma, aligned>(job, frame, second, x / 2, below);
        }
        const ChromaPairs<kind> pairs[2] = {{above[0], below[0]}, {above[1], below[1]}};
        for (int row = 0; row < (job.each_row ? 1 : 2); ++row)
            convert_row<kind, chroma, channels, aligned>(job, frame, y + row, x, [&](int component, int px) {
                return pairs[component].sixteenths(px, job.weights[row][px % 2]);
            });
    }
}

// Launches the instance for one layout of samples and chroma, aligned or not.
template <Samples kind, Chroma chroma, int channels>
void launch(Job job, const YuvInfo& info, bool aligned, const cuda::Stream& stream) {
    // Groups of two rows start with row -1 if chroma is centred.
    const bool two_rows = (chroma == Chroma::halved || chroma == Chroma::pairs) && !job.each_row;
    const int groups = two_rows ? (info.height + 1 + job.centred_y) / 2 : info.height;
    for_grids(info.width, groups, info.frames, [&](dim3 grid, int frame) {
        job.first_frame = frame;
        const dim3 block(warp_lanes, block_warps);
        if (aligned)
            cuda::Launch(stream, grid, block)(yuv_to_image_kernel<kind, chroma, channels, true>, job);
        else
            cuda::Launch(stream, grid, block)(yuv_to_image_kernel<kind, chroma, channels, false>, job);
    });
}

// Selects the instance for the picture's chroma. Gray images need luma only.
template <Samples kind>
void launch(const Job& job, const YuvInfo& info, int channels, bool aligned, const cuda::Stream& stream) {
    if (channels == 1) return launch<kind, Chroma::none, 1>(job, info, aligned, stream);
    if (info.format.chroma == ChromaSampling::none) return launch<kind, Chroma::none, 3>(job, info, aligned, stream);
    if (info.format.chroma == ChromaSampling::s444) {
        // 4:4:4 is never interleaved.
        if constexpr (kind != Samples::upper_words) launch<kind, Chroma::each, 3>(job, info, aligned, stream);
        return;
    }
    if (info.format.interleaved) {
        if constexpr (kind != Samples::lower_words) launch<kind, Chroma::pairs, 3>(job, info, aligned, stream);
        return;
    }
    if constexpr (kind != Samples::upper_words) launch<kind, Chroma::halved, 3>(job, info, aligned, stream);
}

// Packs the weights of the four samples around a pixel: products of its row's and its column's taps.
std::uint32_t packed(const ChromaTaps& rows, const ChromaTaps& columns) {
    const auto byte = [](int row, int column, int shift) { return static_cast<std::uint32_t>(row * column) << shift; };
    return byte(rows.first_weight, columns.first_weight, 0) | byte(rows.first_weight, columns.second_weight, 8) |
           byte(rows.second_weight, columns.first_weight, 16) | byte(rows.second_weight, columns.second_weight, 24);
}

}  // namespace

void YuvToImage::run(const DeviceYuv<const std::uint8_t>& picture, DeviceView<std::uint8_t> image) const {
    run(picture, image, executor_->stream());
}

// Folds rounding and offsets into the products, and packs the weights of the chroma taps into bytes for
// __dp4a().
void YuvToImage::run(const DeviceYuv<const std::uint8_t>& picture, DeviceView<std::uint8_t> image,
                     const cuda::Stream& stream) const {
    validate(picture, picture_, "the YUV picture");
    validate(image, image_shape(), "the image converted from YUV");
    const auto by = from_yuv_coefficients(picture_.coding, picture_.format.bits);
    const int bits = picture_.format.bits;

    Job job{};
    job.luma = image_of(picture.planes[0]);
    job.out = OutImage(image);
    bool aligned = job.luma.aligned_to(16) && job.out.aligned_to(16);
    if (channels_ == 3 && picture_.format.chroma != ChromaSampling::none) {
        job.u = image_of(picture.planes[1]);
        aligned = aligned && job.u.aligned_to(16);
        if (!picture_.format.interleaved) {
            job.v = image_of(picture.planes[2]);
            aligned = aligned && job.v.aligned_to(16);
        }
    }
    job.width = picture_.width;
    job.height = picture_.height;
    job.chroma_width = picture_.chroma_width();
    job.chroma_height = picture_.chroma_height();
    const bool halved_y = picture_.format.chroma == ChromaSampling::s420;
    const bool centred_y = halved_y && picture_.siting.centred_y;
    job.each_row = !halved_y;
    job.centred_y = centred_y;
    for (int row = 0; row < 2; ++row)
        for (int column = 0; column < 2; ++column) {
            // If chroma is centred, a group starts with an odd row. Otherwise the first row of a group coincides with a
            // chroma row. chroma_taps() returns that chroma row as the second tap, with weights 0 and 4, but the group
            // loads it as the first of its two rows, so the weights are exchanged.
            auto rows = chroma_taps(row + centred_y, halved_y, centred_y);
            if (halved_y && !centred_y && row == 0) rows = {0, 1, 4, 0};
            job.weights[row][column] = packed(rows, chroma_taps(column, true, picture_.siting.centred_x));
        }

    const int luma_unit = luma_15(1, bits), chroma_unit = 1 << (12 - bits);
    const auto of_chroma = [&](int factor) { return Product{chroma_unit * factor, (1 << 14) - 32768 * factor}; };
    job.y = {luma_unit * by.y, (1 << 14) + by.y_offset * 32768};
    job.b_u = of_chroma(by.b_u);
    job.g_u = of_chroma(by.g_u);
    job.g_v = of_chroma(by.g_v);
    job.r_v = of_chroma(by.r_v);

    if (bits == 8)
        launch<Samples::bytes>(job, picture_, channels_, aligned, stream);
    else if (picture_.format.interleaved)
        launch<Samples::upper_words>(job, picture_, channels_, aligned, stream);
    else
        launch<Samples::lower_words>(job, picture_, channels_, aligned, stream);
}

}  // namespace framewire
