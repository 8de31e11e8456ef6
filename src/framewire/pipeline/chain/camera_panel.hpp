#pragma once

#include "framewire/filters/adjustment.hpp"
#include "framewire/pipeline/chain/chain.hpp"
#include "framewire/pipeline/source.hpp"

#include <functional>
#include <mutex>

namespace framewire {

/// The report's camera panel (streaming report, section 5) of a running pipeline: brightness, contrast, saturation and
/// gain go to the source's own controls as far as it has them, and the rest to the first `adjust` of the chain.
class CameraPanel {
public:
    /// The pipeline's side: ChainPlan's set_adjustment().
    using SetInChain = std::function<bool(const Adjustment&)>;

    /// Moves the settings of the chain's first `adjust`, where it has one, to the source; a source that is no camera
    /// and a chain without `adjust` stay as they are. Keeps a reference to `source`. Throws as set() does.
    CameraPanel(const Chain& chain, Source& source, SetInChain set_in_chain);

    /// Takes other settings, from any thread, while the pipeline runs: the one call of whoever draws a panel. Gives
    /// what could be set nowhere, which is for a chain without `adjust` what the source has no control for; the other
    /// settings in it change nothing. Throws Error{usage} on a setting that is not allowed, with nothing changed,
    /// Error{config} when the camera does not take a value.
    Adjustment set(const Adjustment& wanted);

private:
    Source* source_;
    SetInChain set_in_chain_;
    std::mutex mutex_;  // so that of two calls one is wholly the later
};

}  // namespace framewire
