#pragma once

#include "framewire/filters/filter.hpp"
#include "framewire/plan/chain.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace framewire::session {

/// State of a running pipeline's controls.
struct Controls {
    /// Current adjustment.
    Adjustment adjustment{};
    /// Why no adjustment is accepted; empty: it is.
    std::string fixed_because{};
    /// State of each filter, in the order of the chain.
    std::vector<FilterSwitch> filters{};

    friend bool operator==(const Controls&, const Controls&) = default;
};

/// Request to switch a filter of the chain.
struct FilterOrder {
    /// Position in the chain, from 1.
    std::size_t number = 0;
    bool on = true;

    friend bool operator==(const FilterOrder&, const FilterOrder&) = default;
};

/// A control request of a viewer.
using ControlOrder = std::variant<Adjustment, FilterOrder>;

/// Maximum length of a request's text, in bytes.
inline constexpr std::size_t max_control_bytes = 256;

/// Parses `adjust brightness=10:contrast=1.5`, where values that are not named become neutral, and `filter 2 off` or
/// `on`. The text is untrusted: throws Error{usage} that says what is allowed if it is anything else.
ControlOrder parse_control(std::string_view text);
/// Returns the text of a request, which parse_control() reads.
std::string to_text(const ControlOrder& order);

/// Returns the state as a line of JSON with `adjust` and `filters`, for viewers that display it.
std::string to_json(const Controls& controls);
/// Parses that line. Throws Error{usage} if it is anything else.
Controls parse_controls(std::string_view json);

}  // namespace framewire::session
