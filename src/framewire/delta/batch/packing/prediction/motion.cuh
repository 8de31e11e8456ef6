#pragma once

// Motion compensation on the device: the counterpart of MotionSearch and ForetoldPart, for the threads of one block.
// For .cu files only.

#include "framewire/cuda/kernel/kernel_image.hpp"
#include "framewire/delta/blocks/grid.hpp"
#include "framewire/delta/prediction/motion/motion_formulas.hpp"

#include <cstdint>

namespace framewire::delta {

/// Copy of the surroundings of a sub-block in the previous picture, large enough for every vector and the neighbours of
/// the moved pixels. Outside the picture the nearest pixel is repeated. In shared memory.
///
///     |<- 17 ->|<- 8 ->|<- 17 + 1 ->|    both horizontally and vertically; vectors reach 15.75 pixels,
///                                      the slope one pixel further, interpolation one more to the right and below
template <int channels>
struct MotionWindow {
    static constexpr int margin = 17, side = part_side + 2 * margin + 1;
    static constexpr int stride =
        (side * channels + 3) / 4 * 4 + 4;  // in bytes; allows reads of whole words beyond the end of a row
    std::uint8_t bytes[side * stride];

    /// Loads the window around the sub-block whose first pixel is (x, y) in the picture. All threads of the block call
    /// it.
    __device__ void load(const cuda::KernelImage<const std::uint8_t>& picture, int stream, int frame_width,
                         int frame_height, int x, int y) {
        for (int i = static_cast<int>(threadIdx.x); i < side * side; i += static_cast<int>(blockDim.x)) {
            const int row = i / side, column = i % side;
            const int from_x = min(max(x - margin + column, 0), frame_width - 1);
            const int from_y = min(max(y - margin + row, 0), frame_height - 1);
            const auto* from = picture.row(stream, from_y) + std::int64_t{from_x} * channels;
            auto* to = bytes + row * stride + column * channels;
#pragma unroll
            for (int channel = 0; channel < channels; ++channel) to[channel] = from[channel];
        }
    }
    /// Returns the predicted sample of pixel (x, y) of the sub-block, or of a pixel around it, under `vector`: bilinear
    /// interpolation in quarters of a pixel, rounded (format.md, "Prediction").
    __device__ int sample(int x, int y, int channel, MotionVector vector) const {
        const int qx = vector.x & (quarters - 1), qy = vector.y & (quarters - 1);
        const auto* at = bytes + (margin + y + (vector.y - qy) / quarters) * stride +
                         (margin + x + (vector.x - qx) / quarters) * channels + channel;
        const int above = at[0] * (quarters - qx) + at[channels] * qx;
        const int below = at[stride] * (quarters - qx) + at[stride + channels] * qx;
        return (above * (quarters - qy) + below * qy + 8) / 16;
    }
    /// Returns four bytes from offset `at` on, which need not be aligned.
    __device__ std::uint32_t word(int at) const {
        const auto* words = reinterpret_cast<const std::uint32_t*>(bytes) + at / 4;
        return __funnelshift_r(words[0], words[1], 8 * (at % 4));
    }
};

/// The camera's samples of a sub-block in rows of whole words. `mask` is 255 for bytes inside the frame, else 0. In
/// shared memory.
template <int channels>
struct CameraPart {
    static constexpr int row_words = part_side * channels / 4;
    std::uint32_t samples[part_side][row_words], mask[part_side][row_words];

    /// Returns a sample; coordinates in the sub-block.
    __device__ int sample(int x, int y, int channel) const {
        return reinterpret_cast<const std::uint8_t*>(samples[y])[x * channels + channel];
    }
    /// Loads the sub-block at (x, y) of the picture. All threads of the block call it.
    __device__ void load(const cuda::KernelImage<const std::uint8_t>& camera, int stream, int x, int y, int width,
                         int height) {
        auto* const bytes = reinterpret_cast<std::uint8_t*>(samples);
        auto* const counts = reinterpret_cast<std::uint8_t*>(mask);
        constexpr int row_bytes = part_side * channels;
        for (int i = static_cast<int>(threadIdx.x); i < part_side * row_bytes; i += static_cast<int>(blockDim.x)) {
            const int row = i / row_bytes, at = i % row_bytes;
            const bool inside = row < height && at < width * channels;
            bytes[i] = inside ? camera.row(stream, y + row)[std::int64_t{x} * channels + at] : std::uint8_t{0};
            counts[i] = inside ? 255 : 0;
        }
    }
};

/// Returns the estimated cost of two rows of a sub-block under `vector`, four bytes at a time. The estimate is that of
/// look_for_motion().
template <int channels>
__device__ int motion_cost_of_rows(const CameraPart<channels>& part, const MotionWindow<channels>& window,
                                   MotionVector vector, int row, int height, int threshold) {
    const std::uint32_t qx = vector.x & (quarters - 1), qy = vector.y & (quarters - 1);
    const int from = (MotionWindow<channels>::margin + row + (vector.y - static_cast<int>(qy)) / quarters) *
                         MotionWindow<channels>::stride +
                     (MotionWindow<channels>::margin + (vector.x - static_cast<int>(qx)) / quarters) * channels;
    const auto limit = static_cast<std::uint32_t>(threshold) * 0x01010101u;
    std::uint32_t samples = 0, excess = 0;
    for (int each = 0; each < 2 && row + each < height; ++each)
#pragma unroll
        for (int i = 0; i < CameraPart<channels>::row_words; ++i) {
            const int at = from + each * MotionWindow<channels>::stride + 4 * i;
            auto foretold = window.word(at);
            if (qx | qy) {
                const auto right = window.word(at + channels);
                const auto below = window.word(at + MotionWindow<channels>::stride);
                const auto below_right = window.word(at + MotionWindow<channels>::stride + channels);
                // Two samples share a word; no sum exceeds 16 bits.
                const auto between = [&](int shift) {
                    const auto pair = [&](std::uint32_t word) { return word >> shift & 0x00FF00FFu; };
                    const auto upper = pair(foretold) * (4 - qx) + pair(right) * qx;
                    const auto lower = pair(below) * (4 - qx) + pair(below_right) * qx;
                    return (upper * (4 - qy) + lower * qy + 0x00080008u) >> 4 & 0x00FF00FFu;
                };
                foretold = between(0) | between(8) << 8;
            }
            const auto distance = __vabsdiffu4(part.samples[row + each][i], foretold);
            const auto over = __vcmpgtu4(distance, limit) & part.mask[row + each][i];
            samples += __popc(over) / 8;
            excess = __dp4a(__vsub4(distance, limit) & over, 0x01010101u, excess);
        }
    return static_cast<int>(samples) * motion_sample_cost +
           static_cast<int>(excess) * motion_step_cost / (2 * threshold + 1);
}

}  // namespace framewire::delta
