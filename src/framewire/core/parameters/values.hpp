#pragma once

#include "framewire/core/parameters/info.hpp"
#include "framewire/core/time/rational.hpp"

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace framewire {

/// The values of a parameter list, validated against their ParameterInfo and completed with the defaults.
class ParameterValues {
public:
    // The typed getters throw Error{internal} if the name has no value or if the value is not of the type.
    std::int64_t integer(std::string_view name) const;
    /// Real number.
    double real(std::string_view name) const;
    /// True for "1", false for "0".
    bool flag(std::string_view name) const;
    /// Width and height in pixels, from WIDTHxHEIGHT.
    std::pair<int, int> size(std::string_view name) const;
    /// Frame rate in frames per second.
    Rational rate(std::string_view name) const;
    /// The text of a parameter of any type. Valid until the object changes.
    const std::string& text(std::string_view name) const;

    /// All texts of a repeatable parameter, in the order given; empty if there are none.
    std::vector<std::string> texts(std::string_view name) const;
    /// Returns true if the parameter has a value, given or default.
    bool has(std::string_view name) const;
    /// Returns true if the parameter has a value that was given explicitly.
    bool is_given(std::string_view name) const;

    /// Appends a value as given explicitly. It is not validated here; this is for parsers.
    void add(std::string_view name, std::string value) {
        values_.push_back({std::string(name), std::move(value), true});
    }
    /// Adds the default of each parameter that has no value yet. Optional and repeatable parameters whose default is
    /// empty stay without one.
    void add_defaults(std::span<const ParameterInfo> parameters);

private:
    struct Value {
        std::string name, text;
        bool given = false;
    };

    const Value* find(std::string_view name) const;

    std::vector<Value> values_;
};

/// Returns the given values and the defaults of all other parameters, for callers that have no text to parse. The given
/// values are not validated.
ParameterValues with_defaults(std::span<const ParameterInfo> parameters,
                              std::initializer_list<std::pair<std::string, std::string>> given);

}  // namespace framewire
