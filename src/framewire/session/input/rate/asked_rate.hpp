#pragma once

#include "framewire/core/time/rational.hpp"

#include <cmath>
#include <optional>

namespace framewire::session {

/// InputOptions::fps, where it asks for a rate.
inline std::optional<Rational> asked_rate(double fps) {
    if (fps <= 0) return std::nullopt;
    return Rational{std::llround(fps * 1000), 1000};
}

}  // namespace framewire::session
