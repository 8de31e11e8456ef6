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

/// Values of parameters, checked against their ParameterInfo; defaults filled in.
class ParameterValues {
public:
    // Each throws Error{internal} on a name that has no value, and on a value that is not of the type.
    std::int64_t integer(std::string_view name) const;
    double real(std::string_view name) const;
    bool flag(std::string_view name) const;
    /// Width and height.
    std::pair<int, int> size(std::string_view name) const;
    Rational rate(std::string_view name) const;
    /// The text of any parameter.
    const std::string& text(std::string_view name) const;

    /// All texts of a repeatable parameter, in their order; empty when none was given.
    std::vector<std::string> texts(std::string_view name) const;
    /// Whether there is a value, given or the default.
    bool has(std::string_view name) const;
    /// Whether there is one that is no default.
    bool is_given(std::string_view name) const;

    /// Appends a value that was given; for whoever reads a text. It is not checked here.
    void add(std::string_view name, std::string value) {
        values_.push_back({std::string(name), std::move(value), true});
    }
    /// The defaults of all that have none yet, but for optional and repeatable parameters without one.
    void add_defaults(std::span<const ParameterInfo> parameters);

private:
    struct Value {
        std::string name, text;
        bool given = false;
    };

    const Value* find(std::string_view name) const;

    std::vector<Value> values_;
};

/// The values given and the defaults of all other parameters; for whoever has no text to read.
ParameterValues with_defaults(std::span<const ParameterInfo> parameters,
                              std::initializer_list<std::pair<std::string, std::string>> given);

}  // namespace framewire
