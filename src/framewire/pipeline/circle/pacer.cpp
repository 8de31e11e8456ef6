#include "framewire/pipeline/circle/pacer.hpp"

#include <algorithm>

namespace framewire {

// The due times advance by the gaps between the frames' own times, so that delays of single frames do not add
// up.
Clock::time_point Pacer::due(double seconds, Clock::time_point now) {
    const double gap_s = seconds - seconds_;
    seconds_ = seconds;
    if (!started_ || now - due_ > longest_lag) {
        started_ = true;
        due_ = now;
    } else if (gap_s > 0) {  // false for NaN too
        const std::chrono::duration<double> gap{std::min(gap_s, std::chrono::duration<double>(longest_gap).count())};
        due_ += std::chrono::duration_cast<Clock::duration>(gap);
    }
    return due_;
}

}  // namespace framewire
