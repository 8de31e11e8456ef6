#pragma once

#include <cstdint>

namespace framewire {

/// A ratio of two whole numbers, such as the frame rate 30000/1001.
struct Rational {
    std::int64_t numerator = 0;
    std::int64_t denominator = 1;
    /// Returns the quotient. The denominator must not be 0.
    double value() const { return static_cast<double>(numerator) / static_cast<double>(denominator); }
};

}  // namespace framewire
