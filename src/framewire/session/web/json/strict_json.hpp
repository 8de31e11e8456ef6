#pragma once

#include <nlohmann/json.hpp>

#include <initializer_list>
#include <string_view>

namespace framewire::session::web {

/// An order's body: an object, of which each name is there once, no deeper than orders go, in valid UTF-8. Throws
/// Error{usage} that says what is wrong.
nlohmann::ordered_json read_object(std::string_view body);

/// Throws Error{usage} where `object` is none, or has another name than these, or none at all; `what` is what it is for
/// messages: "a zone".
void check_names(const nlohmann::ordered_json& object, std::string_view what,
                 std::initializer_list<std::string_view> allowed);

/// Of an object; throw Error{usage} where it is not there or of another type.
bool flag_of(const nlohmann::ordered_json& object, std::string_view name);
int integer_of(const nlohmann::ordered_json& object, std::string_view name, int minimum, int maximum);
std::string text_of(const nlohmann::ordered_json& object, std::string_view name);

}  // namespace framewire::session::web
