#include "framewire/core/error.hpp"
#include "framewire/core/parameters/numbers.hpp"
#include "framewire/net/address.hpp"
#include "framewire/session/events/mqtt/mqtt_options.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace framewire::session {
namespace {

constexpr std::size_t max_prefix_bytes = 128, max_credential_bytes = 1024;

// Appends the expected form to the reason.
[[noreturn]] void refuse_address(std::string_view why) {
    fail(ErrorCode::usage, "{}; needed is mqtt://[USER:PASSWORD@]HOST[:PORT][/PREFIX], or mqtts:// for TLS", why);
}

// Decodes %XX (RFC 3986, section 2.1). Error messages never contain the text, which may be a password.
std::string decoded(std::string_view text) {
    constexpr int hexadecimal = 16;
    std::string bytes;
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (text[at] != '%') {
            bytes += text[at];
            continue;
        }
        const auto digits = text.substr(at + 1, 2);
        const auto byte = number_in<std::uint8_t>(digits, hexadecimal);
        if (digits.size() != 2 || !byte)
            refuse_address(
                "the user or the password of the MQTT broker has a % without two hexadecimal digits; % itself is %25");
        bytes += static_cast<char>(*byte);
        at += 2;
    }
    const bool control = std::ranges::any_of(bytes, [](unsigned char c) { return c < ' ' || c == 0x7f; });
    if (control || bytes.size() > max_credential_bytes)
        refuse_address("the user or the password of the MQTT broker is too long, or has control characters");
    return bytes;
}

// A prefix is one or more stream names, separated by slashes.
bool is_prefix(std::string_view prefix) {
    if (prefix.empty() || prefix.size() > max_prefix_bytes) return false;
    for (;;) {
        const auto slash = prefix.find('/');
        if (!net::is_stream_name(prefix.substr(0, slash))) return false;
        if (slash == prefix.npos) return true;
        prefix.remove_prefix(slash + 1);
    }
}

// Parses HOST[:PORT]; an IPv6 address is in brackets.
net::Address address_of(std::string_view host, std::uint16_t usual_port) {
    const bool has_port = host.find(':') != host.npos && !host.ends_with(']');
    try {
        const auto address = net::parse_address(has_port ? std::string(host) : fmt::format("{}:{}", host, usual_port));
        if (address.port > 0) return address;
        // the message would contain the text
    } catch (const Error&) {
    }
    refuse_address("the MQTT broker has no valid host, or no port from 1 to 65535");
}

}  // namespace

MqttAddress parse_mqtt_address(std::string_view text) {
    constexpr std::string_view plain = "mqtt://", secure = "mqtts://";
    constexpr std::uint16_t plain_port = 1883, secure_port = 8883;
    MqttAddress result;
    result.tls = text.starts_with(secure);
    if (!result.tls && !text.starts_with(plain)) refuse_address("this is no address of an MQTT broker");
    text.remove_prefix(result.tls ? secure.size() : plain.size());

    // The first slash ends the authority, so a slash in a password must be written as %2F.
    const auto slash = text.find('/');
    auto authority = text.substr(0, slash);
    if (slash != text.npos) {
        auto prefix = text.substr(slash + 1);
        if (prefix.ends_with('/')) prefix.remove_suffix(1);
        if (prefix.find('@') != prefix.npos)
            refuse_address("what stands before the host of the MQTT broker has a /; it is written %2F there");
        if (!prefix.empty()) {
            if (!is_prefix(prefix))
                refuse_address(
                    "the prefix of MQTT's topics is not allowed: 1 to 128 characters of A-Z a-z 0-9 . _ - are, and / "
                    "between levels");
            result.prefix = prefix;
        }
    }
    if (const auto at = authority.rfind('@'); at != authority.npos) {
        const auto user = authority.substr(0, at);
        const auto colon = user.find(':');
        result.user = decoded(user.substr(0, colon));
        if (colon != user.npos) result.password = decoded(user.substr(colon + 1));
        if (result.user.empty()) refuse_address("the user of the MQTT broker is missing before its @");
        authority.remove_prefix(at + 1);
    }
    const auto address = address_of(authority, result.tls ? secure_port : plain_port);
    result.host = address.host;
    result.port = address.port;
    return result;
}

std::string to_string(const MqttAddress& address) {
    return fmt::format("{}://{}/{}", address.tls ? "mqtts" : "mqtt",
                       net::to_string(net::Address{address.host, address.port}), address.prefix);
}

}  // namespace framewire::session
