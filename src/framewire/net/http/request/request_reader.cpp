#include "framewire/net/http/request/request_reader.hpp"

#include <boost/beast/core/string.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/rfc7230.hpp>
#include <boost/beast/http/string_body.hpp>

#include <algorithm>
#include <optional>

namespace framewire::net::http {

namespace {

namespace beast = boost::beast;
using Parser = beast::http::request_parser<beast::http::string_body>;

std::string lower(beast::string_view text) {
    std::string lowered;
    for (const char c : text) lowered += beast::detail::ascii_tolower(c);
    return lowered;
}

// Maps Beast's errors to HTTP statuses.
Refused refusal_of(const beast::error_code& code) {
    using beast::http::error;
    if (code == error::body_limit)
        return {413, fmt::format("a body of more than {} bytes is not taken", RequestReader::body_limit_bytes)};
    if (code == error::header_limit)
        return {431, fmt::format("a header of more than {} bytes is not taken", RequestReader::header_limit_bytes)};
    return {400, "no good request: " + code.message()};
}

}  // namespace

std::size_t RawRequest::count(std::string_view name) const {
    return static_cast<std::size_t>(std::ranges::count(fields, name, [](const auto& field) { return field.first; }));
}

std::optional<std::string_view> RawRequest::field(std::string_view name) const {
    if (count(name) != 1) return std::nullopt;
    return std::ranges::find(fields, name, [](const auto& field) { return field.first; })->second;
}

// One field may hold a list, and a list may be spread over several fields (RFC 9110, 5.6.1).
bool RawRequest::lists(std::string_view name, std::string_view token) const {
    return std::ranges::any_of(fields, [&](const auto& field) {
        return field.first == name && beast::http::token_list(field.second).exists({token.data(), token.size()});
    });
}

// Wraps Beast's parser. Bytes are kept until the parser has consumed them, so requests may arrive in any pieces.
struct RequestReader::State {
    State() { restart(); }

    void restart() {
        parser.emplace();
        parser->header_limit(static_cast<std::uint32_t>(header_limit_bytes));
        parser->body_limit(body_limit_bytes);
        header_checked = false;
    }

    // Parses pending bytes. Returns false if the request is not complete.
    bool parse() {
        while (!parser->is_done()) {
            if (parser->is_header_done() && !std::exchange(header_checked, true)) check_header();
            beast::error_code error;
            const auto used = parser->put(boost::asio::buffer(waiting), error);
            waiting.erase(waiting.begin(), waiting.begin() + static_cast<std::ptrdiff_t>(used));
            if (error == beast::http::error::need_more) return false;
            if (error) throw refusal_of(error);
            if (used == 0 && !parser->is_done()) return false;
        }
        if (!std::exchange(header_checked, true)) check_header();
        return true;
    }

    // The end of a body must be unambiguous: a proxy in between that reads it differently would allow request smuggling
    // (RFC 9112, 11.2).
    void check_header() const {
        const auto& fields = parser->get();
        if (fields.count("Transfer-Encoding") > 0)
            throw Refused{400, "a body has a Content-Length here, and no Transfer-Encoding"};
        const auto length = fields["Content-Length"];
        if (fields.count("Content-Length") > 1 || length.find_first_not_of("0123456789") != length.npos)
            throw Refused{400, "its Content-Length is not one number"};
    }

    std::optional<Parser> parser;
    bool header_checked = false;
    Bytes waiting;  // received and not parsed
};

RequestReader::RequestReader() : state_(std::make_unique<State>()) {}
RequestReader::~RequestReader() = default;

bool RequestReader::take(ByteSpan bytes) {
    state_->waiting.insert(state_->waiting.end(), bytes.begin(), bytes.end());
    return state_->parse();
}

RawRequest RequestReader::request() {
    auto message = state_->parser->release();
    RawRequest request;
    const auto method = message.method_string(), target = message.target();
    request.method.assign(method.data(), method.size());
    request.target.assign(target.data(), target.size());
    request.version_1_1 = message.version() == 11;
    for (const auto& field : message)
        request.fields.emplace_back(lower(field.name_string()),
                                    std::string(field.value().data(), field.value().size()));
    request.body = std::move(message.body());
    state_->restart();
    return request;
}

bool RequestReader::begun() const { return !state_->waiting.empty() || state_->parser->got_some(); }

Bytes RequestReader::rest() { return std::exchange(state_->waiting, {}); }

}  // namespace framewire::net::http
