#pragma once

#include <cstdint>

namespace framewire::delta {

/// What is known of a step that sharpens, beside its changes.
struct ToldStep {
    std::int32_t stage = 0, threshold = 0;  ///< of RestSharpener; each byte changes by more
    std::uint32_t count = 0;                ///< bytes that change
    std::uint32_t max_error = 0;            ///< the largest |camera - R| of these since
    std::uint64_t squared_error = 0;        ///< what (camera - R)^2 of all bytes has more since, modulo 2^64
    std::int64_t expected_parts = 0;        ///< that it will take when it is packed
};

}  // namespace framewire::delta
