#include "framewire/cuda/check.hpp"
#include "framewire/filters/gray/gray.hpp"

#include <algorithm>
#include <cstdint>
#include <initializer_list>

namespace framewire {
namespace {

constexpr int threads_per_block = 256;
constexpr int group_px = 16;  // pixels a thread: three 16-byte loads of BGR, one or three 16-byte stores

// The sum of GrayWeights needs 24 bits, dp4a multiplies bytes: each weight goes as a high and a low byte.
struct SplitWeights {
    std::uint32_t high, low;  // bytes b, g, r, 0
    std::int32_t rounding;
};

SplitWeights split(const GrayWeights& weights) {
    const auto bytes = [](int b, int g, int r) {
        return static_cast<std::uint32_t>(b) | static_cast<std::uint32_t>(g) << 8 | static_cast<std::uint32_t>(r) << 16;
    };
    return {bytes(weights.b >> 8, weights.g >> 8, weights.r >> 8),
            bytes(weights.b & 255, weights.g & 255, weights.r & 255), weights.rounding};
}

// `pixel` holds b, g, r in its low bytes; the highest has weight 0.
__device__ std::uint32_t gray_of(std::uint32_t pixel, const SplitWeights& weights) {
    const auto high = __dp4a(pixel, weights.high, 0u);
    const auto low = __dp4a(pixel, weights.low, static_cast<std::uint32_t>(weights.rounding));
    return (high * 256 + low) >> gray_shift;
}

// Four BGR pixels in three words to four gray bytes.
__device__ std::uint32_t gray_of_four(std::uint32_t w0, std::uint32_t w1, std::uint32_t w2, const SplitWeights& weights) {
    const auto g0 = gray_of(w0, weights);
    const auto g1 = gray_of(__funnelshift_r(w0, w1, 24), weights);
    const auto g2 = gray_of(__funnelshift_r(w1, w2, 16), weights);
    const auto g3 = gray_of(w2 >> 8, weights);
    return g0 | g1 << 8 | g2 << 16 | g3 << 24;
}

// Four gray bytes to the three words of four BGR pixels.
__device__ uint3 repeat_three_times(std::uint32_t gray) {
    return {__byte_perm(gray, 0, 0x1000), __byte_perm(gray, 0, 0x2211), __byte_perm(gray, 0, 0x3332)};
}

__device__ void store_gray(uint4 gray, int out_channels, std::uint8_t* out) {
    auto* words = reinterpret_cast<uint4*>(out);
    if (out_channels == 1) {
        words[0] = gray;
        return;
    }
    const auto a = repeat_three_times(gray.x), b = repeat_three_times(gray.y), c = repeat_three_times(gray.z),
               d = repeat_three_times(gray.w);
    words[0] = {a.x, a.y, a.z, b.x};
    words[1] = {b.y, b.z, c.x, c.y};
    words[2] = {c.z, d.x, d.y, d.z};
}

// Rows of a batch; a dense batch is one long row.
struct Rows {
    const std::uint8_t* in;
    std::uint8_t* out;
    std::int64_t in_row_stride, in_frame_stride, out_row_stride, out_frame_stride;
    std::int64_t row_px;
    int rows_per_frame;
};

template <int in_channels, int out_channels, bool aligned>
__global__ void __launch_bounds__(threads_per_block) gray_kernel(Rows rows, SplitWeights weights) {
    const auto x = (std::int64_t{blockIdx.x} * threads_per_block + threadIdx.x) * group_px;
    if (x >= rows.row_px) return;
    const auto frame = blockIdx.y / rows.rows_per_frame, y = blockIdx.y % rows.rows_per_frame;
    const auto* in = rows.in + frame * rows.in_frame_stride + y * rows.in_row_stride + x * in_channels;
    auto* out = rows.out + frame * rows.out_frame_stride + y * rows.out_row_stride + x * out_channels;

    if (aligned && x + group_px <= rows.row_px) {
        const auto* words = reinterpret_cast<const uint4*>(in);
        if constexpr (in_channels == 3) {
            const auto a = __ldcs(words), b = __ldcs(words + 1), c = __ldcs(words + 2);
            store_gray({gray_of_four(a.x, a.y, a.z, weights), gray_of_four(a.w, b.x, b.y, weights),
                        gray_of_four(b.z, b.w, c.x, weights), gray_of_four(c.y, c.z, c.w, weights)},
                       out_channels, out);
        } else {
            store_gray(__ldcs(words), out_channels, out);
        }
        return;
    }
    const auto pixels = static_cast<int>(min(std::int64_t{group_px}, rows.row_px - x));
    for (int pixel = 0; pixel < pixels; ++pixel) {
        std::uint32_t gray = in[pixel * in_channels];
        if constexpr (in_channels == 3)
            gray = gray_of(gray | in[pixel * 3 + 1] << 8 | in[pixel * 3 + 2] << 16, weights);
        for (int channel = 0; channel < out_channels; ++channel)
            out[pixel * out_channels + channel] = static_cast<std::uint8_t>(gray);
    }
}

template <int in_channels, int out_channels>
void launch(const Rows& rows, std::int64_t row_count, const SplitWeights& weights, bool aligned, cudaStream_t stream) {
    const auto groups = (rows.row_px + group_px - 1) / group_px;
    const dim3 grid(static_cast<unsigned>((groups + threads_per_block - 1) / threads_per_block),
                    static_cast<unsigned>(row_count));
    if (aligned)
        gray_kernel<in_channels, out_channels, true><<<grid, threads_per_block, 0, stream>>>(rows, weights);
    else
        gray_kernel<in_channels, out_channels, false><<<grid, threads_per_block, 0, stream>>>(rows, weights);
    cuda::check_launch();
}

bool multiple_of_16(std::initializer_list<std::int64_t> numbers) {
    for (const auto number : numbers)
        if (number % 16 != 0) return false;
    return true;
}

}  // namespace

void Gray::run(const FilterImages<MemorySpace::device>& images) const {
    validate(images.in, shape_, "gray's image");
    validate(images.out, output_shape(), "gray's result");
    const auto in = images.in;
    const auto out = images.out;
    Rows rows{in.data(),
              out.data(),
              in.row_stride_bytes(),
              in.frame_stride_bytes(),
              out.row_stride_bytes(),
              out.frame_stride_bytes(),
              shape_.width,
              shape_.height};
    std::int64_t row_count = shape_.rows();
    const bool dense = in.dense() && out.dense();
    if (dense) {
        rows.row_px = shape_.rows() * shape_.width;
        rows.rows_per_frame = 1;
        row_count = 1;
    }
    const auto address = [](const void* pointer) { return static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(pointer)); };
    const bool aligned = multiple_of_16({address(in.data()), address(out.data())}) &&
                         (dense || multiple_of_16({rows.in_row_stride, rows.in_frame_stride, rows.out_row_stride,
                                                   rows.out_frame_stride}));
    const auto weights = split(gray_weights(parameters_.method));
    // A grid is at most 65535 blocks high: larger batches of rows with gaps go frame by frame.
    const auto frames_each = dense ? shape_.frames : std::max(1, 65535 / shape_.height);
    for (int frame = 0; frame < shape_.frames; frame += frames_each) {
        auto part = rows;
        part.in += frame * rows.in_frame_stride;
        part.out += frame * rows.out_frame_stride;
        const auto part_rows =
            dense ? row_count : std::int64_t{std::min(frames_each, shape_.frames - frame)} * shape_.height;
        const auto stream = executor_->stream().handle();
        if (shape_.channels == 3)
            parameters_.channels == 3 ? launch<3, 3>(part, part_rows, weights, aligned, stream)
                                      : launch<3, 1>(part, part_rows, weights, aligned, stream);
        else
            parameters_.channels == 3 ? launch<1, 3>(part, part_rows, weights, aligned, stream)
                                      : launch<1, 1>(part, part_rows, weights, aligned, stream);
    }
}

}  // namespace framewire
