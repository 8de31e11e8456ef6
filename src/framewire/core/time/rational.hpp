#pragma once

#include <cstdint>

namespace framewire {

/// A ratio of two whole numbers; frame rates are such (30000/1001).
struct Rational {
    std::int64_t numerator = 0;
    std::int64_t denominator = 1;
    double value() const { return static_cast<double>(numerator) / static_cast<double>(denominator); }
};

}  // namespace framewire
