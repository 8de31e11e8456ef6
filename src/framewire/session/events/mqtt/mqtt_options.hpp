#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace framewire::session {

/// An MQTT broker, who is let in there, and below which topic events are told.
struct MqttAddress {
    std::string host;
    std::uint16_t port = 0;
    bool tls = false;
    std::string user{}, password{};    ///< empty: none
    std::string prefix = "framewire";  ///< of all topics
};

/// Reads "mqtt://[USER[:PASSWORD]@]HOST[:PORT][/PREFIX]", or the same with mqtts://, which is TLS. The ports are 1883
/// and 8883 where nothing is said. USER and PASSWORD have %XX for characters that mean something else there. PREFIX is
/// 1 to 128 characters of A-Z a-z 0-9 . _ - and / between levels. Throws Error{usage}, which never has the text: there
/// may be a password in it.
MqttAddress parse_mqtt_address(std::string_view text);

/// "mqtt://HOST:PORT/PREFIX", for people to read: without user and password.
std::string to_string(const MqttAddress& address);

struct MqttOptions {
    MqttAddress broker{};                     ///< without a host: none is told
    std::string password_file{};              ///< one line; empty: the address has the password, or there is none
    std::string authority_file{};             ///< PEM, trusted with mqtts:// in place of the system's roots
    std::string discovery = "homeassistant";  ///< first level of Home Assistant's topics; empty: it is not told
    std::size_t spool_limit = 10'000;         ///< events that wait for the broker; of more the oldest are dropped
    std::string spool_file{};                 ///< keeps them over a restart; empty: memory does
};

inline constexpr std::size_t least_spool_limit = 100, most_spool_limit = 1'000'000;

}  // namespace framewire::session
