// Comparison of a frame with the reference picture R. Include it inside a Highway target namespace, after
// <hwy/highway.h>.

#if defined(FRAMEWIRE_DELTA_COMPARE_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef FRAMEWIRE_DELTA_COMPARE_INL_HPP
#undef FRAMEWIRE_DELTA_COMPARE_INL_HPP
#else
#define FRAMEWIRE_DELTA_COMPARE_INL_HPP
#endif

#include "framewire/core/simd/simd-inl.hpp"
#include "framewire/delta/changes.hpp"

#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>

HWY_BEFORE_NAMESPACE();
namespace framewire::delta::HWY_NAMESPACE {
namespace comparing {

namespace hn = hwy::HWY_NAMESPACE;
using namespace framewire::HWY_NAMESPACE;

/// Number of bytes per call of on_changes().
constexpr std::int64_t step_bytes = 64;
/// Maximum number of bytes per Comparison, so that each lane's sum of squares fits into 32 bits.
constexpr std::int64_t most_bytes = 256 << 10;

/// A comparison of bytes with R that accumulates the remaining errors. `small` selects a faster sum of squares for
/// thresholds up to `small_error`.
template <bool small>
class Comparison {
public:
    /// For errors up to this one, the squares of one step that fall into one lane of 16 bits cannot overflow it.
    static constexpr int small_error = 63;

    /// Begins a comparison with a threshold of 0..254, at most `small_error` if `small` is set.
    explicit Comparison(int threshold)
        : threshold_(threshold), limit_(hn::Set(Bytes(), static_cast<std::uint8_t>(threshold))) {}

    /// Compares `bytes` bytes and updates R where it is off by more than the threshold. Calls on_changes(i, changed,
    /// differences) for each group of `step_bytes` bytes from byte i on that has changes: `changed` has bit k set if
    /// byte i + k changed; `differences` has `step_bytes` entries, which are 0 for unchanged bytes and for those beyond
    /// `bytes`.
    template <class OnChanges>
    HWY_INLINE void add(const std::uint8_t* current, std::uint8_t* reference, std::int64_t bytes,
                        OnChanges& on_changes) {
        const Bytes d8;
        const Pairs d16;
        const auto limit = limit_, zero = hn::Zero(d8);
        // Local copies stay in registers. The members could not, because a stored byte may alias them.
        auto largest = largest_;
        auto squares = squares_;
        alignas(step_bytes) std::uint8_t differences[step_bytes] = {};
        std::int64_t i = 0;
        for (; i + step_bytes <= bytes; i += step_bytes) {
            auto any_far = zero;
            auto step_squares = hn::Zero(d16);
#pragma GCC unroll 4
            for (std::int64_t at = i; at < i + step_bytes; at += lanes) {
                const auto now = hn::LoadU(d8, current + at), held = hn::LoadU(d8, reference + at);
                const auto distance = distance_of(now, held);
                const auto far = hn::SaturatedSub(distance, limit);
                any_far = hn::Or(any_far, far);
                const auto error = hn::IfThenElseZero(hn::Eq(far, zero), distance);
                largest = hn::Max(largest, error);
                if constexpr (small) {
                    step_squares = hn::Add(step_squares, multiply_add_bytes(d16, error, error));
                } else {
                    const auto low = hn::BitCast(d16, hn::InterleaveLower(d8, error, zero));
                    const auto high = hn::BitCast(d16, hn::InterleaveUpper(d8, error, zero));
                    squares = hn::Add(
                        squares, hn::Add(multiply_add_pairs(Sums(), low, low), multiply_add_pairs(Sums(), high, high)));
                }
            }
            if constexpr (small) squares = hn::Add(squares, multiply_add_pairs(Sums(), step_squares, hn::Set(d16, 1)));
            if (hn::AllTrue(d8, hn::Eq(any_far, zero))) continue;
            std::uint64_t changed = 0;
            for (std::int64_t at = 0; at < step_bytes; at += lanes) {
                const auto now = hn::LoadU(d8, current + i + at), held = hn::LoadU(d8, reference + i + at);
                const auto is_near = hn::Eq(hn::SaturatedSub(distance_of(now, held), limit), zero);
                hn::StoreU(hn::IfThenElse(is_near, held, now), d8, reference + i + at);
                hn::Store(hn::IfThenZeroElse(is_near, hn::Sub(now, held)), d8, differences + at);
                std::uint64_t bits = 0;
                hn::StoreMaskBits(d8, hn::Not(is_near), reinterpret_cast<std::uint8_t*>(&bits));
                changed |= bits << at;
            }
            on_changes(i, changed, differences);
        }
        largest_ = largest;
        squares_ = squares;
        if (i < bytes) add_rest(current, reference, i, bytes, differences, on_changes);
    }

    /// Returns the errors that remain; `count` is 0, because on_changes() counts the changes.
    Summary summary() const {
        auto summary = of_rest_;
        alignas(step_bytes) std::uint8_t largest[step_bytes];
        hn::Store(largest_, Bytes(), largest);
        summary.max_error = std::max<std::uint32_t>(summary.max_error, *std::max_element(largest, largest + lanes));
        alignas(step_bytes) std::uint32_t squares[step_bytes / 4];
        hn::Store(squares_, Sums(), reinterpret_cast<std::int32_t*>(squares));
        for (std::size_t lane = 0; lane < hn::Lanes(Sums()); ++lane) summary.squared_error += squares[lane];
        return summary;
    }

private:
    using Bytes = hn::CappedTag<std::uint8_t, step_bytes>;
    using Pairs = hn::Repartition<std::int16_t, Bytes>;
    using Sums = hn::Repartition<std::int32_t, Bytes>;
    static constexpr auto lanes = static_cast<std::int64_t>(hn::MaxLanes(Bytes()));
    static_assert(step_bytes / lanes * 2 * small_error * small_error <= 0x7fff);

    // |now - held| of unsigned bytes: one of the two saturated differences is 0.
    static HWY_INLINE hn::VFromD<Bytes> distance_of(hn::VFromD<Bytes> now, hn::VFromD<Bytes> held) {
        return hn::Or(hn::SaturatedSub(now, held), hn::SaturatedSub(held, now));
    }

    // Compares the last bytes, fewer than a group, one by one.
    template <class OnChanges>
    void add_rest(const std::uint8_t* current, std::uint8_t* reference, std::int64_t first, std::int64_t end,
                  std::uint8_t* differences, OnChanges& on_changes) {
        std::uint64_t changed = 0;
        for (auto i = first; i < end; ++i) {
            const int difference = current[i] - reference[i];
            const bool is_far = std::abs(difference) > threshold_;
            differences[i - first] = static_cast<std::uint8_t>(is_far ? difference : 0);
            changed |= std::uint64_t{is_far} << (i - first);
            if (is_far) {
                reference[i] = current[i];
                continue;
            }
            of_rest_.max_error = std::max(of_rest_.max_error, static_cast<std::uint32_t>(std::abs(difference)));
            of_rest_.squared_error += static_cast<std::uint64_t>(difference * difference);
        }
        std::fill(differences + (end - first), differences + step_bytes, std::uint8_t{0});
        if (changed) on_changes(first, changed, differences);
    }

    int threshold_;
    hn::VFromD<Bytes> limit_, largest_ = hn::Zero(Bytes());
    hn::VFromD<Sums> squares_ = hn::Zero(Sums());
    Summary of_rest_;  // errors of the bytes that add_rest() compared
};

/// Calls body(comparison) with a Comparison that fits the threshold, and returns the summary of that comparison.
template <class Body>
HWY_INLINE Summary compare(int threshold, Body&& body) {
    const auto run = [&](auto comparison) HWY_ATTR {
        body(comparison);
        return comparison.summary();
    };
    return threshold <= Comparison<true>::small_error ? run(Comparison<true>(threshold))
                                                      : run(Comparison<false>(threshold));
}

}  // namespace comparing
}  // namespace framewire::delta::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // FRAMEWIRE_DELTA_COMPARE_INL_HPP
