#pragma once

#include "framewire/filters/adjustment.hpp"
#include "framewire/pipeline/chain/chain.hpp"
#include "framewire/pipeline/source.hpp"

#include <functional>
#include <mutex>

namespace framewire {

/// Camera controls of a running pipeline (streaming report, section 5): brightness, contrast, saturation and
/// gain are set in the source as far as it has controls for them; the remainder goes to the first `adjust` of
/// the chain.
class CameraPanel {
public:
    /// Applies settings in the pipeline: ChainPlan::set_adjustment().
    using SetInChain = std::function<bool(const Adjustment&)>;

    /// If the chain has an `adjust`, moves the settings of the first one to the source. A source without
    /// controls and a chain without `adjust` are not changed. Keeps a reference to `source`. Throws what set()
    /// throws.
    CameraPanel(const Chain& chain, Source& source, SetInChain set_in_chain);

    /// Applies other settings while the pipeline runs, from any thread. Returns the settings that could not be
    /// applied anywhere: for a chain without `adjust`, those that the source has no control for; the other
    /// settings in the result are neutral. Throws Error{usage} if a setting is not allowed, without changing
    /// anything, and Error{config} if the camera rejects a value.
    Adjustment set(const Adjustment& wanted);

private:
    Source* source_;
    SetInChain set_in_chain_;
    std::mutex mutex_;  // serialises set(), so that the later of two calls wins completely
};

}  // namespace framewire
