#pragma once

#include "framewire/filters/heatmap.hpp"

namespace framewire {

/// The heat map's table in shared memory. Neighbouring pixels need different entries, which constant memory would serve
/// one after the other.
struct HeatmapColours {
    /// Size of the table in 16-byte vectors.
    static constexpr unsigned vectors = sizeof(HeatmapTable) / sizeof(uint4);
    static_assert(sizeof(HeatmapTable) % sizeof(uint4) == 0);

    /// The colors.
    alignas(16) Pixel table[sizeof(HeatmapTable) / sizeof(Pixel)];

    /// Loads the table. Call it with all threads of the block, at least `vectors` many; it synchronises the block.
    __device__ void fetch(const Pixel* from) {
        if (threadIdx.x < vectors)
            reinterpret_cast<uint4*>(table)[threadIdx.x] = __ldg(reinterpret_cast<const uint4*>(from) + threadIdx.x);
        __syncthreads();
    }
    /// Color of a pixel, given its value now and in the previous frame.
    __device__ Pixel of(Pixel now, Pixel before) const { return table[heat_of(now, before)]; }
};

/// Color of one pixel on the GPU, for passes that fuse several filters.
class HeatmapOnDevice {
public:
    /// The operation has no parameters.
    explicit HeatmapOnDevice(const PointwiseOp&) {}
    /// Color of a pixel, given its value now and in the previous frame, from a loaded table.
    __device__ Pixel operator()(Pixel now, Pixel before, const HeatmapColours& colours) const {
        return colours.of(now, before);
    }
};

}  // namespace framewire
