#pragma once

#include "framewire/net/http/exchange.hpp"

#include <cstddef>
#include <string>

namespace framewire::net::http {

/// How the bytes after an answer's header are to be read.
enum class BodyForm {
    whole,    ///< so many bytes
    chunked,  ///< parts, each with its length before it
    to_the_end
};

/// An answer's header up to its empty line, with what every answer says. Throws Error{internal} where a field is none.
std::string header_text(const Response& response, BodyForm form, bool keep_alive);
/// What every answer says, as the fields of a header's text; without `response`'s own.
std::string common_fields(const Response& response);

}  // namespace framewire::net::http
