#include "framewire/net/http/exchange.hpp"

#include "framewire/core/text/printable.hpp"

#include <fmt/format.h>

namespace framewire::net::http {

Response json_response(std::string json, int status) {
    Response response;
    response.status = status;
    response.body = std::make_shared<const std::string>(std::move(json));
    return response;
}

Response error_response(int status, std::string_view text) {
    std::string quoted;
    // printable() has replaced control characters, so only quotes and backslashes need an escape.
    for (const char c : printable(text)) {
        if (c == '"' || c == '\\') quoted += '\\';
        quoted += c;
    }
    return json_response(fmt::format(R"({{"error":{{"status":{},"text":"{}"}}}})", status, quoted), status);
}

}  // namespace framewire::net::http
