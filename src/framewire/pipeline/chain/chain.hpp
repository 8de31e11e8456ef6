#pragma once

#include "framewire/filters/filter.hpp"
#include "framewire/pipeline/chain/filter_registry.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace framewire {

/// One filter of a chain: its registry entry and its values, validated and complete.
struct FilterCall {
    const FilterInfo* filter = nullptr;
    ParameterValues values;
    std::size_t offset = 0;  ///< offset of its name in the text of the chain, in bytes
};

/// A filter chain as text and as parsed. Refers to the registry that it was parsed with.
struct Chain {
    std::string text;
    std::vector<FilterCall> calls;

    /// Returns true if there is no filter.
    bool empty() const { return calls.empty(); }
};

/// Limit of filters in one chain.
inline constexpr std::size_t max_chain_filters = 64;

/// Parses `name=value:key=value,name=...`. The first value without a key belongs to the filter's main
/// parameter, and if the filter allows it, the next ones belong to the next parameters. `name:key=value` works
/// if there is no such value. Spaces around names, keys and values are ignored. Quoting follows FFmpeg's rules,
/// but on one level only: between '...' every character is literal, elsewhere a backslash makes the next
/// character literal; `text=''` is an empty value. Blank text is an empty chain. The time is linear in the
/// text.
///
/// Throws Error{usage} for unknown filters and keys, values of the wrong type or out of range, even values if odd ones
/// are needed, invalid choices, keys given twice, a second value without a key, missing parts and open quotes. The
/// message names the filter, the parameter and the column, shows the place, and says what is allowed and which name is
/// nearest.
Chain parse_chain(std::string_view text, std::span<const FilterInfo> registry = filter_registry());

/// A chain divided at the filter that changes the frame rate: the filters before it and those after it. If
/// there is none, all filters are in `after`.
struct RateSplit {
    Chain whole, before, after;
    std::optional<Rational> rate{};
};

/// Divides a chain. Throws Error{usage} if more than one filter changes the rate.
RateSplit split_at_rate(const Chain& chain);

/// Throws Error{usage} with `problem`, its column, and a caret line for the place in the text of the chain.
[[noreturn]] void fail_in_chain(std::string_view text, std::size_t offset, std::string_view problem);

}  // namespace framewire
