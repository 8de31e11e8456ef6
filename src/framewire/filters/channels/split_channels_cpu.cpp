#include "framewire/core/simd/simd.hpp"
#include "framewire/filters/channels/split_channels.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "framewire/filters/channels/split_channels_cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

HWY_BEFORE_NAMESPACE();
namespace framewire::HWY_NAMESPACE {

void split_three(const std::uint8_t* row, int width, std::uint8_t* to, std::int64_t channel_stride) {
    namespace hn = hwy::HWY_NAMESPACE;
    const hn::CappedTag<std::uint8_t, 32> d;
    const auto lanes = static_cast<int>(hn::Lanes(d));
    int x = 0;
    for (; x + lanes <= width; x += lanes) {
        hn::Vec<decltype(d)> b, g, r;
        hn::LoadInterleaved3(d, row + 3 * x, b, g, r);
        hn::StoreU(b, d, to + x);
        hn::StoreU(g, d, to + channel_stride + x);
        hn::StoreU(r, d, to + 2 * channel_stride + x);
    }
    for (; x < width; ++x)
        for (int c = 0; c < 3; ++c) to[c * channel_stride + x] = row[3 * x + c];
}

}  // namespace framewire::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace framewire {

HWY_EXPORT(split_three);

void split_channels(const std::uint8_t* row, int width, int channels, const ChannelRows& rows, int y) {
    if (channels == 3)
        HWY_DYNAMIC_DISPATCH(split_three)(row, width, rows.row(y), rows.channel_stride);
    else
        std::copy_n(row, width, rows.row(y));
}

}  // namespace framewire

#endif
