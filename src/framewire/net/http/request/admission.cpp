#include "framewire/net/http/request/admission.hpp"

#include "framewire/core/error.hpp"
#include "framewire/net/address.hpp"

#include <arpa/inet.h>
#include <openssl/evp.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

namespace framewire::net::http {

namespace {

// ASCII only, which is sufficient for host names and header values.
std::string lower_case(std::string_view text) {
    std::string lowered(text);
    for (char& c : lowered)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return lowered;
}

// Numeric addresses are always allowed: DNS rebinding needs a name.
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

// Returns the host without brackets of "name", "name:80" or "[::1]:80". Throws Error{usage}.
std::string host_of(std::string_view text) {
    const bool has_port = text.ends_with(']') ? false : text.rfind(':') != text.npos;
    return parse_address(has_port ? std::string(text) : std::string(text) + ":0").host;
}

// Returns nullopt if the text is not Base64 (RFC 4648).
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
    throw Refused{401, "Authorization is 'Bearer TOKEN', or Basic with the token as password"};
}

}  // namespace

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
    if (!text) throw Refused{400, "it has no Host, or several"};
    std::string host;
    try {
        host = lower_case(host_of(*text));
    } catch (const Error&) {
        throw Refused{400, "its Host is no host"};
    }
    if (!numeric(host) && std::ranges::find(rules_.hosts, host) == rules_.hosts.end())
        throw Refused{421, fmt::format("this server does not go by the name '{}' (serve --allow-host NAME)", host)};
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
    if (site && lower_case(*site) == "cross-site") throw Refused{403, "a page of another server asks"};
    // Programs other than browsers send no Origin.
    if (request.count("origin") == 0) return;
    const auto origin = request.field("origin"), host = request.field("host");
    const auto own = lower_case(host.value_or("")), from = lower_case(origin.value_or(""));
    // https is also valid without TLS here, because a reverse proxy may terminate TLS.
    if (from == "https://" + own || (!rules_.tls && from == "http://" + own)) return;
    throw Refused{403, "a page of another server asks"};
}

void Admission::check_access(const RawRequest& request, const Route& route, bool let_in) const {
    // A WebSocket may send its token in the first message, because browsers cannot add header fields to it.
    if (route.access != Access::everybody && !let_in && !route.websocket) throw Refused{401, "a token is needed"};
    if (route.access == Access::panel || route.websocket) check_origin(request);
    if (route.access != Access::panel || route.method == Method::get) return;
    // A page of another origin cannot send this type without a CORS preflight, which this server never approves.
    const auto type = lower_case(request.field("content-type").value_or(""));
    if (type != "application/json" && !type.starts_with("application/json;"))
        throw Refused{415, "a body of the type application/json is needed"};
}

}  // namespace framewire::net::http
