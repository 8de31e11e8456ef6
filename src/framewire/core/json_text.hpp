#pragma once

#include <string>

namespace framewire {

// Templates, so that this layer does not depend on the JSON library, whose header is slow to compile.

/// Returns a value of nlohmann-json as text: on one line, or indented by `indent` spaces if that is not negative. Bytes
/// that are not valid UTF-8, which names of files and sources may contain, become U+FFFD.
template <class Json>
std::string json_text(const Json& json, int indent = -1) {
    return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

/// Returns a value as json_text() does, but in ASCII only: other characters become escapes such as `\u00e9`.
template <class Json>
std::string ascii_json_text(const Json& json, int indent = -1) {
    return json.dump(indent, ' ', true, Json::error_handler_t::replace);
}

}  // namespace framewire
