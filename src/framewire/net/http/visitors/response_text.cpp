#include "framewire/net/http/visitors/response_text.hpp"

#include "framewire/core/error.hpp"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace framewire::net::http {

namespace {

struct Field {
    std::string_view name, value;
};
// Pages run no inline scripts or styles, load nothing from other origins and cannot be framed.
constexpr Field every_answers[] = {
    {"X-Content-Type-Options", "nosniff"},
    {"Referrer-Policy", "no-referrer"},
    {"Cache-Control", "no-store"},
    {"Content-Security-Policy",
     "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; style-src 'self'; "
     "img-src 'self' blob: data:; connect-src 'self'; manifest-src 'self'; frame-ancestors 'none'; base-uri 'none'; "
     "form-action 'none'"},
};

// Reason phrases (RFC 9110, 15).
std::string_view reason_of(int status) {
    switch (status) {
        case 200: return "OK";
        case 204: return "No Content";
        case 304: return "Not Modified";
        case 308: return "Permanent Redirect";
        case 400: return "Bad Request";
        case 401: return "Unauthorized";
        case 403: return "Forbidden";
        case 404: return "Not Found";
        case 405: return "Method Not Allowed";
        case 408: return "Request Timeout";
        case 409: return "Conflict";
        case 413: return "Payload Too Large";
        case 415: return "Unsupported Media Type";
        case 421: return "Misdirected Request";
        case 426: return "Upgrade Required";
        case 429: return "Too Many Requests";
        case 431: return "Request Header Fields Too Large";
        case 503: return "Service Unavailable";
        default: return status < 400 ? "Done" : "Failed";
    }
}

// Field names are case-insensitive (RFC 9110, 5.1).
bool same_name(std::string_view a, std::string_view b) {
    return std::ranges::equal(a, b,
                              [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

// Appends a field. A line break in it would allow response splitting.
void add(std::string& text, std::string_view name, std::string_view value) {
    if (name.empty() ||
        (std::string(name) + std::string(value)).find_first_of(std::string_view("\r\n\0", 3)) != std::string::npos)
        fail(ErrorCode::internal, "an answer has a field that is none");
    text.append(name).append(": ").append(value).append("\r\n");
}

}  // namespace

std::string common_fields(const Response& response) {
    std::string text;
    for (const auto& field : every_answers)
        if (std::ranges::none_of(response.headers, [&](const auto& own) { return same_name(own.first, field.name); }))
            add(text, field.name, field.value);
    return text;
}

std::string header_text(const Response& response, BodyForm form, bool keep_alive) {
    auto text = fmt::format("HTTP/1.1 {} {}\r\n", response.status, reason_of(response.status));
    text += common_fields(response);
    for (const auto& [name, value] : response.headers) add(text, name, value);
    const bool empty = response.status == 204 || response.status == 304;
    if (!empty) add(text, "Content-Type", response.content_type);
    if (form == BodyForm::whole && !empty)
        add(text, "Content-Length", std::to_string(response.body ? response.body->size() : 0));
    if (form == BodyForm::chunked) add(text, "Transfer-Encoding", "chunked");
    add(text, "Connection", keep_alive ? "keep-alive" : "close");
    return text + "\r\n";
}

}  // namespace framewire::net::http
