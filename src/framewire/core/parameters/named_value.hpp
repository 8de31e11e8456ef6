#pragma once

#include "framewire/core/error.hpp"

#include <cstddef>
#include <string_view>
#include <vector>

namespace framewire {

/// A value and its name in text.
template <class Value>
struct NamedValue {
    std::string_view name;
    Value value;
};

/// Returns the names of all values, in order.
template <class Value, std::size_t count>
std::vector<std::string_view> names_of(const NamedValue<Value> (&values)[count]) {
    std::vector<std::string_view> names;
    for (const auto& one : values) names.push_back(one.name);
    return names;
}

/// Returns the name of `value`. Throws Error{internal} if it has none.
template <class Value, std::size_t count>
std::string_view name_of(const NamedValue<Value> (&values)[count], Value value) {
    for (const auto& one : values)
        if (one.value == value) return one.name;
    fail(ErrorCode::internal, "a value without a name");
}

/// Returns the value called `name`, or null if there is none.
template <class Value, std::size_t count>
const Value* value_named(const NamedValue<Value> (&values)[count], std::string_view name) {
    for (const auto& one : values)
        if (one.name == name) return &one.value;
    return nullptr;
}

}  // namespace framewire
