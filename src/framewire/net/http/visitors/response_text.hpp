#pragma once

#include "framewire/net/http/exchange.hpp"

#include <cstddef>
#include <string>

namespace framewire::net::http {

/// How the end of a response's body is marked (RFC 9112, 6.3).
enum class BodyForm {
    /// Content-Length.
    whole,
    /// Transfer-Encoding: chunked.
    chunked,
    /// The end of the connection, for HTTP/1.0.
    to_the_end
};

/// Returns the status line and all fields up to the empty line. Throws Error{internal} if a field contains a line break
/// or has no name.
std::string header_text(const Response& response, BodyForm form, bool keep_alive);
/// Returns the fields that every response has, without those that `response` replaces.
std::string common_fields(const Response& response);

}  // namespace framewire::net::http
