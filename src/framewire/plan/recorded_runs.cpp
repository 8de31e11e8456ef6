#include "framewire/plan/recorded_runs.hpp"

#include <algorithm>

namespace framewire {

RecordedRuns::Run* RecordedRuns::find(const PictureAddresses& addresses) {
    const auto known = std::ranges::find(runs_, addresses, &Run::addresses);
    if (known != runs_.end()) return &*known;
    if (runs_.empty()) oldest_ = 0;
    if (runs_.size() < most) {
        runs_.reserve(most);
        runs_.push_back({addresses});
    } else {
        runs_[oldest_] = {addresses};
        oldest_ = (oldest_ + 1) % most;
    }
    return nullptr;
}

}  // namespace framewire
