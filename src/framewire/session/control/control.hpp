#pragma once

#include "framewire/filters/adjustment.hpp"
#include "framewire/pipeline/chain/switches/chain_switches.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace framewire::session {

/// How what may be set of a running pipeline stands.
struct Controls {
    Adjustment adjustment{};
    std::string fixed_because{};  ///< why no adjustment is taken; empty: it is
    std::vector<FilterSwitch> filters{};

    friend bool operator==(const Controls&, const Controls&) = default;
};

/// An order to switch a filter of the chain.
struct FilterOrder {
    std::size_t number = 0;  ///< in the chain, from 1
    bool on = true;

    friend bool operator==(const FilterOrder&, const FilterOrder&) = default;
};

/// What a panel may order.
using ControlOrder = std::variant<Adjustment, FilterOrder>;

/// The longest order, in bytes.
inline constexpr std::size_t max_control_bytes = 256;

/// Reads `adjust brightness=10:contrast=1.5`, where what is not named changes nothing of the picture, and `filter 2
/// off` or `on`. Of anyone: throws Error{usage} that says what is allowed on anything else.
ControlOrder parse_control(std::string_view text);
/// The same order as text.
std::string to_text(const ControlOrder& order);

/// For whoever draws a panel elsewhere: a line of JSON, `adjust` and `filters`.
std::string to_json(const Controls& controls);
/// Reads it again. Throws Error{usage} on anything else.
Controls parse_controls(std::string_view json);

}  // namespace framewire::session
