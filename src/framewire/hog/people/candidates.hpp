#pragma once

#include "framewire/cuda/stream.hpp"

#include <cstdint>

namespace framewire {

/// A window whose score exceeds the threshold.
struct WindowCandidate {
    std::int32_t window;  ///< index among all scores
    float score;

    friend constexpr bool operator==(const WindowCandidate&, const WindowCandidate&) = default;
};

/// Queues a kernel that fills `candidates` with the windows whose score exceeds the threshold, in any order,
/// and sets `*count`. Both are in device memory; there must be room for `windows` candidates.
void collect_candidates(const float* scores, std::int32_t windows, float threshold, WindowCandidate* candidates,
                        std::int32_t* count, const cuda::Stream& stream);

}  // namespace framewire
