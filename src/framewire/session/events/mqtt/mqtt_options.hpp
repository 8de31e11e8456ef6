#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace framewire::session {

/// Address of an MQTT broker, with credentials and the prefix of all topics.
struct MqttAddress {
    std::string host;
    std::uint16_t port = 0;
    bool tls = false;
    /// Empty: no user, no password.
    std::string user{}, password{};
    /// First levels of all topics.
    std::string prefix = "framewire";
};

/// Parses "mqtt://[USER[:PASSWORD]@]HOST[:PORT][/PREFIX]", or the same with mqtts:// for TLS. Default ports: 1883 and
/// 8883. USER and PASSWORD may contain %XX. PREFIX has 1 to 128 characters of A-Z a-z 0-9 . _ - and / between levels.
/// Throws Error{usage}; the message never contains the text, because there may be a password in it.
MqttAddress parse_mqtt_address(std::string_view text);

/// Returns "mqtt://HOST:PORT/PREFIX" for messages, without user and password.
std::string to_string(const MqttAddress& address);

/// Options of an MqttPublisher.
struct MqttOptions {
    /// Without a host, no broker receives events.
    MqttAddress broker{};
    /// Optional. File with the password in one line. Empty: the address has the password, or there is none.
    std::string password_file{};
    /// Optional. Certificates that are trusted for mqtts://, as PEM, instead of the system's roots.
    std::string authority_file{};
    /// First level of Home Assistant's discovery topics; empty: no discovery messages.
    std::string discovery = "homeassistant";
    /// Maximum number of events that wait for the broker; if there are more, the oldest are dropped.
    std::size_t spool_limit = 10'000;
    /// Optional. File that keeps waiting events over a restart; empty: they are kept in memory only.
    std::string spool_file{};
};

/// Range of MqttOptions::spool_limit.
inline constexpr std::size_t least_spool_limit = 100, most_spool_limit = 1'000'000;

}  // namespace framewire::session
