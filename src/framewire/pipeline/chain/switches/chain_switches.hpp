#pragma once

#include "framewire/core/view.hpp"
#include "framewire/pipeline/chain/chain.hpp"

#include <cstddef>
#include <mutex>
#include <string>
#include <vector>

namespace framewire {

/// A filter of a chain, as whoever looks at the chain may switch it.
struct FilterSwitch {
    std::string text;  ///< the filter as its chain has it: "gaussian=5:sigma=1"
    bool on = true;
    std::string fixed_because{};  ///< why it stays on; empty: it may be switched

    friend bool operator==(const FilterSwitch&, const FilterSwitch&) = default;
};

/// Which filters of a chain are on, while frames flow. One that is off passes its image on, so only filters whose
/// result has their image's shape may be switched. Thread-safe.
class ChainSwitches {
public:
    /// All are on at first. `frame` is of the chain's first image. Throws Error{usage} as ChainPlan does where a filter
    /// does not take what the one before it gives.
    ChainSwitches(Chain chain, const Shape& frame);

    /// In the chain's order.
    std::vector<FilterSwitch> all() const;
    /// Switches filter `number`, from 1. Throws Error{usage} where there is none, or it stays on.
    void set(std::size_t number, bool on);
    /// The chain of those that are on, for another plan.
    Chain active() const;

private:
    Chain chain_;
    mutable std::mutex mutex_;
    std::vector<FilterSwitch> switches_;
};

}  // namespace framewire
