// Motion search for a sub-block in SIMD. It examines many vectors with a cheap estimate of the cost; PredictionEncoder
// then computes the exact cost of the few best ones. The estimates must be those of motion.cuh, so that both backends
// choose the same vectors.

#include "framewire/core/simd/simd.hpp"
#include "framewire/delta/prediction/motion/motion_cost.hpp"
#include "framewire/delta/prediction/motion/motion_formulas.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "framewire/delta/prediction/motion/motion_cost_cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cstdlib>

HWY_BEFORE_NAMESPACE();
namespace framewire::delta::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

constexpr int row_samples = MotionWindow::part_stride;

// Estimated cost of predicting the sub-block by given samples, in 1/16 bits.
class PartCost {
public:
    PartCost(const MotionWindow& window, int threshold)
        : window_(window),
          threshold_(static_cast<std::uint8_t>(threshold)),
          reciprocal_(((std::uint64_t{1} << shift) + static_cast<unsigned>(2 * threshold)) /
                      static_cast<unsigned>(2 * threshold + 1)) {}

    // Results of `limit` and more need not be exact.
    HWY_INLINE int operator()(const std::uint8_t* foretold, std::int64_t stride, int limit) const {
        const hn::CappedTag<std::uint8_t, row_samples> d8;
        const hn::Repartition<std::uint64_t, decltype(d8)> d64;
        const auto lanes = static_cast<int>(hn::Lanes(d8));
        const auto threshold = hn::Set(d8, threshold_);
        int cost = 0;
        // Steps are rounded down per pair of rows. The limit is checked every four rows only, because the branch is
        // unpredictable.
        for (int row = 0; row < window_.rows && cost < limit; row += 4)
            for (int pair = row; pair < row + 4; pair += 2) {
                auto beyond = hn::Zero(d64);
                std::size_t samples = 0;
                for (int each = pair; each < pair + 2; ++each)
                    for (int at = 0; at < row_samples; at += lanes) {
                        const auto a = hn::Load(d8, &window_.part[static_cast<std::size_t>(each * row_samples + at)]);
                        const auto b = hn::LoadU(d8, foretold + each * stride + at);
                        const auto distance = hn::Sub(hn::Max(a, b), hn::Min(a, b));
                        const auto over =
                            hn::And(hn::SaturatedSub(distance, threshold),
                                    hn::Load(d8, &window_.mask[static_cast<std::size_t>(each * row_samples + at)]));
                        beyond = hn::Add(beyond, hn::SumsOf8(over));
                        samples += hn::CountTrue(d8, hn::Ne(over, hn::Zero(d8)));
                    }
                const auto excess = hn::GetLane(hn::SumOfLanes(d64, beyond));
                // Exact division by the step size: the product is far below 2^shift.
                cost += static_cast<int>(samples) * motion_sample_cost +
                        static_cast<int>(excess * motion_step_cost * reciprocal_ >> shift);
            }
        return cost;
    }

private:
    static constexpr int shift = 36;

    const MotionWindow& window_;
    std::uint8_t threshold_;
    std::uint64_t reciprocal_;
};

}  // namespace

// interpolate() for one target.
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

// look_for_motion() for one target.
void look_for_vectors(const MotionWindow& window, int threshold, int range, std::span<const MotionVector> near,
                      BestVectors& best) {
    const PartCost cost_of(window, threshold);
    HWY_ALIGN std::uint8_t moved[part_side * row_samples];
    // Offers a vector whose signalling costs `more`. The zero vector is a candidate of its own elsewhere.
    const auto attempt = [&](MotionVector vector, int more) HWY_ATTR {
        if (vector == MotionVector{} || std::abs(vector.x) > max_motion || std::abs(vector.y) > max_motion) return;
        const int limit = best.limit() - more;
        if (limit <= 0) return;
        const int fraction_x = vector.x & (quarters - 1), fraction_y = vector.y & (quarters - 1);
        const auto* from = &window.before[static_cast<std::size_t>(
            (MotionWindow::margin + (vector.y - fraction_y) / quarters) * MotionWindow::stride +
            (MotionWindow::margin + (vector.x - fraction_x) / quarters) * window.channels)];
        std::int64_t stride = MotionWindow::stride;
        if (fraction_x || fraction_y) {
            interpolate_rows(from, stride, window.channels, fraction_x, fraction_y, window.rows, moved);
            from = moved;
            stride = row_samples;
        }
        const int cost = cost_of(from, stride, limit);
        if (cost < limit) best.offer(vector, cost + more);
    };
    for (const auto vector : near) attempt(vector, near_vector_cost());
    for (int down = -range; down <= range; ++down)
        for (int right = -range; right <= range; ++right) {
            const MotionVector vector{right * quarters, down * quarters};
            attempt(vector, new_vector_cost(vector));
        }
    for (const int step : {2, 1}) {
        // A copy, because offers change `best` while the vectors around its entries are tried.
        const auto centres = best;
        for (const auto& centre : centres.all())
            for (int down = -step; down <= step; down += step)
                for (int right = -step; right <= step; right += step) {
                    const MotionVector vector{centre.vector.x + right, centre.vector.y + down};
                    attempt(vector, new_vector_cost(vector));
                }
    }
}

}  // namespace framewire::delta::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace framewire::delta {

HWY_EXPORT(look_for_vectors);
HWY_EXPORT(interpolate_rows);

void look_for_motion(const MotionWindow& window, int threshold, int range, std::span<const MotionVector> near,
                     BestVectors& best) {
    HWY_DYNAMIC_DISPATCH(look_for_vectors)(window, threshold, range, near, best);
}

void interpolate(const std::uint8_t* from, std::int64_t stride, int channels, int fraction_x, int fraction_y, int rows,
                 std::uint8_t* to) {
    HWY_DYNAMIC_DISPATCH(interpolate_rows)(from, stride, channels, fraction_x, fraction_y, rows, to);
}

}  // namespace framewire::delta

#endif
