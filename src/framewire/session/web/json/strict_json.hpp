#pragma once

#include <nlohmann/json.hpp>

#include <initializer_list>
#include <string_view>

namespace framewire::session::web {

/// Parses the body of a control request: a JSON object (RFC 8259) in valid UTF-8 with at most 4 levels and without
/// repeated names. Throws Error{usage} that says what is wrong.
nlohmann::ordered_json read_object(std::string_view body);

/// Throws Error{usage} if `object` is not an object, is empty, or has a name that is not in `allowed`. `what` names it
/// in messages: "a zone".
void check_names(const nlohmann::ordered_json& object, std::string_view what,
                 std::initializer_list<std::string_view> allowed);

/// Returns a member that is true or false. Throws Error{usage} if it is missing or has another type.
bool flag_of(const nlohmann::ordered_json& object, std::string_view name);
/// Returns a whole number from `minimum` to `maximum`, with the same errors.
int integer_of(const nlohmann::ordered_json& object, std::string_view name, int minimum, int maximum);
/// Returns a text, with the same errors.
std::string text_of(const nlohmann::ordered_json& object, std::string_view name);

}  // namespace framewire::session::web
