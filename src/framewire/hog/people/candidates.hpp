#pragma once

#include "framewire/cuda/stream.hpp"

#include <cstdint>

namespace framewire {

/// A window above the threshold.
struct WindowCandidate {
    std::int32_t window;  ///< its number among all scores
    float score;

    friend constexpr bool operator==(const WindowCandidate&, const WindowCandidate&) = default;
};

/// Queues, in device memory: `candidates` is filled with the windows that score more than the threshold, in any order,
/// and `*count` is how many they are. There is room for `windows` of them.
void collect_candidates(const float* scores, std::int32_t windows, float threshold, WindowCandidate* candidates,
                        std::int32_t* count, const cuda::Stream& stream);

}  // namespace framewire
