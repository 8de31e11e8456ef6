#pragma once

#include "framewire/core/view.hpp"
#include "framewire/pipeline/chain/chain.hpp"

#include <cstddef>
#include <mutex>
#include <span>
#include <string>
#include <vector>

namespace framewire {

/// A filter of a chain that a client may switch on and off.
struct FilterSwitch {
    std::string text;  ///< the filter as written in its chain: "gaussian=5:sigma=1"
    bool on = true;
    std::string fixed_because{};  ///< why it always stays on; empty if it can be switched

    friend bool operator==(const FilterSwitch&, const FilterSwitch&) = default;
};

/// Returns the 1-based numbers of the filters to switch off because they were off in the chain before: filters
/// are paired by equal text first, the remaining ones by equal name.
std::vector<std::size_t> numbers_of_off(std::span<const FilterSwitch> before, std::span<const FilterSwitch> now);

/// Switches of a chain's filters while frames are processed. A filter that is off passes its image on, so only
/// filters that keep the shape of their image can be switched. Thread-safe.
class ChainSwitches {
public:
    /// All filters start switched on. `frame` is the shape of the chain's input. Throws Error{usage}, as
    /// ChainPlan does, if a filter does not accept the result of the one before it.
    ChainSwitches(Chain chain, const Shape& frame);

    /// Replaces the chain. Filters that both chains have stay off if they were, see numbers_of_off(). Throws
    /// what the constructor throws, without changing anything.
    void take(Chain chain, const Shape& frame);

    /// Returns the switches in the order of the chain.
    std::vector<FilterSwitch> all() const;
    /// Switches filter `number`, 1-based. Throws Error{usage} if there is no such filter or if it always stays
    /// on.
    void set(std::size_t number, bool on);
    /// Returns the chain of the filters that are on, for a new plan.
    Chain active() const;

private:
    mutable std::mutex mutex_;
    Chain chain_;
    std::vector<FilterSwitch> switches_;
};

}  // namespace framewire
