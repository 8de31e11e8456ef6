#pragma once

#include <cstdint>

namespace framewire::delta {

/// Result of a refinement apart from its changes. Plain data, so that the CUDA backend can fill it in device memory and
/// download it.
struct ToldStep {
    std::int32_t stage = 0, threshold = 0;  ///< stage of RestSharpener, and its threshold, which each change exceeds
    std::uint32_t count = 0;                ///< number of bytes that change
    std::uint32_t max_error = 0;            ///< largest |camera - R| of these bytes afterwards
    std::uint64_t squared_error = 0;        ///< change of the sum of (camera - R)^2 over all bytes, modulo 2^64
    std::int64_t expected_parts = 0;        ///< expected packed size in 1/1024 byte
};

}  // namespace framewire::delta
