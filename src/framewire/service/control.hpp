#pragma once

#include "framewire/filters/filter.hpp"
#include "framewire/plan/chain.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace framewire::service {

/// State of a running pipeline's controls.
struct Controls {
    /// Current adjustment.
    Adjustment adjustment{};
    /// Reason why adjustments are refused; empty if they are accepted.
    std::string fixed_because{};
    /// State of each filter, in the order of the chain.
    std::vector<FilterSwitch> filters{};

    friend bool operator==(const Controls&, const Controls&) = default;
};

/// Request to switch a filter of the chain.
struct FilterRequest {
    /// Position in the chain, from 1.
    std::size_t number = 0;
    bool on = true;

    friend bool operator==(const FilterRequest&, const FilterRequest&) = default;
};

/// A control request of a viewer.
using ControlRequest = std::variant<Adjustment, FilterRequest>;

/// Maximum length of a request's text, in bytes.
inline constexpr std::size_t max_control_bytes = 256;

/// Parses `adjust brightness=10:contrast=1.5`, where values that are not named become neutral, and `filter 2 off` or
/// `filter 2 on`. The text is untrusted: for any other text, throws Error{usage} that says what is allowed.
ControlRequest parse_control(std::string_view text);
/// Formats a request as text for parse_control().
std::string to_text(const ControlRequest& request);

/// Returns the state as a line of JSON with `adjust` and `filters`, for viewers that display it.
std::string to_json(const Controls& controls);
/// Parses a line from to_json(). Throws Error{usage} for any other text.
Controls parse_controls(std::string_view json);

}  // namespace framewire::service
