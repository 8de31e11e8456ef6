#pragma once

#include "framewire/core/error.hpp"
#include "framewire/core/parameters.hpp"
#include "framewire/core/view.hpp"
#include "framewire/filters/filter.hpp"
#include "framewire/plan/source.hpp"

#include <cstddef>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace framewire {

/// Returns all filters in alphabetical order. To add a filter, add its files to filters/CMakeLists.txt and its name to
/// FRAMEWIRE_FILTERS in chain.cpp.
const std::vector<FilterInfo>& filter_registry();

/// One filter of a chain: its registry entry, and its parameter values, which are validated and complete.
struct FilterCall {
    const FilterInfo* filter = nullptr;
    ParameterValues values;
    std::size_t offset = 0;  ///< offset of the filter's name in the text of the chain, in bytes
    std::string text{};      ///< the filter as written in the chain: "gaussian=5:sigma=1"
};

/// A filter chain, both as text and as parsed. Refers to the registry with which it was parsed.
struct Chain {
    std::string text;
    std::vector<FilterCall> calls;

    /// Returns true if the chain has no filter.
    bool empty() const { return calls.empty(); }
};

/// Maximum number of filters in a chain.
inline constexpr std::size_t max_chain_filters = 64;

/// Parses `name=value:key=value,name=...`. The first value without a key sets the filter's main parameter and, if the
/// filter allows it, further values without keys set the following parameters. Without any such value the form is
/// `name:key=value`. Spaces around names, keys and values are ignored. Quoting follows FFmpeg's rules, but with a
/// single level: between '...' every character is literal, elsewhere a backslash makes the next character literal;
/// `text=''` is an empty value. Blank text is an empty chain. Parsing takes time linear in the length of the text.
///
/// Throws Error{usage} for unknown filters and keys, values of the wrong type or out of range, even values where odd
/// ones are required, invalid choices, repeated keys, surplus values without keys, missing parts and unterminated
/// quotes. The message names the filter, the parameter and the column, shows the position with a caret line, and states
/// what is allowed and which name is closest.
Chain parse_chain(std::string_view text, std::span<const FilterInfo> registry = filter_registry());

/// A chain split at the filter that changes the frame rate: the filters before it and those after it. If no filter
/// changes the rate, all filters are in `after`.
struct RateSplit {
    Chain whole, before, after;
    std::optional<Rational> rate{};
    std::string rate_text{};  ///< the filter that changes the rate, as written in the chain
};

/// Splits a chain. Throws Error{usage} if more than one filter changes the rate.
RateSplit split_at_rate(const Chain& chain);

/// Throws Error{usage} with `problem`, the column of `offset`, and a caret line that shows the position in the chain.
[[noreturn]] void fail_in_chain(std::string_view text, std::size_t offset, std::string_view problem);

/// Calls make() and returns its result. Adds the filter and its position in the chain to Error{usage}.
template <class Make>
auto naming_place(const Chain& chain, const FilterCall& call, Make&& make) {
    try {
        return make();
    } catch (const Error& error) {
        if (error.code() != ErrorCode::usage) throw;
        fail_in_chain(chain.text, call.offset,
                      std::string("filter '") + std::string(call.filter->name) + "': " + error.what());
    }
}

/// Returns the filter, as written in a chain, that does what FFmpeg's filter `name` does: "flip=vertical" for vflip.
/// Empty if there is none, or if this program has a filter of that name.
std::string_view filter_like_ffmpegs(std::string_view name);

/// Camera controls of a running pipeline (streaming report, section 5). Brightness, contrast, saturation and gain are
/// set in the source if it has controls for them; the first `adjust` of the chain applies the remaining settings.
class CameraControls {
public:
    /// Function that applies settings in the pipeline, see ChainPlan::set_adjustment().
    using SetInChain = std::function<bool(const Adjustment&)>;

    /// If the chain has an `adjust`, moves the settings of the first one to the source as far as possible. A source
    /// without controls and a chain without `adjust` are not changed. Keeps a reference to `source`. Throws what set()
    /// throws.
    CameraControls(const Chain& chain, Source& source, SetInChain set_in_chain);

    /// Applies new settings while the pipeline runs. Returns the settings that could not be applied; all others are
    /// neutral in the result. If the chain has no `adjust`, these are the settings for which the source has no control.
    /// Throws Error{usage} without changing anything if a setting is not allowed, and Error{config} if the camera
    /// rejects a value. Callable from any thread.
    Adjustment set(const Adjustment& wanted);

private:
    Source* source_;
    SetInChain set_in_chain_;
    std::mutex mutex_;  // serialises set(), so that of two calls the later one takes effect completely
};

/// Returns parameters as a JSON array of objects with name, help, type, required, default (null if there is none), the
/// allowed values, and a textual description of the allowed values.
std::string to_json(std::span<const ParameterInfo> parameters);

/// Returns a filter as a JSON object with name, summary, needs_previous, examples and parameters.
std::string to_json(const FilterInfo& filter);

/// Returns all filters of the registry as a JSON array.
std::string filters_json();

/// A filter of a chain, and whether clients may switch it on and off.
struct FilterSwitch {
    std::string text;  ///< the filter as written in its chain: "gaussian=5:sigma=1"
    bool on = true;
    std::string fixed_because{};  ///< reason why the filter always stays on; empty if it can be switched

    friend bool operator==(const FilterSwitch&, const FilterSwitch&) = default;
};

/// Returns the 1-based numbers of the filters in `now` that must be off because they were off in `before`. Filters are
/// paired first by equal text, and the remaining ones by equal name.
std::vector<std::size_t> numbers_of_off(std::span<const FilterSwitch> before, std::span<const FilterSwitch> now);

/// Switches the filters of a chain on and off while frames are processed. A filter that is off passes its image through
/// unchanged, so only filters that keep the shape of their image can be switched. Thread-safe.
class ChainSwitches {
public:
    /// All filters start switched on. `frame` is the shape of the chain's input. Throws Error{usage} as ChainPlan does
    /// if a filter does not accept the result of its predecessor.
    ChainSwitches(Chain chain, const Shape& frame);

    /// Replaces the chain. Filters that both chains contain stay off if they were off, see numbers_of_off(). Throws
    /// what the constructor throws, without changing anything.
    void take(Chain chain, const Shape& frame);

    /// Returns the switches in the order of the chain.
    std::vector<FilterSwitch> all() const;
    /// Switches filter `number`, counted from 1. Throws Error{usage} if there is no such filter or if it cannot be
    /// switched.
    void set(std::size_t number, bool on);
    /// Returns the chain without the filters that are off, to be planned again.
    Chain active() const;

private:
    mutable std::mutex mutex_;
    Chain chain_;
    std::vector<FilterSwitch> switches_;
};

}  // namespace framewire
