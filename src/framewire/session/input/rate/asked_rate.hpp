#pragma once

#include "framewire/core/time/rational.hpp"

#include <cmath>
#include <optional>

namespace framewire::session {

/// Returns InputOptions::fps as a fraction in thousandths; empty if no rate is requested.
inline std::optional<Rational> asked_rate(double fps) {
    if (fps <= 0) return std::nullopt;
    return Rational{std::llround(fps * 1000), 1000};
}

}  // namespace framewire::session
