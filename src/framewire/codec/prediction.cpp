#include "framewire/codec/prediction.hpp"
#include "framewire/codec/sub_block_contexts.hpp"
#include "framewire/core/simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "framewire/codec/prediction.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "framewire/core/simd-inl.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <optional>

// Comparison of a block with the previous picture, which finds the number of bytes beyond the threshold, the largest
// difference and the sum of squares in one pass. The bounded packer uses it to skip blocks that are already within the
// threshold.

HWY_BEFORE_NAMESPACE();
namespace framewire::codec::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using namespace framewire::HWY_NAMESPACE;

}  // namespace

// Compares rows of a block and adds the result to `sum`. At most 64 rows of 192 bytes are allowed, so that the sums of
// squares fit into 32 bits.
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
            // Counts 1 for each byte beyond the threshold, in sums of eight bytes.
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

}  // namespace framewire::codec::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace framewire::codec {

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

}  // namespace framewire::codec

#endif

// SIMD motion search for a sub-block. It examines many vectors with a cheap estimate of the cost; PredictionEncoder
// then computes the exact cost of the best few. The estimates must equal those of batch_prediction.cu, so that both
// backends choose the same vectors.

HWY_BEFORE_NAMESPACE();
namespace framewire::codec::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

constexpr int row_samples = MotionWindow::part_stride;

// Function that estimates the cost of predicting the sub-block by given samples, in 1/16 bits.
class PartCost {
public:
    PartCost(const MotionWindow& window, int threshold)
        : window_(window),
          threshold_(static_cast<std::uint8_t>(threshold)),
          reciprocal_(((std::uint64_t{1} << shift) + static_cast<unsigned>(2 * threshold)) /
                      static_cast<unsigned>(2 * threshold + 1)) {}

    // Returns the estimate. Results of `limit` and more need not be exact.
    HWY_INLINE int operator()(const std::uint8_t* predicted, std::int64_t stride, int limit) const {
        const hn::CappedTag<std::uint8_t, row_samples> d8;
        const hn::Repartition<std::uint64_t, decltype(d8)> d64;
        const auto lanes = static_cast<int>(hn::Lanes(d8));
        const auto threshold = hn::Set(d8, threshold_);
        int cost = 0;
        // The number of steps is rounded down per pair of rows. The limit is only checked every four rows, because the
        // branch is unpredictable.
        for (int row = 0; row < window_.rows && cost < limit; row += 4)
            for (int pair = row; pair < row + 4; pair += 2) {
                auto beyond = hn::Zero(d64);
                std::size_t samples = 0;
                for (int each = pair; each < pair + 2; ++each)
                    for (int at = 0; at < row_samples; at += lanes) {
                        const auto a = hn::Load(d8, &window_.part[static_cast<std::size_t>(each * row_samples + at)]);
                        const auto b = hn::LoadU(d8, predicted + each * stride + at);
                        const auto distance = hn::Sub(hn::Max(a, b), hn::Min(a, b));
                        const auto over =
                            hn::And(hn::SaturatedSub(distance, threshold),
                                    hn::Load(d8, &window_.mask[static_cast<std::size_t>(each * row_samples + at)]));
                        beyond = hn::Add(beyond, hn::SumsOf8(over));
                        samples += hn::CountTrue(d8, hn::Ne(over, hn::Zero(d8)));
                    }
                const auto excess = hn::GetLane(hn::SumOfLanes(d64, beyond));
                // Multiplication by the reciprocal divides exactly by the step size, because the product is far below
                // 2^shift.
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

// Implements interpolate() for one SIMD target.
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

// Implements look_for_motion() for one SIMD target.
void look_for_vectors(const MotionWindow& window, int threshold, int range, std::span<const MotionVector> near,
                      BestVectors& best) {
    const PartCost cost_of(window, threshold);
    HWY_ALIGN std::uint8_t moved[part_side * row_samples];
    // Offers a vector that costs `more` to signal. The zero vector is excluded, because PredictionEncoder always tries
    // it.
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
        // Iterate over a copy, because attempt() changes `best`.
        const auto centres = best;
        for (const auto& centre : centres.all())
            for (int down = -step; down <= step; down += step)
                for (int right = -step; right <= step; right += step) {
                    const MotionVector vector{centre.vector.x + right, centre.vector.y + down};
                    attempt(vector, new_vector_cost(vector));
                }
    }
}

}  // namespace framewire::codec::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace framewire::codec {

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

}  // namespace framewire::codec

#endif

// Quantization of a sub-block against a prediction from the previous picture. The whole prediction is known beforehand,
// so rows are quantized with SIMD vectors. The results equal those of Quantizer::steps() and Quantizer::sample().

HWY_BEFORE_NAMESPACE();
namespace framewire::codec::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

}  // namespace

// Implements quantize() for one SIMD target. The first inner loop computes changed bits and slopes in 8-bit lanes. The
// second one, only for rows with changes, computes steps and samples in 16-bit lanes.
void quantize_rows(const Quantizer& quantizer, const std::uint8_t* camera, const std::uint8_t* mask,
                   const std::uint8_t* predicted, int channels, int rows, QuantizedPart& part) {
    const hn::CappedTag<std::uint8_t, part_row> d8;
    const hn::Repartition<std::int16_t, decltype(d8)> d16;
    const hn::RebindToUnsigned<decltype(d16)> du16;
    const hn::Half<decltype(d8)> half;
    const auto lanes8 = static_cast<int>(hn::Lanes(d8)), lanes16 = static_cast<int>(hn::Lanes(d16));
    const int threshold = quantizer.threshold(), size = quantizer.step();
    const int first = quantizer.first_step();  // one step suffices up to a distance of first + threshold
    const auto number = [&](int value) HWY_ATTR { return hn::Set(d16, static_cast<std::int16_t>(value)); };
    const auto limit8 = hn::Set(d8, static_cast<std::uint8_t>(threshold));
    const auto limit = number(threshold), step = number(size), before_first = number(first - size);
    const auto two_steps = number(first + threshold + 1);
    // Reciprocal of the step size in units of 1/32768, rounded up. It gives exact quotients for all numbers up to 255.
    const auto reciprocal = hn::Set(du16, static_cast<std::uint16_t>((32768 + size - 1) / size));
    const int steep[] = {threshold / 3, threshold, 2 * threshold};
    const auto zero = hn::Zero(d16), one = number(1);
    const auto one8 = hn::Set(d8, 1);
    for (int row = 0; row < rows; ++row) {
        const auto* now = camera + row * part_row;
        const auto* known = predicted + row * part_row;
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
            // Number of steps: one, another one from a distance of `two_steps` on, and then another one per `size`.
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

}  // namespace framewire::codec::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace framewire::codec {

HWY_EXPORT(quantize_rows);

void MaskedPart::load(HostView<const std::uint8_t> camera, int x, int y, int width, int height) {
    const auto from = std::int64_t{x} * camera.shape().channels;
    const auto bytes = static_cast<std::size_t>(width * camera.shape().channels);
    mask.fill(0);
    for (int row = 0; row < height; ++row) {
        const auto at = static_cast<std::size_t>(row * part_row);
        std::memcpy(&samples[at], camera.row(0, y + row) + from, bytes);
        std::memset(&mask[at], 255, bytes);
    }
}

void quantize(const Quantizer& quantizer, const PartSamples& camera, const PartSamples& mask,
              const std::uint8_t* predicted, int channels, int rows, QuantizedPart& part) {
    HWY_DYNAMIC_DISPATCH(quantize_rows)(quantizer, camera.data(), mask.data(), predicted, channels, rows, part);
}

}  // namespace framewire::codec

#endif

#if HWY_ONCE

// Predictions of samples from another position in the previous picture, or from neighbours in the block (format.md,
// "Prediction"). The decoder and the encoder share this code, so their predictions cannot differ.

namespace framewire::codec {

void PredictedPart::move(HostView<const std::uint8_t> before, int x, int y, MotionVector vector) {
    const auto& shape = before.shape();
    channels_ = shape.channels;
    // Round the whole pixels down, so that the fractions are 0 to 3.
    const int fraction_x = vector.x & (quarters - 1), fraction_y = vector.y & (quarters - 1);
    const int from_x = x + (vector.x - fraction_x) / quarters - 1, from_y = y + (vector.y - fraction_y) / quarters - 1;
    constexpr int rows = side + 1, row_bytes = 48;  // one more row for interpolation, and padding for whole vectors
    // If the area lies inside the picture, its rows are read in place; otherwise they are copied, repeating the nearest
    // pixel.
    const bool is_inside = from_x >= 0 && from_y >= 0 && from_y + rows <= shape.height &&
                           std::int64_t{from_x} * channels_ + row_bytes <= shape.row_bytes();
    std::array<std::uint8_t, static_cast<std::size_t>(rows * row_bytes)> window;
    const auto* from = window.data();
    auto stride = std::int64_t{row_bytes};
    if (is_inside) {
        from = before.row(0, from_y) + std::int64_t{from_x} * channels_;
        stride = before.row_stride_bytes();
    } else {
        for (int row = 0; row < rows; ++row) {
            const auto* held = before.row(0, std::clamp(from_y + row, 0, shape.height - 1));
            auto* to = &window[static_cast<std::size_t>(row * row_bytes)];
            for (int column = 0; column <= side; ++column)
                std::memcpy(to + column * channels_,
                            held + std::int64_t{std::clamp(from_x + column, 0, shape.width - 1)} * channels_,
                            static_cast<std::size_t>(channels_));
        }
    }
    // Whole pixels need no interpolation.
    if (fraction_x == 0 && fraction_y == 0) {
        for (int row = 0; row < side; ++row)
            std::memcpy(&samples_[static_cast<std::size_t>(row * part_row)], from + row * stride, part_row);
    } else {
        interpolate(from, stride, channels_, fraction_x, fraction_y, side, samples_.data());
    }
}

PredictedInside predict_inside(HostView<const std::uint8_t> picture, const BlockPlace& block, int x, int y) {
    const int channels = picture.shape().channels;
    const auto* here = picture.row(0, block.y + y) + std::int64_t{block.x + x} * channels;
    const auto* above = y ? picture.row(0, block.y + y - 1) + std::int64_t{block.x + x} * channels : nullptr;
    PredictedInside predicted{};
    for (int channel = 0; channel < channels; ++channel) {
        int sample = 128;
        if (x && y) {
            const int left = here[channel - channels], up = above[channel], corner = above[channel - channels];
            sample = std::clamp(left + up - corner, std::min(left, up), std::max(left, up));
            if (channel == slope_channel(channels))
                predicted.rise = std::max(std::abs(left - corner), std::abs(up - corner));
        } else if (x) {
            sample = here[channel - channels];
        } else if (y) {
            sample = above[channel];
        }
        predicted.samples[channel] = sample;
    }
    return predicted;
}

}  // namespace framewire::codec

// Quantization of sub-blocks that are predicted from their neighbours. The neighbours are reconstructed samples, so the
// pixels must be quantized one after the other. A window that includes the row above and the column to the left
// contains all samples that they depend on.

namespace framewire::codec {
namespace {

constexpr int window_margin = 8;  // bytes before the first pixel of a row
constexpr int window_row = window_margin + part_row;
// Reconstruction of a sub-block with the row above it and the pixel to the left of each row.
using Window = std::array<std::uint8_t, static_cast<std::size_t>((part_side + 1) * window_row)>;

template <int channels>
void quantize_inside_of(const Quantizer& quantizer, const PartSamples& camera, bool has_left, bool has_above, int width,
                        int height, Window& window, QuantizedPart& part) {
    constexpr int slope_at = channels == 3 ? 1 : 0;
    for (int y = 0; y < height; ++y) {
        auto* pixel = &window[static_cast<std::size_t>((y + 1) * window_row + window_margin)];
        const auto row = static_cast<std::size_t>(y * part_row);
        std::uint32_t changed = 0;
        for (int x = 0; x < width; ++x, pixel += channels) {
            const auto at = row + static_cast<std::size_t>(x * channels);
            const bool any_left = has_left || x > 0, any_above = has_above || y > 0;
            int rise = 0;
            for (int channel = 0; channel < channels; ++channel) {
                const int left = pixel[channel - channels], above = pixel[channel - window_row],
                          corner = pixel[channel - channels - window_row];
                int predicted = std::clamp(left + above - corner, std::min(left, above), std::max(left, above));
                if (any_left && any_above) {
                    if (channel == slope_at) rise = std::max(std::abs(left - corner), std::abs(above - corner));
                } else {
                    predicted = any_left ? left : any_above ? above : 128;
                }
                const auto sample = at + static_cast<std::size_t>(channel);
                const int steps = quantizer.steps(camera[sample], predicted);
                part.steps[sample] = static_cast<std::int16_t>(steps);
                changed |= static_cast<std::uint32_t>(steps != 0) << (x * channels + channel);
                pixel[channel] = quantizer.sample(predicted, steps);
            }
            part.slopes[at + slope_at] = static_cast<std::uint8_t>(slope_of(rise, quantizer.threshold()));
        }
        part.changed[static_cast<std::size_t>(y)] = changed;
        std::memcpy(&part.samples[row], pixel - width * channels, static_cast<std::size_t>(width * channels));
    }
}

}  // namespace

void quantize_inside(const Quantizer& quantizer, const PartSamples& camera, HostView<const std::uint8_t> done,
                     const BlockPlace& block, int left, int top, QuantizedPart& part) {
    const int channels = done.shape().channels;
    const int width = std::min(part_side, block.width - left), height = std::min(part_side, block.height - top);
    Window window;
    const auto at = [&](int y) { return done.row(0, block.y + top + y) + std::int64_t{block.x + left} * channels; };
    const auto to = [&](int y) { return &window[static_cast<std::size_t>((y + 1) * window_row + window_margin)]; };
    // Pixels outside the block are loaded too, but the result does not depend on them.
    const auto take = [&](bool is_there, int y, int first, int count) {
        if (is_there)
            std::memcpy(to(y) + first, at(y) + first, static_cast<std::size_t>(count));
        else
            std::memset(to(y) + first, 0, static_cast<std::size_t>(count));
    };
    take(top > 0, -1, 0, width * channels);
    for (int y = -1; y < height; ++y) take(left > 0 && (top > 0 || y >= 0), y, -channels, channels);
    if (channels == 1)
        quantize_inside_of<1>(quantizer, camera, left > 0, top > 0, width, height, window, part);
    else
        quantize_inside_of<3>(quantizer, camera, left > 0, top > 0, width, height, window, part);
}

}  // namespace framewire::codec

// Decoder for the form "prediction". It works pixel by pixel: a pixel's models depend on the pixels before it and, in
// sub-blocks of mode `inside`, its prediction as well. Every value from the stream is checked before it is used as an
// index or an offset.

namespace framewire::codec {
namespace {

// Reads a component of a vector difference.
template <class Reader>
int read_distance(const StepModels& models, Reader& reader, int model) {
    const int bits = models.read(reader, model, step_models::vector_bits.symbols);
    if (bits == 0) return 0;
    const int low = bits > 1 ? static_cast<int>(reader.bits(bits - 1)) : 0;
    const int distance = 1 << (bits - 1) | low;
    return reader.bits(1) ? -distance : distance;
}

// Reads a vector. Returns nothing if it refers to a neighbour without one, or is too long.
template <class Reader>
std::optional<MotionVector> read_vector(const StepModels& models, Reader& reader, const CodedParts::Motion& motion) {
    const int kind = models.read(reader, motion.kind_model(), step_models::vector_kind.symbols);
    if (kind == as_left) return motion.has_left ? std::optional(motion.left) : std::nullopt;
    if (kind == as_above) return motion.has_above ? std::optional(motion.above) : std::nullopt;
    auto vector = motion.near();
    vector.x += read_distance(models, reader, motion.bits_model(0));
    vector.y += read_distance(models, reader, motion.bits_model(1));
    if (std::abs(vector.x) > max_motion || std::abs(vector.y) > max_motion) return std::nullopt;
    return vector;
}

// Returns true if the prediction of a sub-block from the previous picture reads samples of avoided blocks. Sub-blocks
// with steps read one more pixel on each side, to compute slopes.
bool needs(const AvoidedBlocks& avoided, const BlockPlace& block, int left, int top, MotionVector vector,
           bool has_steps) {
    const auto from = [&](int at, int moved) { return at + (moved - (moved & (quarters - 1))) / quarters - has_steps; };
    const auto side = [&](int most, int moved) {
        return std::min(part_side, most) - 1 + 2 * has_steps + (moved & (quarters - 1) ? 1 : 0);
    };
    const int x = from(block.x + left, vector.x), y = from(block.y + top, vector.y);
    return avoided.has(x, y, x + side(block.width - left, vector.x), y + side(block.height - top, vector.y));
}

}  // namespace

struct PredictionDecoder::Job {
    const BlockPlace& block;
    int threshold;
    HostView<const std::uint8_t> before;
    HostView<std::uint8_t> after;
    const AvoidedBlocks* avoided;
};

bool PredictionDecoder::decode(std::span<const std::uint8_t> bytes, const BlockPlace& block, int threshold,
                               HostView<const std::uint8_t> before, HostView<std::uint8_t> after,
                               const AvoidedBlocks* avoided) {
    return bytes_.read(bytes, [&](const auto& reader, const StepModels& models) {
        return decode(reader, models, {block, threshold, before, after, avoided});
    });
}

template <class Reader>
bool PredictionDecoder::decode(Reader reader, const StepModels& models, const Job& job) {
    const auto& [block, threshold, before, after, avoided] = job;
    coded_.clear();
    const auto size = static_cast<int>(reader.bits(Quantizer::size_bits));
    if (size >= Quantizer::sizes) return false;
    const Quantizer quantizer(threshold, size);
    const int channels = after.shape().channels;
    const HostView<const std::uint8_t> done = after;
    for (int row = 0; row < block.part_rows(); ++row)
        for (int column = 0; column < block.part_columns(); ++column) {
            const auto mode =
                static_cast<PartMode>(models.read(reader, parts_.mode_model(column, row), step_models::mode.symbols));
            // Checking once per sub-block suffices, because reads beyond the end return zeros, which do no harm.
            if (bytes_.behind_end(reader) || (mode != PartMode::inside && !before.data())) return false;
            const int left = column * part_side, top = row * part_side;
            MotionVector vector{};
            if (mode == PartMode::moved || mode == PartMode::moved_changes) {
                const auto read = read_vector(models, reader, parts_.motion(column, row));
                if (!read) return false;
                vector = *read;
            }
            parts_.set(column, row, mode, vector);
            const bool has_steps = mode != PartMode::stays && mode != PartMode::moved;
            const auto by = mode == PartMode::inside          ? Predicted::inside
                            : mode == PartMode::moved_changes ? Predicted::moved
                                                              : Predicted::reference;
            // Damage must not spread, so a block that is predicted from a damaged one is not decoded.
            if (avoided && by != Predicted::inside && needs(*avoided, block, left, top, vector, has_steps))
                return false;
            if (by != Predicted::inside) predicted_.move(before, block.x + left, block.y + top, vector);
            for (int y = top; y < std::min(top + part_side, block.height); ++y) {
                auto* pixel = after.row(0, block.y + y) + std::int64_t{block.x + left} * channels;
                for (int x = left; x < std::min(left + part_side, block.width); ++x, pixel += channels) {
                    // Compute the prediction, read the steps if there are any, and reconstruct the sample.
                    PredictedInside predicted;
                    if (by == Predicted::inside) {
                        predicted = predict_inside(done, block, x, y);
                    } else {
                        for (int channel = 0; channel < channels; ++channel)
                            predicted.samples[channel] = predicted_.at(x - left, y - top, channel);
                        predicted.rise = predicted_.rise(x - left, y - top, slope_channel(channels));
                    }
                    int steps[3] = {};
                    if (has_steps) {
                        const auto near = coded_.neighbours(x, y);
                        const int model = changed_model(near, by, slope_of(predicted.rise, threshold));
                        if (models.read_flag(reader, step_models::changed.at(model)))
                            read_pixel(models, reader, coded_, near, x, y, channels, quantizer.fine(), steps);
                    }
                    for (int channel = 0; channel < channels; ++channel)
                        pixel[channel] = quantizer.sample(predicted.samples[channel], steps[channel]);
                }
            }
        }
    return bytes_.at_end(reader);
}

}  // namespace framewire::codec

// Encoder for the form "prediction". Sub-blocks are coded in raster order, because each one is context for the next
// ones:
//
//     1. may_stay()        a sub-block within the threshold stays unchanged and costs one symbol
//     2. find_vectors()    the motion search proposes a few vectors
//     3. code_part()       each candidate is quantized and coded to a CostSink; the cheapest one is taken
//
// Coding to a CostSink stops when the candidate turns out to be more expensive than the best one so far.

namespace framewire::codec {
// Arguments of encode() and values derived from them.
struct PredictionEncoder::Job {
    HostView<const std::uint8_t> camera, before;
    BlockPlace block;
    Quantizer quantizer;
    HostView<std::uint8_t> after;
    int channels;

    std::uint8_t* row(int y) const { return after.row(0, block.y + y) + std::int64_t{block.x} * channels; }
    int width(int left) const { return std::min(part_side, block.width - left); }
    int height(int top) const { return std::min(part_side, block.height - top); }

    // Returns true if the sub-block in the previous picture is within the threshold of the camera's.
    bool may_stay(int left, int top) const {
        const auto from = std::int64_t{block.x + left} * channels, count = std::int64_t{width(left)} * channels;
        for (int y = block.y + top; y < block.y + top + height(top); ++y) {
            const auto *now = camera.row(0, y) + from, *held = before.row(0, y) + from;
            int furthest = 0;
            for (std::int64_t i = 0; i < count; ++i) furthest = std::max(furthest, std::abs(now[i] - held[i]));
            if (furthest > quantizer.threshold()) return false;
        }
        return true;
    }
    // Copies the sub-block from the previous picture.
    void stay(int left, int top) const {
        const auto from = std::int64_t{block.x + left} * channels;
        for (int y = block.y + top; y < block.y + top + height(top); ++y)
            std::memcpy(after.row(0, y) + from, before.row(0, y) + from,
                        static_cast<std::size_t>(width(left) * channels));
    }
};

void PredictionEncoder::quantize_part(const Job& job, int left, int top, const Candidate& candidate,
                                      QuantizedPart& part) {
    if (candidate.by == Predicted::inside)
        return quantize_inside(job.quantizer, camera_.samples, job.after, job.block, left, top, part);
    predicted_.move(job.before, job.block.x + left, job.block.y + top, candidate.vector);
    codec::quantize(job.quantizer, camera_.samples, camera_.mask, predicted_.first(), job.channels, job.height(top),
                    part);
}

template <int channels, class Sink>
PartMode PredictionEncoder::add_part(const Job& job, int column, int row, const Candidate& candidate,
                                     const QuantizedPart& part, Sink&& sink) {
    const int left = column * part_side, top = row * part_side, width = job.width(left), height = job.height(top);
    const auto mode = candidate.by == Predicted::inside      ? PartMode::inside
                      : candidate.by == Predicted::reference ? PartMode::changes
                      : part.has_steps(height)               ? PartMode::moved_changes
                                                             : PartMode::moved;
    sink.add(parts_.mode_model(column, row) + static_cast<int>(mode));
    if (candidate.by == Predicted::moved) add_vector(sink, candidate.vector, parts_.motion(column, row));
    const auto models = step_models::changed.at(changed_model({}, candidate.by, 0));
    for (int y = 0; y < height; ++y) {
        const auto* steps = &part.steps[static_cast<std::size_t>(y * part_row)];
        const auto* slopes = &part.slopes[static_cast<std::size_t>(y * part_row + slope_channel(channels))];
        // Store the patterns of the row in `coded_` before its pixels are coded, because they are context for each
        // other.
        std::array<Pattern, part_side> row_patterns{};
        if (part.changed[static_cast<std::size_t>(y)])
            for (int x = 0; x < width; ++x)
                row_patterns[static_cast<std::size_t>(x)] = pattern_of<channels>(steps + x * channels);
        coded_.set_row<channels>(left, top + y, row_patterns, steps);
        if (mode == PartMode::moved) continue;
        // Compute the contributions of the rows above to the models of eight flags at once.
        auto above = coded_.changed_above(left, top + y);
        int before = coded_.extent(left - 1, top + y), second = coded_.extent(left - 2, top + y);
        for (int x = 0; x < width; ++x, above >>= 8) {
            const auto pattern = row_patterns[static_cast<std::size_t>(x)];
            const bool seconds = second || (above & CodedPixels::second_above) != 0;
            const int model = static_cast<int>(above & (CodedPixels::second_above - 1)) + before + 27 * seconds +
                              54 * slopes[x * channels];
            sink.add(models + step_models::changed.symbols * model + (pattern != 0));
            second = before;
            before = pattern_traits.extent[pattern];
            if (!pattern) continue;
            int all[channels];
            for (int channel = 0; channel < channels; ++channel) all[channel] = steps[x * channels + channel];
            add_pixel(sink, coded_, coded_.neighbours(left + x, top + y), left + x, top + y, channels, pattern, all,
                      job.quantizer.fine());
        }
        // Stop if the candidate is already too expensive to be chosen.
        if (too_much(sink)) break;
    }
    return mode;
}

template <class Sink>
PartMode PredictionEncoder::add_part(const Job& job, int column, int row, const Candidate& candidate,
                                     const QuantizedPart& part, Sink&& sink) {
    return job.channels == 1 ? add_part<1>(job, column, row, candidate, part, sink)
                             : add_part<3>(job, column, row, candidate, part, sink);
}

void PredictionEncoder::code_part(const Job& job, int column, int row, Symbols& symbols) {
    const int left = column * part_side, top = row * part_side;
    camera_.load(job.camera, job.block.x + left, job.block.y + top, job.width(left), job.height(top));
    std::size_t best = 0, best_at = 0;
    if (candidates_.size() > 1) {
        auto least = ~std::uint64_t{0};
        const auto attempt = [&](std::size_t i, std::uint64_t limit) {
            // One of the two buffers keeps the best candidate so far; the next candidate is quantized to the other.
            auto& part = quantized_[1 - best_at];
            quantize_part(job, left, top, candidates_[i], part);
            CostSink sink(job.quantizer.threshold(), limit);
            add_part(job, column, row, candidates_[i], part, sink);
            if (sink.cost() >= limit) return;
            least = sink.cost();
            best = i;
            best_at = 1 - best_at;
        };
        // The first candidate, prediction from neighbours, is the slowest. It is tried last, because it can then often
        // stop early. The + 1 makes it win if it costs the same as the best of the others.
        for (std::size_t i = 1; i < candidates_.size(); ++i) attempt(i, least);
        attempt(0, least + 1);
    } else {
        quantize_part(job, left, top, candidates_[0], quantized_[best_at]);
    }
    const auto& part = quantized_[best_at];
    const auto mode = add_part(job, column, row, candidates_[best], part, symbols);
    parts_.set(column, row, mode, candidates_[best].vector);
    count_steps(part, job.height(top));
    for (int y = 0; y < job.height(top); ++y)
        std::memcpy(job.row(top + y) + left * job.channels, &part.samples[static_cast<std::size_t>(y * part_row)],
                    static_cast<std::size_t>(job.width(left) * job.channels));
}

// Adds the steps of a sub-block to the statistics for choosing the step size.
void PredictionEncoder::count_steps(const QuantizedPart& part, int rows) {
    for (int y = 0; y < rows; ++y) {
        auto changed = part.changed[static_cast<std::size_t>(y)];
        changed_samples_ += static_cast<std::uint32_t>(std::popcount(changed));
        for (; changed; changed &= changed - 1)
            all_steps_ += static_cast<std::uint32_t>(
                std::abs(part.steps[static_cast<std::size_t>(y * part_row + std::countr_zero(changed))]));
    }
}

void PredictionEncoder::find_vectors(const Job& job, int column, int row, std::vector<MotionVector>& vectors) {
    const int left = column * part_side, top = row * part_side;
    const auto motion = parts_.motion(column, row);
    MotionVector near[2];
    std::size_t near_count = 0;
    if (motion.has_left) near[near_count++] = motion.left;
    if (motion.has_above) near[near_count++] = motion.above;
    vectors.clear();
    for (const auto& found :
         search_.find(job.camera, job.before, job.block.x + left, job.block.y + top, job.width(left), job.height(top),
                      job.quantizer.threshold(), effort_.range, effort_.candidates, {near, near_count}))
        vectors.push_back(found.vector);
}

void PredictionEncoder::code_block(const Job& job, bool fresh, bool look, Symbols& symbols) {
    const auto& block = job.block;
    coded_.clear();
    symbols.clear();
    symbols.add_bits(job.quantizer.size(), Quantizer::size_bits);
    changed_samples_ = all_steps_ = 0;
    for (int row = 0; row < block.part_rows(); ++row)
        for (int column = 0; column < block.part_columns(); ++column) {
            const int left = column * part_side, top = row * part_side;
            if (!fresh && job.may_stay(left, top)) {
                job.stay(left, top);
                symbols.add(parts_.mode_model(column, row) + static_cast<int>(PartMode::stays));
                parts_.set(column, row, PartMode::stays);
                continue;
            }
            candidates_.clear();
            candidates_.push_back({Predicted::inside});
            if (!fresh) {
                candidates_.push_back({Predicted::reference});
                auto& vectors = vectors_[static_cast<std::size_t>(row * parts_per_row + column)];
                if (look) find_vectors(job, column, row, vectors);
                for (const auto vector : vectors) candidates_.push_back({Predicted::moved, vector});
            }
            code_part(job, column, row, symbols);
        }
}

// Saves the reconstruction of the block before the second attempt.
void PredictionEncoder::keep(const Job& job) {
    auto* to = kept_.data();
    const auto row_bytes = std::int64_t{job.block.width} * job.channels;
    for (int y = 0; y < job.block.height; ++y, to += row_bytes)
        std::memcpy(to, job.row(y), static_cast<std::size_t>(row_bytes));
}

// Restores the saved reconstruction if the second attempt was not better.
void PredictionEncoder::restore(const Job& job) const {
    const auto* from = kept_.data();
    const auto row_bytes = std::int64_t{job.block.width} * job.channels;
    for (int y = 0; y < job.block.height; ++y, from += row_bytes)
        std::memcpy(job.row(y), from, static_cast<std::size_t>(row_bytes));
}

void PredictionEncoder::encode(HostView<const std::uint8_t> camera, HostView<const std::uint8_t> before,
                               const BlockPlace& block, int threshold, bool fresh, HostView<std::uint8_t> after,
                               std::vector<std::uint8_t>& out) {
    const int channels = camera.shape().channels;
    const auto job_of = [&](int size) {
        return Job{camera, before, block, Quantizer(threshold, size), after, channels};
    };
    const auto furthest = fresh ? 0u : block_distance(camera, before, block, threshold).max_error;
    const auto job = job_of(first_step_size(threshold, static_cast<int>(furthest), fresh));
    // Make a first attempt with a small step size. Its steps indicate whether a second attempt with the largest size is
    // worthwhile.
    code_block(job, fresh, true, symbols_);
    if (tries_largest(threshold, all_steps_, changed_samples_)) {
        keep(job);
        code_block(job_of(step_sizes::largest), fresh, false, large_symbols_);
        if (takes_largest(large_symbols_.cost(), symbols_.cost())) return large_symbols_.write(out);
        restore(job);
    }
    symbols_.write(out);
}

}  // namespace framewire::codec

// Loads a sub-block and the area around its position in the previous picture into a MotionWindow. Coordinates are
// clamped to the picture here, so that the search itself needs no bound checks.

namespace framewire::codec {

void MotionSearch::load(HostView<const std::uint8_t> camera, HostView<const std::uint8_t> before, int x, int y,
                        int width, int height, int reach) {
    const auto& shape = before.shape();
    const int channels = window_.channels = shape.channels;
    window_.rows = height;
    constexpr int margin = MotionWindow::margin, side = MotionWindow::side;
    const auto row_bytes = static_cast<std::size_t>(width * channels);
    window_.mask.fill(0);
    for (int row = 0; row < height; ++row) {
        auto* part = &window_.part[static_cast<std::size_t>(row * MotionWindow::part_stride)];
        auto* mask = &window_.mask[static_cast<std::size_t>(row * MotionWindow::part_stride)];
        std::memcpy(part, camera.row(0, y + row) + std::int64_t{x} * channels, row_bytes);
        std::memset(mask, 0xff, row_bytes);
    }
    const int from_x = x - margin, from_y = y - margin;
    // Columns `first` to `last` - 1 of the window lie in the picture. All others, and rows outside the picture, repeat
    // the nearest pixel.
    const int first = std::clamp(-from_x, 0, side), last = std::clamp(shape.width - from_x, 0, side);
    for (int row = margin - reach; row < margin + part_side + reach + 1; ++row) {
        const auto* from = before.row(0, std::clamp(from_y + row, 0, shape.height - 1));
        auto* to = &window_.before[static_cast<std::size_t>(row * MotionWindow::stride)];
        for (int column = 0; column < first; ++column)
            std::memcpy(to + column * channels, from, static_cast<std::size_t>(channels));
        std::memcpy(to + first * channels, from + std::int64_t{from_x + first} * channels,
                    static_cast<std::size_t>((last - first) * channels));
        for (int column = last; column < side; ++column)
            std::memcpy(to + column * channels, from + std::int64_t{shape.width - 1} * channels,
                        static_cast<std::size_t>(channels));
    }
}

std::span<const ScoredVector> MotionSearch::find(HostView<const std::uint8_t> camera,
                                                 HostView<const std::uint8_t> before, int x, int y, int width,
                                                 int height, int threshold, int range, int count,
                                                 std::span<const MotionVector> near) {
    // The search starts with vectors of up to `begin` quarters; refinement adds up to 3 quarters, and interpolation
    // reads one pixel further.
    int begin = range * quarters;
    for (const auto vector : near) begin = std::max({begin, std::abs(vector.x), std::abs(vector.y)});
    load(camera, before, x, y, width, height, std::min((begin + 3) / quarters + 1, MotionWindow::margin));
    best_ = BestVectors(count);
    look_for_motion(window_, threshold, range, near, best_);
    return best_.all();
}

}  // namespace framewire::codec

#endif  // HWY_ONCE
