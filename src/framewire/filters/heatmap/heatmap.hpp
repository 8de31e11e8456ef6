#pragma once

#include "framewire/cuda/buffer.hpp"
#include "framewire/filters/changed_bytes.hpp"
#include "framewire/filters/filter.hpp"
#include "framewire/filters/pointwise/pixel.hpp"

#include <array>
#include <cstdint>

namespace framewire {

/// The largest sum of the three channels' differences.
inline constexpr int max_heat = 3 * 255;

/// The colour of every sum of differences: with f = sum / 765, B = sin(pi f + pi/2), G = sin(pi f), R = sin(pi f -
/// pi/2), each times 255, held to 0..255, rounded to nearest. Computed once, in double; both backends look it up. Two
/// entries more than there are sums make it whole 16-byte vectors.
using HeatmapTable = std::array<Pixel, max_heat + 3>;
const HeatmapTable& heatmap_table();

/// How much each pixel changed since the previous frame, as a colour: blue still, green half, red most (streaming
/// report, section 4). A one-channel pixel counts as three equal ones. The result has three channels. In, previous and
/// out: any strides, any alignment, no overlap; frames x height x width.
class Heatmap {
public:
    /// Throws Error{usage} on a shape that is not allowed. On CUDA it brings the table to the GPU.
    Heatmap(const Shape& shape, Executor& executor);

    Shape output_shape() const { return shape_.with_channels(3); }

    /// On the executor's threads; returns when done.
    void run(const FilterImages<MemorySpace::host>& images) const;
    /// Queued on the executor's stream.
    void run(const FilterImages<MemorySpace::device>& images) const;

private:
    Shape shape_;
    Executor* executor_;
    cuda::DeviceBuffer table_;  // on the CUDA backend
};

/// The heat map from the differences a difference encoder has found anyway, without looking at the other pixels. Equal
/// to Heatmap of the encoder's reference after and before, which is what a viewer holds: bytes within the threshold
/// count as still. Positions outside the frame are left out.
class HeatmapFromChanges {
public:
    /// `shape` is the encoder's. Throws Error{usage} on one that is not allowed.
    HeatmapFromChanges(const Shape& shape, Executor& executor);

    Shape output_shape() const { return shape_.with_channels(3); }

    /// `reference` is the encoder's, after. Any strides, no overlap. Host: returns when done.
    void run(const ChangedBytes<MemorySpace::host>& changes, HostView<const std::uint8_t> reference,
             HostView<std::uint8_t> out) const;
    /// The same with everything in device memory; queued on the executor's stream.
    void run(const ChangedBytes<MemorySpace::device>& changes, DeviceView<const std::uint8_t> reference,
             DeviceView<std::uint8_t> out) const;

private:
    Shape shape_;
    Executor* executor_;
    cuda::DeviceBuffer table_;  // on the CUDA backend
};

/// The registry's entry.
FilterInfo heatmap_info();

/// One run of pixels on the CPU: what Heatmap does, for passes that join several filters.
void heatmap_span(const std::uint8_t* in, const std::uint8_t* previous, int channels, std::int64_t pixels,
                  std::uint8_t* out);

/// heatmap_table() in device memory, as the kernels read it; on the host it is an empty buffer.
cuda::DeviceBuffer heatmap_table_for(const Executor& executor);

}  // namespace framewire
