#include "framewire/colour/bgr0/bgr0.hpp"
#include "framewire/core/simd/simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "framewire/colour/bgr0/bgr0_cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace framewire::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using D8 = hn::ScalableTag<std::uint8_t>;

}  // namespace

// Both directions process a vector of pixels at a time and the rest of the row one by one.
void bgr0_row_to_bgr(const std::uint8_t* from, std::int64_t pixels, std::uint8_t* to) {
    const D8 d;
    const auto step = static_cast<std::int64_t>(hn::Lanes(d));
    std::int64_t x = 0;
    for (; x + step <= pixels; x += step) {
        hn::VFromD<D8> b, g, r, unused;
        hn::LoadInterleaved4(d, from + 4 * x, b, g, r, unused);
        hn::StoreInterleaved3(b, g, r, d, to + 3 * x);
    }
    for (; x < pixels; ++x)
        for (int channel = 0; channel < 3; ++channel) to[3 * x + channel] = from[4 * x + channel];
}

// The fourth byte becomes 255.
void bgr_row_to_bgr0(const std::uint8_t* from, std::int64_t pixels, std::uint8_t* to) {
    const D8 d;
    const auto step = static_cast<std::int64_t>(hn::Lanes(d));
    std::int64_t x = 0;
    for (; x + step <= pixels; x += step) {
        hn::VFromD<D8> b, g, r;
        hn::LoadInterleaved3(d, from + 3 * x, b, g, r);
        hn::StoreInterleaved4(b, g, r, hn::Set(d, 255), d, to + 4 * x);
    }
    for (; x < pixels; ++x) {
        for (int channel = 0; channel < 3; ++channel) to[4 * x + channel] = from[3 * x + channel];
        to[4 * x + 3] = 255;
    }
}

}  // namespace framewire::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "framewire/colour/chunks.hpp"

namespace framewire {

HWY_EXPORT(bgr0_row_to_bgr);
HWY_EXPORT(bgr_row_to_bgr0);

void bgr0_to_bgr(const std::uint8_t* from, std::int64_t stride_bytes, HostView<std::uint8_t> image,
                 const ThreadPool& threads) {
    const auto& shape = image.shape();
    threads.for_chunks(
        shape.height, rows_each(shape.row_bytes()), [&](std::int64_t, std::int64_t begin, std::int64_t end) {
            for (auto y = begin; y < end; ++y)
                HWY_DYNAMIC_DISPATCH(bgr0_row_to_bgr)(from + y * stride_bytes, shape.width, image.batch_row(y));
        });
}

void bgr_to_bgr0(HostView<const std::uint8_t> image, std::uint8_t* to, std::int64_t stride_bytes,
                 const ThreadPool& threads) {
    const auto& shape = image.shape();
    threads.for_chunks(
        shape.height, rows_each(shape.row_bytes()), [&](std::int64_t, std::int64_t begin, std::int64_t end) {
            for (auto y = begin; y < end; ++y)
                HWY_DYNAMIC_DISPATCH(bgr_row_to_bgr0)(image.batch_row(y), shape.width, to + y * stride_bytes);
        });
}

}  // namespace framewire

#endif
