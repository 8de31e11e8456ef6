#include "framewire/session/job/pixel_aspect.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace framewire::session {
namespace {

// Compares with a tolerance of 0.5 %, because scaled frames have whole pixels and thus inexact ratios.
bool is_about(double value, double other) { return std::abs(value - other) <= 0.005 * other; }

// Returns the closest fraction whose denominator is at most 1000.
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
    // Width and height of a result pixel, measured in pixels of the frame before the filters.
    const Rational before = turned ? Rational{aspect.denominator, aspect.numerator} : aspect;
    const double value = before.value() * std::abs(upright ? placement.yy / placement.xx : placement.yx / placement.xy);
    if (!(value > 1e-3 && value < 1e3)) return std::nullopt;
    if (is_about(value, 1)) return Rational{1, 1};
    return is_about(value, before.value()) ? before : nearest_ratio(value);
}

}  // namespace framewire::session
