#include "framewire/pipeline/chain/camera_panel.hpp"

#include "framewire/filters/adjust/adjust.hpp"

#include <algorithm>
#include <utility>

namespace framewire {

// The chain's own settings are applied first, so that the source takes what it can from the start.
CameraPanel::CameraPanel(const Chain& chain, Source& source, SetInChain set_in_chain)
    : source_(&source), set_in_chain_(std::move(set_in_chain)) {
    const auto adjust = std::find_if(chain.calls.begin(), chain.calls.end(),
                                     [](const auto& call) { return call.filter->name == "adjust"; });
    if (adjust != chain.calls.end()) set(adjustment_from(adjust->values));
}

// The source takes what it has controls for; the chain takes the rest, if it has an `adjust`.
Adjustment CameraPanel::set(const Adjustment& wanted) {
    adjust_terms(wanted);  // validates first, so that nothing is changed if a setting is not allowed
    const std::lock_guard lock(mutex_);
    const auto rest = source_->set_adjustment(wanted);
    return set_in_chain_(rest) ? Adjustment{} : rest;
}

}  // namespace framewire
