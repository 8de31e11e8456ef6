#include "framewire/session/job/pixel_aspect.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace framewire::session {
namespace {

// Sides of whole pixels make it inexact.
bool is_about(double value, double other) { return std::abs(value - other) <= 0.005 * other; }

Rational nearest_ratio(double value) {
    constexpr std::int64_t largest = 1000;
    Rational best{1, 1};
    for (std::int64_t denominator = 1; denominator <= largest; ++denominator) {
        const Rational ratio{std::max<std::int64_t>(1, std::llround(value * static_cast<double>(denominator))),
                             denominator};
        if (std::abs(ratio.value() - value) < std::abs(best.value() - value)) best = ratio;
    }
    return best;
}

}  // namespace

std::optional<Rational> aspect_after(const PlaneMap& placement, Rational aspect) {
    if (aspect.numerator == aspect.denominator) return aspect;
    const bool upright = placement.xy == 0 && placement.yx == 0;
    const bool turned = placement.xx == 0 && placement.yy == 0;
    if (!upright && !turned) return std::nullopt;
    // What one pixel of the result is wide and high in those of before.
    const Rational before = turned ? Rational{aspect.denominator, aspect.numerator} : aspect;
    const double value = before.value() * std::abs(upright ? placement.yy / placement.xx : placement.yx / placement.xy);
    if (!(value > 1e-3 && value < 1e3)) return std::nullopt;
    if (is_about(value, 1)) return Rational{1, 1};
    return is_about(value, before.value()) ? before : nearest_ratio(value);
}

}  // namespace framewire::session
