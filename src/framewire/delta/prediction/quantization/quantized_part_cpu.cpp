// Quantization of a sub-block against a prediction from the previous picture. Here the whole prediction is known
// beforehand, so rows are quantized as vectors. The result equals Quantizer::steps() and Quantizer::sample().

#include "framewire/core/simd/simd.hpp"
#include "framewire/delta/prediction/quantization/quantized_part.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "framewire/delta/prediction/quantization/quantized_part_cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cstring>

HWY_BEFORE_NAMESPACE();
namespace framewire::delta::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

}  // namespace

// quantize() for one target. The first loop computes changed bits and slopes in bytes; only rows with changes go
// through the second one, which computes steps and samples in 16 bits.
void quantize_rows(const Quantizer& quantizer, const std::uint8_t* camera, const std::uint8_t* mask,
                   const std::uint8_t* foretold, int channels, int rows, QuantizedPart& part) {
    const hn::CappedTag<std::uint8_t, part_row> d8;
    const hn::Repartition<std::int16_t, decltype(d8)> d16;
    const hn::RebindToUnsigned<decltype(d16)> du16;
    const hn::Half<decltype(d8)> half;
    const auto lanes8 = static_cast<int>(hn::Lanes(d8)), lanes16 = static_cast<int>(hn::Lanes(d16));
    const int threshold = quantizer.threshold(), size = quantizer.step();
    const int first = quantizer.first_step();  // sufficient up to a distance of first + threshold
    const auto number = [&](int value) HWY_ATTR { return hn::Set(d16, static_cast<std::int16_t>(value)); };
    const auto limit8 = hn::Set(d8, static_cast<std::uint8_t>(threshold));
    const auto limit = number(threshold), step = number(size), before_first = number(first - size);
    const auto two_steps = number(first + threshold + 1);
    // Reciprocal of the step size in 1/32768, rounded up: exact for the remainder of any distance up to 255.
    const auto reciprocal = hn::Set(du16, static_cast<std::uint16_t>((32768 + size - 1) / size));
    const int steep[] = {threshold / 3, threshold, 2 * threshold};
    const auto zero = hn::Zero(d16), one = number(1);
    const auto one8 = hn::Set(d8, 1);
    for (int row = 0; row < rows; ++row) {
        const auto* now = camera + row * part_row;
        const auto* known = foretold + row * part_row;
        const auto row_at = static_cast<std::size_t>(row * part_row);
        for (int at = 0; at < part_row; at += lanes8) {
            const auto a = hn::Load(d8, now + at), b = hn::LoadU(d8, known + at);
            const auto distance = hn::Sub(hn::Max(a, b), hn::Min(a, b));
            const auto over = hn::And(hn::SaturatedSub(distance, limit8), hn::Load(d8, mask + row * part_row + at));
            hn::StoreMaskBits(d8, hn::Ne(over, hn::Zero(d8)),
                              reinterpret_cast<std::uint8_t*>(&part.changed[static_cast<std::size_t>(row)]) + at / 8);

            const auto left = hn::LoadU(d8, known + at - channels), right = hn::LoadU(d8, known + at + channels);
            const auto above = hn::LoadU(d8, known + at - part_row), below = hn::LoadU(d8, known + at + part_row);
            const auto rise = hn::Max(hn::Sub(hn::Max(left, right), hn::Min(left, right)),
                                      hn::Sub(hn::Max(above, below), hn::Min(above, below)));
            auto slope = hn::Zero(d8);
            for (const int least : steep) {
                if (least > 255) continue;  // no rise is that large
                const auto reached = hn::Eq(hn::Max(rise, hn::Set(d8, static_cast<std::uint8_t>(least))), rise);
                slope = hn::Add(slope, hn::IfThenElseZero(reached, one8));
            }
            hn::Store(slope, d8, &part.slopes[row_at + static_cast<std::size_t>(at)]);
        }
        if (part.changed[static_cast<std::size_t>(row)] == 0) {
            std::memset(&part.steps[row_at], 0, part_row * sizeof(part.steps[0]));
            std::memcpy(&part.samples[row_at], known, part_row);
            continue;
        }
        for (int at = 0; at < part_row; at += lanes16) {
            const auto a = hn::PromoteTo(d16, hn::LoadU(half, now + at));
            const auto b = hn::PromoteTo(d16, hn::LoadU(half, known + at));
            const auto is_there = hn::PromoteTo(d16, hn::LoadU(half, mask + row * part_row + at));
            const auto difference = hn::Sub(a, b), distance = hn::Abs(difference);
            const auto changes = hn::And(hn::Gt(distance, limit), hn::Ne(is_there, zero));
            // Number of steps: one, a second one from the distance `two_steps` on, and then one per `size`.
            const auto more = hn::Sub(distance, two_steps);
            const auto whole = hn::BitCast(du16, hn::Max(more, zero));
            auto count = hn::BitCast(d16, hn::MulHigh(hn::Add(whole, whole), reciprocal));
            count = hn::Add(count, hn::Add(one, hn::IfThenElseZero(hn::Gt(more, number(-1)), one)));
            count = hn::IfThenElseZero(changes, count);
            const auto far = hn::IfThenElseZero(changes, hn::Add(before_first, hn::Mul(count, step)));
            const auto up = hn::Gt(difference, zero);
            hn::Store(hn::IfThenElse(up, count, hn::Neg(count)), d16,
                      &part.steps[row_at + static_cast<std::size_t>(at)]);
            const auto sample = hn::IfThenElse(up, hn::Add(b, far), hn::Sub(b, far));
            hn::StoreU(hn::DemoteTo(half, sample), half, &part.samples[row_at + static_cast<std::size_t>(at)]);
        }
    }
}

}  // namespace framewire::delta::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace framewire::delta {

HWY_EXPORT(quantize_rows);

void quantize(const Quantizer& quantizer, const PartSamples& camera, const PartSamples& mask,
              const std::uint8_t* foretold, int channels, int rows, QuantizedPart& part) {
    HWY_DYNAMIC_DISPATCH(quantize_rows)(quantizer, camera.data(), mask.data(), foretold, channels, rows, part);
}

}  // namespace framewire::delta

#endif
