// Comparison of a block with the previous picture in one pass: number of bytes beyond the threshold, largest
// difference, and sum of squares. The bounded packer uses it to skip blocks that are within the threshold already.

#include "framewire/core/simd/simd.hpp"
#include "framewire/delta/prediction/distance.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "framewire/delta/prediction/distance_cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "framewire/core/simd/simd-inl.hpp"

#include <algorithm>
#include <cstdlib>

HWY_BEFORE_NAMESPACE();
namespace framewire::delta::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using namespace framewire::HWY_NAMESPACE;

}  // namespace

// Compares rows of a block: at most 64 rows of 192 bytes, so that the sums of squares fit into 32 bits.
void rows_distance(const std::uint8_t* camera, std::int64_t camera_stride, const std::uint8_t* reference,
                   std::int64_t reference_stride, int rows, int bytes, int threshold, Summary& sum) {
    const hn::ScalableTag<std::uint8_t> d8;
    const hn::Repartition<std::int16_t, decltype(d8)> d16;
    const hn::Repartition<std::int32_t, decltype(d8)> d32;
    const hn::Repartition<std::uint64_t, decltype(d8)> d64;
    const auto lanes = static_cast<int>(hn::Lanes(d8));
    const auto limit = hn::Set(d8, static_cast<std::uint8_t>(threshold));
    const auto zero = hn::Zero(d8), one = hn::Set(d8, 1);
    auto largest = zero;
    auto squares = hn::Zero(d32);
    auto count = hn::Zero(d64);
    for (; rows > 0; --rows, camera += camera_stride, reference += reference_stride) {
        int i = 0;
        for (; i + lanes <= bytes; i += lanes) {
            const auto a = hn::LoadU(d8, camera + i), b = hn::LoadU(d8, reference + i);
            const auto distance = hn::Sub(hn::Max(a, b), hn::Min(a, b));
            largest = hn::Max(largest, distance);
            // 1 for each byte beyond the threshold, summed in groups of eight.
            count = hn::Add(count, hn::SumsOf8(hn::Min(hn::SaturatedSub(distance, limit), one)));
            const auto low = hn::BitCast(d16, hn::InterleaveLower(d8, distance, zero));
            const auto high = hn::BitCast(d16, hn::InterleaveUpper(d8, distance, zero));
            squares = hn::Add(squares, hn::Add(multiply_add_pairs(d32, low, low), multiply_add_pairs(d32, high, high)));
        }
        for (; i < bytes; ++i) {
            const auto distance = static_cast<std::uint32_t>(std::abs(camera[i] - reference[i]));
            sum.count += distance > static_cast<std::uint32_t>(threshold);
            sum.max_error = std::max(sum.max_error, distance);
            sum.squared_error += distance * distance;
        }
    }
    HWY_ALIGN std::uint8_t largest_lanes[HWY_MAX_BYTES];
    hn::Store(largest, d8, largest_lanes);
    sum.max_error = std::max<std::uint32_t>(sum.max_error, *std::max_element(largest_lanes, largest_lanes + lanes));
    sum.count += static_cast<std::uint32_t>(hn::GetLane(hn::SumOfLanes(d64, count)));
    sum.squared_error += static_cast<std::uint64_t>(hn::GetLane(hn::SumOfLanes(d32, squares)));
}

}  // namespace framewire::delta::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace framewire::delta {

HWY_EXPORT(rows_distance);

Summary block_distance(HostView<const std::uint8_t> camera, HostView<const std::uint8_t> reference,
                       const BlockPlace& block, int threshold) {
    const int channels = camera.shape().channels;
    const auto from = std::int64_t{block.x} * channels;
    Summary sum;
    HWY_DYNAMIC_DISPATCH(rows_distance)
    (camera.row(0, block.y) + from, camera.row_stride_bytes(), reference.row(0, block.y) + from,
     reference.row_stride_bytes(), block.height, block.width * channels, threshold, sum);
    return sum;
}

}  // namespace framewire::delta

#endif
