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

/// One filter of a chain: its registry entry and its values, checked and complete.
struct FilterCall {
    const FilterInfo* filter = nullptr;
    ParameterValues values;
    std::size_t offset = 0;  ///< of its name, in bytes of the chain's text
};

/// A filter chain as the user wrote it and as it was understood. Refers to the registry it was read with.
struct Chain {
    std::string text;
    std::vector<FilterCall> calls;

    bool empty() const { return calls.empty(); }
};

/// Most filters in one chain.
inline constexpr std::size_t max_chain_filters = 64;

/// Reads `name=value:key=value,name=...`. A first value without a key is the filter's main parameter's,
/// and where the filter says so the next ones are the next parameters'; `name:key=value` will do where there is none.
/// Spaces around names, keys and values do not count. Quoting is FFmpeg's, but in one level: between '...' every
/// character stands for itself, elsewhere a backslash makes the next one do so; `text=''` is an empty value. Blank text
/// is an empty chain. Takes time proportional to the text. Throws Error{usage} saying which filter and parameter, the
/// column and the place, what is allowed and the nearest name, on: unknown filters and keys, values that are of the
/// wrong type, out of range, even where odd is needed or no choice, keys given twice, a second value without a key,
/// missing parts, open quotes.
Chain parse_chain(std::string_view text, std::span<const FilterInfo> registry = filter_registry());

/// A chain at the filter that changes how many frames there are: what comes before it, and what after. Without such a
/// filter all of it is `after`.
struct RateSplit {
    Chain whole, before, after;
    std::optional<Rational> rate{};
};

/// Throws Error{usage} where there is more than one such filter.
RateSplit split_at_rate(const Chain& chain);

/// Throws Error{usage} with `problem` and the place in the chain's text it is about.
[[noreturn]] void fail_in_chain(std::string_view text, std::size_t offset, std::string_view problem);

}  // namespace framewire
