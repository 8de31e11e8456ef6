#pragma once

#include "framewire/cuda/buffer.hpp"
#include "framewire/filters/filter.hpp"

#include <array>
#include <cstdint>

namespace framewire {

/// Largest possible sum of the three channels' differences.
inline constexpr int max_heat = 3 * 255;

/// Color for every sum of differences: with f = sum / 765, B = sin(pi f + pi/2), G = sin(pi f), R = sin(pi f - pi/2),
/// each times 255, clamped to 0..255 and rounded to nearest. Two entries are added so that the table consists of whole
/// 16-byte vectors.
using HeatmapTable = std::array<Pixel, max_heat + 3>;
/// Returns the table, which is computed once, in double precision, and used by both backends. Thread-safe.
const HeatmapTable& heatmap_table();

/// Shows how much each pixel changed since the previous frame as a color: blue for none, green for half, red for most
/// (streaming report, section 4). A one-channel pixel counts as three equal channels. The result has three channels.
///
/// `in`, `previous` and `out`: frames x height x width, any strides and alignment, no overlap.
class Heatmap {
public:
    /// Throws Error{usage} on a shape that is not allowed. On CUDA, uploads the table.
    Heatmap(const Shape& shape, Executor& executor);

    /// Returns the shape of the result: that of the image with three channels.
    Shape output_shape() const { return shape_.with_channels(3); }

    /// Runs on the executor's threads and returns when done.
    void run(const FilterImages<MemorySpace::host>& images) const;
    /// Queues the filter on the executor's stream.
    void run(const FilterImages<MemorySpace::device>& images) const;

private:
    Shape shape_;
    Executor* executor_;
    cuda::DeviceBuffer table_;  // CUDA: the table on the GPU
};

/// Computes the heat map from the differences that a difference encoder has already found, without reading the other
/// pixels. The result equals that of Heatmap for the encoder's reference after and before the frame, which is what a
/// viewer sees: changes within the threshold do not count. Positions outside the frame are skipped.
class HeatmapFromChanges {
public:
    /// `shape` is that of the encoder's frames. Throws Error{usage} on a shape that is not allowed. On CUDA, uploads
    /// the table.
    HeatmapFromChanges(const Shape& shape, Executor& executor);

    /// Returns the shape of the result: that of the frames with three channels.
    Shape output_shape() const { return shape_.with_channels(3); }

    /// Draws one batch. `reference` is the encoder's reference after the frame. Any strides, no overlap. Returns when
    /// done.
    void run(const ChangedBytes<MemorySpace::host>& changes, HostView<const std::uint8_t> reference,
             HostView<std::uint8_t> out) const;
    /// Queues the same work for data in device memory on the executor's stream.
    void run(const ChangedBytes<MemorySpace::device>& changes, DeviceView<const std::uint8_t> reference,
             DeviceView<std::uint8_t> out) const;

private:
    Shape shape_;
    Executor* executor_;
    cuda::DeviceBuffer table_;  // CUDA: the table on the GPU
};

/// Returns the registry entry of `heatmap`.
FilterInfo heatmap_info();

/// Draws one run of pixels on the calling thread, for passes that fuse several filters. `out` has three channels and
/// must not overlap the inputs.
void heatmap_span(const std::uint8_t* in, const std::uint8_t* previous, int channels, std::int64_t pixels,
                  std::uint8_t* out);

/// Uploads heatmap_table() to device memory for the kernels and waits for it. Returns an empty buffer for a CPU
/// executor.
cuda::DeviceBuffer heatmap_table_for(const Executor& executor);

/// Returns the sum of the three channels' absolute differences, which is the index of the pixel's color in the table.
FRAMEWIRE_HOST_DEVICE inline int heat_of(Pixel now, Pixel before) {
#ifdef __CUDA_ARCH__
    return static_cast<int>(__vsadu4(now, before));
#else
    int sum = 0;
    for (int channel = 0; channel < 3; ++channel) {
        const int difference = channel_of(now, channel) - channel_of(before, channel);
        sum += difference < 0 ? -difference : difference;
    }
    return sum;
#endif
}

/// Returns the same sum as heat_of(), computed from a pixel's changes alone: those with indices first to end - 1, each
/// at one of the pixel's bytes. `now` points to the pixel's current bytes. A single channel counts three times.
FRAMEWIRE_HOST_DEVICE inline int heat_of_changes(const std::uint8_t* now, const std::uint32_t* positions,
                                                 const std::uint8_t* differences, std::int64_t first, std::int64_t end,
                                                 int channels) {
    int sum = 0;
    for (auto index = first; index < end && index < first + channels; ++index) {
        const int value = now[positions[index] % static_cast<std::uint32_t>(channels)];
        const int difference = value - static_cast<std::uint8_t>(value - differences[index]);
        sum += difference < 0 ? -difference : difference;
    }
    return channels == 1 ? 3 * sum : sum;
}

}  // namespace framewire
