#pragma once

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

/// Returns every filter in alphabetical order. To add one, add its files to filters/CMakeLists.txt and
/// its name to FRAMEWIRE_FILTERS in chain.cpp.
const std::vector<FilterInfo>& filter_registry();

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

/// Returns the filter, as text of a chain, that does what FFmpeg's filter `name` does: "flip=vertical" for
/// vflip. Empty if there is none, or if the name is a filter here too.
std::string_view filter_like_ffmpegs(std::string_view name);

/// Camera controls of a running pipeline (streaming report, section 5): brightness, contrast, saturation and
/// gain are set in the source as far as it has controls for them; the remainder goes to the first `adjust` of
/// the chain.
class CameraControls {
public:
    /// Applies settings in the pipeline: ChainPlan::set_adjustment().
    using SetInChain = std::function<bool(const Adjustment&)>;

    /// If the chain has an `adjust`, moves the settings of the first one to the source. A source without
    /// controls and a chain without `adjust` are not changed. Keeps a reference to `source`. Throws what set()
    /// throws.
    CameraControls(const Chain& chain, Source& source, SetInChain set_in_chain);

    /// Applies other settings while the pipeline runs, from any thread. Returns the settings that could not be
    /// applied anywhere: for a chain without `adjust`, those that the source has no control for; the other
    /// settings in the result are neutral. Throws Error{usage} if a setting is not allowed, without changing
    /// anything, and Error{config} if the camera rejects a value.
    Adjustment set(const Adjustment& wanted);

private:
    Source* source_;
    SetInChain set_in_chain_;
    std::mutex mutex_;  // serialises set(), so that the later of two calls wins completely
};

/// Returns parameters as a JSON array of objects with name, help, type, required, default, the allowed values,
/// and a description of these in words. The default is null if there is none.
std::string to_json(std::span<const ParameterInfo> parameters);

/// Returns a filter as a JSON object with name, summary, needs_previous, examples and parameters.
std::string to_json(const FilterInfo& filter);

/// Returns all filters of the registry as a JSON array.
std::string filters_json();

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
