#pragma once

#include "framewire/filters/heatmap/heatmap.hpp"
#include "framewire/filters/heatmap/heatmap_pixel.hpp"

namespace framewire {

/// The heat map's table in shared memory: neighbouring pixels want different colours, which constant memory would give
/// them one after the other.
struct HeatmapColours {
    static constexpr unsigned vectors = sizeof(HeatmapTable) / sizeof(uint4);
    static_assert(sizeof(HeatmapTable) % sizeof(uint4) == 0);

    alignas(16) Pixel table[sizeof(HeatmapTable) / sizeof(Pixel)];

    /// By all threads of the block, which are at least as many as there are vectors; waits for all.
    __device__ void fetch(const Pixel* from) {
        if (threadIdx.x < vectors)
            reinterpret_cast<uint4*>(table)[threadIdx.x] = __ldg(reinterpret_cast<const uint4*>(from) + threadIdx.x);
        __syncthreads();
    }
    __device__ Pixel of(Pixel now, Pixel before) const { return table[heat_of(now, before)]; }
};

/// The heat map's colour of one pixel, in passes that join several filters.
class HeatmapOnDevice {
public:
    explicit HeatmapOnDevice(const PointwiseOp&) {}
    __device__ Pixel operator()(Pixel now, Pixel before, const HeatmapColours& colours) const {
        return colours.of(now, before);
    }
};

}  // namespace framewire
