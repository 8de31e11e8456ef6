#pragma once

#include "framewire/core/view.hpp"
#include "framewire/pipeline/chain/chain.hpp"

#include <cstddef>
#include <mutex>
#include <span>
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

/// Which filters of a chain are to be off as they were in the one before: those of the same text, and of the others
/// those of the same name, in pairs. As numbers from 1.
std::vector<std::size_t> numbers_of_off(std::span<const FilterSwitch> before, std::span<const FilterSwitch> now);

/// Which filters of a chain are on, while frames flow. One that is off passes its image on, so only filters whose
/// result has their image's shape may be switched. Thread-safe.
class ChainSwitches {
public:
    /// All are on at first. `frame` is of the chain's first image. Throws Error{usage} as ChainPlan does where a filter
    /// does not take what the one before it gives.
    ChainSwitches(Chain chain, const Shape& frame);

    /// Takes another chain. Filters that it has in common with the one before stay off where they were, see
    /// numbers_of_off(). Throws as the constructor does, with nothing changed.
    void take(Chain chain, const Shape& frame);

    /// In the chain's order.
    std::vector<FilterSwitch> all() const;
    /// Switches filter `number`, from 1. Throws Error{usage} where there is none, or it stays on.
    void set(std::size_t number, bool on);
    /// The chain of those that are on, for another plan.
    Chain active() const;

private:
    mutable std::mutex mutex_;
    Chain chain_;
    std::vector<FilterSwitch> switches_;
};

}  // namespace framewire
