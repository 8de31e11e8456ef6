#include "framewire/core/simd/simd.hpp"
#include "framewire/delta/prediction/motion_cost.hpp"
#include "framewire/delta/prediction/motion_formulas.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "framewire/delta/prediction/motion_cost_cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace framewire::delta::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

constexpr int row_samples = 32;

}  // namespace

int motion_cost(const MotionCost& of, const std::uint8_t* part, const std::uint8_t* mask, const std::uint8_t* foretold,
                std::int64_t stride) {
    const hn::CappedTag<std::uint8_t, row_samples> d8;
    const hn::Repartition<std::uint64_t, decltype(d8)> d64;
    const auto lanes = static_cast<int>(hn::Lanes(d8));
    const auto threshold = hn::Set(d8, static_cast<std::uint8_t>(of.threshold));
    const auto one = hn::Set(d8, 1);
    int cost = 0;
    // Two rows between looks at the limit.
    for (int row = 0; row < of.rows; row += 2) {
        auto beyond = hn::Zero(d64), count = hn::Zero(d64);
        for (int each = row; each < row + 2 && each < of.rows; ++each)
            for (int at = 0; at < row_samples; at += lanes) {
                const auto a = hn::Load(d8, part + each * row_samples + at);
                const auto b = hn::LoadU(d8, foretold + each * stride + at);
                const auto distance = hn::Sub(hn::Max(a, b), hn::Min(a, b));
                const auto over =
                    hn::And(hn::SaturatedSub(distance, threshold), hn::Load(d8, mask + each * row_samples + at));
                beyond = hn::Add(beyond, hn::SumsOf8(over));
                count = hn::Add(count, hn::SumsOf8(hn::Min(over, one)));
            }
        const auto samples = static_cast<int>(hn::GetLane(hn::SumOfLanes(d64, count)));
        const auto excess = static_cast<int>(hn::GetLane(hn::SumOfLanes(d64, beyond)));
        cost += samples * motion_sample_cost + excess * motion_step_cost / of.step;
        if (cost >= of.limit) break;
    }
    return cost;
}

void interpolate_rows(const std::uint8_t* from, std::int64_t stride, int channels, int fraction_x, int fraction_y,
                      int rows, std::uint8_t* to) {
    const hn::CappedTag<std::uint8_t, row_samples> d8;
    const hn::Repartition<std::uint16_t, decltype(d8)> d16;
    const hn::Half<decltype(d8)> half;
    const auto lanes = static_cast<int>(hn::Lanes(d16));
    const auto left = hn::Set(d16, static_cast<std::uint16_t>(4 - fraction_x));
    const auto right = hn::Set(d16, static_cast<std::uint16_t>(fraction_x));
    const auto upper = hn::Set(d16, static_cast<std::uint16_t>(4 - fraction_y));
    const auto lower = hn::Set(d16, static_cast<std::uint16_t>(fraction_y));
    const auto rounding = hn::Set(d16, 8);
    for (int row = 0; row < rows; ++row)
        for (int at = 0; at < row_samples; at += lanes) {
            const auto* above = from + row * stride + at;
            const auto* below = above + stride;
            const auto wide = [&](const std::uint8_t* sample)
                                  HWY_ATTR { return hn::PromoteTo(d16, hn::LoadU(half, sample)); };
            const auto a = hn::Add(hn::Mul(wide(above), left), hn::Mul(wide(above + channels), right));
            const auto b = hn::Add(hn::Mul(wide(below), left), hn::Mul(wide(below + channels), right));
            const auto sum = hn::Add(hn::Add(hn::Mul(a, upper), hn::Mul(b, lower)), rounding);
            hn::StoreU(hn::DemoteTo(half, hn::BitCast(hn::RebindToSigned<decltype(d16)>(), hn::ShiftRight<4>(sum))),
                       half, to + row * row_samples + at);
        }
}

}  // namespace framewire::delta::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace framewire::delta {

HWY_EXPORT(motion_cost);
HWY_EXPORT(interpolate_rows);

int MotionCost::operator()(const std::uint8_t* part, const std::uint8_t* mask, const std::uint8_t* foretold,
                           std::int64_t stride) const {
    return HWY_DYNAMIC_DISPATCH(motion_cost)(*this, part, mask, foretold, stride);
}

void interpolate(const std::uint8_t* from, std::int64_t stride, int channels, int fraction_x, int fraction_y, int rows,
                 std::uint8_t* to) {
    HWY_DYNAMIC_DISPATCH(interpolate_rows)(from, stride, channels, fraction_x, fraction_y, rows, to);
}

}  // namespace framewire::delta

#endif
