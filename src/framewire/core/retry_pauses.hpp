#pragma once

#include "framewire/core/time.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace framewire {

/// Pauses between attempts to open or connect again. Each pause is twice as long as the previous one, up to the
/// longest.
class RetryPauses {
public:
    /// Both must be at least 0. If `first` exceeds `longest`, only the first pause is longer than `longest`.
    explicit RetryPauses(std::chrono::milliseconds first = first_retry_pause,
                         std::chrono::milliseconds longest = longest_retry_pause)
        : first_(first), longest_(longest), next_(first) {}
    /// Returns the pause before the next attempt.
    std::chrono::milliseconds take() { return std::exchange(next_, std::min(2 * next_, longest_)); }
    /// Starts again with the first pause.
    void reset() { next_ = first_; }

private:
    std::chrono::milliseconds first_, longest_, next_;
};

}  // namespace framewire
