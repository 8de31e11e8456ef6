#include "framewire/net/http_request.hpp"
#include "framewire/core/error.hpp"
#include "framewire/core/text.hpp"
#include "framewire/net/address.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <openssl/evp.h>
#include <unistd.h>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/rfc7230.hpp>
#include <boost/beast/http/string_body.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace framewire::net::http {

namespace {

// Converts ASCII letters to lower case, which is sufficient for host names and header values.
std::string lower_case(std::string_view text) {
    std::string lowered(text);
    for (char& c : lowered)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return lowered;
}

// Returns true for a numeric address. These are always allowed, because DNS rebinding needs a name.
bool numeric(const std::string& host) {
    std::array<std::uint8_t, sizeof(in6_addr)> address{};
    return ::inet_pton(AF_INET, host.c_str(), address.data()) == 1 ||
           ::inet_pton(AF_INET6, host.c_str(), address.data()) == 1;
}

// Returns this machine's host name in lower case, or an empty string.
std::string machine_name() {
    std::array<char, 256> name{};
    if (::gethostname(name.data(), name.size() - 1) != 0) return {};
    return lower_case(name.data());
}

// Returns the host in "name", "name:80" or "[::1]:80", without brackets. Throws Error{usage}.
std::string host_of(std::string_view text) {
    const bool has_port = text.ends_with(']') ? false : text.rfind(':') != text.npos;
    return parse_address(has_port ? std::string(text) : std::string(text) + ":0").host;
}

// Returns the token after "Bearer " or the password of Basic (RFC 6750, RFC 7617), or nullopt if the request has no
// Authorization. Throws Refused if the field has another form.
std::optional<std::string> token_of(const RawRequest& request) {
    if (request.count("authorization") == 0) return std::nullopt;
    const auto text = request.field("authorization");
    const auto space = text ? text->find(' ') : std::string_view::npos;
    if (space != std::string_view::npos) {
        const auto scheme = lower_case(text->substr(0, space));
        auto rest = text->substr(space);
        rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
        if (scheme == "bearer") return std::string(rest);
        if (const auto plain = scheme == "basic" ? from_base64(rest) : std::nullopt)
            if (const auto colon = plain->find(':'); colon != plain->npos) return plain->substr(colon + 1);
    }
    throw Refused{401, "Authorization must be 'Bearer TOKEN', or Basic with the token as the password"};
}

}  // namespace

std::optional<std::string> from_base64(std::string_view coded) {
    constexpr std::size_t longest = 1024;  // a user name and a token
    if (coded.empty() || coded.size() > longest || coded.size() % 4 != 0) return std::nullopt;
    std::string plain(coded.size() / 4 * 3, '\0');
    if (EVP_DecodeBlock(reinterpret_cast<unsigned char*>(plain.data()),
                        reinterpret_cast<const unsigned char*>(coded.data()), static_cast<int>(coded.size())) < 0)
        return std::nullopt;
    // EVP_DecodeBlock() counts padding as bytes.
    const auto padding = coded.size() - std::min(coded.find_last_not_of('=') + 1, coded.size());
    plain.resize(plain.size() - std::min<std::size_t>(padding, 2));
    return plain;
}

Admission::Admission(Rules rules, Gate& gate) : rules_(std::move(rules)), gate_(gate) {
    for (auto& host : rules_.hosts) host = lower_case(host);
    rules_.hosts.emplace_back("localhost");
    if (const auto name = machine_name(); !name.empty()) {
        rules_.hosts.push_back(name);
        rules_.hosts.push_back(name + ".local");
    }
}

void Admission::check_host(const RawRequest& request) const {
    // HTTP/1.1 requires Host (RFC 9112, 3.2). Health checks of load balancers in HTTP/1.0 do not send it.
    if (!request.version_1_1 && request.count("host") == 0) return;
    const auto text = request.field("host");
    if (!text) throw Refused{400, "the request must have exactly one Host header"};
    std::string host;
    try {
        host = lower_case(host_of(*text));
    } catch (const Error&) {
        throw Refused{400, "the Host header is invalid"};
    }
    if (!numeric(host) && std::ranges::find(rules_.hosts, host) == rules_.hosts.end())
        throw Refused{421, fmt::format("the host name '{}' is not allowed (serve --allow-host NAME)", host)};
}

// The lockout is checked first, so a locked-out peer learns nothing about its token.
bool Admission::let_in(const RawRequest& request, const std::string& peer, Clock::time_point now) {
    if (const auto closed = gate_.closed_to(peer, now)) throw Refused{429, closed->text};
    if (!gate_.needs_token()) return true;
    const auto token = token_of(request);
    if (!token) return false;
    if (const auto why = gate_.check(peer, *token, now))
        throw Refused{why->reason == Refusal::not_allowed ? 401 : 429, why->text};
    return true;
}

bool Admission::let_in(std::string_view token, const std::string& peer, Clock::time_point now) {
    return !gate_.check(peer, token, now);
}

void Admission::check_origin(const RawRequest& request) const {
    // Fetch Metadata: current browsers say where a request comes from.
    const auto site = request.field("sec-fetch-site");
    if (site && lower_case(*site) == "cross-site")
        throw Refused{403, "the request comes from a page on another server"};
    // Programs other than browsers send no Origin.
    if (request.count("origin") == 0) return;
    const auto origin = request.field("origin"), host = request.field("host");
    const auto own = lower_case(host.value_or("")), from = lower_case(origin.value_or(""));
    // https is also valid without TLS here, because a reverse proxy may terminate TLS.
    if (from == "https://" + own || (!rules_.tls && from == "http://" + own)) return;
    throw Refused{403, "the request comes from a page on another server"};
}

void Admission::check_access(const RawRequest& request, const Route& route, bool let_in) const {
    // A WebSocket may send its token in the first message, because browsers cannot add header fields to it.
    if (route.access != Access::everybody && !let_in && !route.websocket) throw Refused{401, "a token is required"};
    if (route.access == Access::control || route.websocket) check_origin(request);
    if (route.access != Access::control || route.method == Method::get) return;
    // A page of another origin cannot send this type without a CORS preflight, which this server never approves.
    const auto type = lower_case(request.field("content-type").value_or(""));
    if (type != "application/json" && !type.starts_with("application/json;"))
        throw Refused{415, "the body must have the type application/json"};
}

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
        return {413, fmt::format("the body is larger than {} bytes", RequestReader::body_limit_bytes)};
    if (code == error::header_limit)
        return {431, fmt::format("the header is larger than {} bytes", RequestReader::header_limit_bytes)};
    return {400, "invalid request: " + code.message()};
}

}  // namespace

std::size_t RawRequest::count(std::string_view name) const {
    return static_cast<std::size_t>(std::ranges::count(fields, name, [](const auto& field) { return field.first; }));
}

std::optional<std::string_view> RawRequest::field(std::string_view name) const {
    if (count(name) != 1) return std::nullopt;
    return std::ranges::find(fields, name, [](const auto& field) { return field.first; })->second;
}

// A field may hold a list, and a list may be spread over several fields (RFC 9110, 5.6.1).
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

    // Throws Refused unless the end of the body is unambiguous: a proxy that interprets it differently would allow
    // request smuggling (RFC 9112, 11.2).
    void check_header() const {
        const auto& fields = parser->get();
        if (fields.count("Transfer-Encoding") > 0)
            throw Refused{400, "a body requires a Content-Length; Transfer-Encoding is not supported"};
        const auto length = fields["Content-Length"];
        if (fields.count("Content-Length") > 1 || length.find_first_not_of("0123456789") != length.npos)
            throw Refused{400, "the Content-Length is not a single number"};
    }

    std::optional<Parser> parser;
    bool header_checked = false;
    Bytes waiting;  // received but not parsed yet
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

namespace {

// Maximum length of a target in bytes, and maximum number of query names.
constexpr std::size_t most_bytes = 2048, most_query_names = 32;

// Returns the value of a hexadecimal digit.
int digit_of(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    throw Refused{400, "the path contains a % that is not followed by two hexadecimal digits"};
}

// Decodes percent-encoding (RFC 3986, 2.1).
std::string decoded(std::string_view text) {
    std::string plain;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '%') {
            plain += text[i];
            continue;
        }
        if (i + 2 >= text.size()) throw Refused{400, "the path ends in the middle of a % escape"};
        plain += static_cast<char>(16 * digit_of(text[i + 1]) + digit_of(text[i + 2]));
        i += 2;
    }
    // printable() changes nothing in valid UTF-8 without control characters.
    if (printable(plain) != plain) throw Refused{400, "the path contains invalid UTF-8 or control characters"};
    return plain;
}

// Returns the decoded path. Segments are split before they are decoded, so "%2F" cannot separate them.
std::string path_of(std::string_view text) {
    if (!text.starts_with('/')) throw Refused{400, "the path does not begin with /"};
    std::string path;
    for (std::size_t begin = 1; begin <= text.size();) {
        const auto end = std::min(text.find('/', begin), text.size());
        const auto part = decoded(text.substr(begin, end - begin));
        if (part.empty() && end < text.size()) throw Refused{400, "the path contains an empty segment"};
        if (part == "." || part == ".." || part.find_first_of("/\\") != part.npos)
            throw Refused{400, "the path contains a segment that is not allowed"};
        path += "/" + part;
        begin = end + 1;
    }
    return path;
}

}  // namespace

Target parse_target(std::string_view text) {
    if (text.size() > most_bytes) throw Refused{400, fmt::format("the path is longer than {} bytes", most_bytes)};
    if (text.find('#') != text.npos) throw Refused{400, "the path contains a #"};
    const auto question = std::min(text.find('?'), text.size());
    Target target{path_of(text.substr(0, question))};
    for (auto rest = text.substr(std::min(question + 1, text.size())); !rest.empty();) {
        const auto end = std::min(rest.find('&'), rest.size());
        const auto pair = rest.substr(0, end);
        rest.remove_prefix(std::min(end + 1, rest.size()));
        if (pair.empty()) continue;
        const auto equals = std::min(pair.find('='), pair.size());
        target.query.emplace(decoded(pair.substr(0, equals)), decoded(pair.substr(std::min(equals + 1, pair.size()))));
        if (target.query.size() > most_query_names) throw Refused{400, "the query has too many parameters"};
    }
    return target;
}

}  // namespace framewire::net::http
