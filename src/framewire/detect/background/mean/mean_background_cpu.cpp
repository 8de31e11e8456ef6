#include "framewire/core/simd/simd.hpp"
#include "framewire/detect/background/mean/mean_background.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "framewire/detect/background/mean/mean_background_cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace framewire::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// The step of mean_after() for the even 32-bit lanes, computed in 64 bits; the lower halves hold what is added
// to the mean.
template <class V>
HWY_INLINE auto even_steps(V differences, V rates) {
    const hn::RepartitionToWide<hn::DFromV<V>> d;
    const auto half = hn::Set(d, std::int64_t{1} << (mean_fraction_bits - 1));
    // The shift fills with 0 instead of the sign, but only the lower half of the result is kept.
    const auto bits = hn::BitCast(hn::RebindToUnsigned<decltype(d)>(), hn::Add(hn::MulEven(differences, rates), half));
    return hn::BitCast(hn::DFromV<V>(), hn::ShiftRight<mean_fraction_bits>(bits));
}

}  // namespace

// Writes the background of some pixels, then updates their means.
void update_means(std::uint32_t* means, const std::uint8_t* values, std::uint8_t* background, std::int64_t pixels,
                  std::uint32_t rate) {
    const hn::ScalableTag<std::int32_t> d;
    const hn::Rebind<std::uint8_t, decltype(d)> d8;
    // The value of a mean before its first frame.
    const auto none = hn::Set(d, static_cast<std::int32_t>(no_mean));
    const auto half = hn::Set(d, 1 << (mean_fraction_bits - 1));
    const auto rates = hn::Set(d, static_cast<std::int32_t>(rate));
    const auto step = static_cast<std::int64_t>(hn::Lanes(d));
    std::int64_t x = 0;
    for (; x + step <= pixels; x += step) {
        auto* const at = reinterpret_cast<std::int32_t*>(means + x);
        const auto value = hn::ShiftLeft<mean_fraction_bits>(hn::PromoteTo(d, hn::LoadU(d8, values + x)));
        const auto stored = hn::LoadU(d, at);
        const auto mean = hn::IfThenElse(hn::Eq(stored, none), value, stored);
        hn::StoreU(hn::DemoteTo(d8, hn::ShiftRight<mean_fraction_bits>(hn::Add(mean, half))), d8, background + x);
        const auto difference = hn::Sub(value, mean);
        // 64-bit products need half as many lanes, so even and odd lanes are computed apart.
        const auto even = even_steps(difference, rates), odd = even_steps(hn::DupOdd(difference), rates);
        hn::StoreU(hn::Add(mean, hn::OddEven(hn::DupEven(odd), even)), d, at);
    }
    for (; x < pixels; ++x) {
        if (means[x] == no_mean) means[x] = std::uint32_t{values[x]} << mean_fraction_bits;
        background[x] = gray_of_mean(means[x]);
        means[x] = mean_after(means[x], values[x], rate);
    }
}

}  // namespace framewire::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace framewire {

HWY_EXPORT(update_means);

void MeanBackground::run(HostView<const std::uint8_t> frames, HostView<std::uint8_t> backgrounds) {
    const auto shape = shape_.with_frames(frames.shape().frames);
    validate(frames, shape, "the frames of the background's mean");
    validate(backgrounds, shape, "the backgrounds");
    const auto update = HWY_DYNAMIC_DISPATCH(update_means);
    // A row passes through all frames while its means are in a core's cache.
    constexpr std::int64_t pixels_each = 32 * 1024;
    executor_->pool().for_chunks(
        shape.height, pixels_each / shape.width + 1, [&](std::int64_t, std::int64_t begin, std::int64_t end) {
            for (auto y = static_cast<int>(begin); y < end; ++y)
                for (int frame = 0; frame < shape.frames; ++frame)
                    update(means_.as<std::uint32_t>() + std::int64_t{y} * shape.width, frames.row(frame, y),
                           backgrounds.row(frame, y), shape.width, rate_);
        });
}

}  // namespace framewire

#endif
