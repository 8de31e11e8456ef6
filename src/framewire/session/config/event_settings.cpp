#include "framewire/session/config/event_settings.hpp"

#include "framewire/core/error.hpp"
#include "framewire/core/parameters/numbers.hpp"
#include "framewire/net/address.hpp"

#include <fmt/format.h>

#include <chrono>

namespace framewire::session {
namespace {

using Type = ParameterInfo::Type;

constexpr std::string_view no_discovery = "none";

// Returns what is wrong with a broker's address; the message never contains the text.
std::string problem_with_broker(const std::string& text) {
    try {
        parse_mqtt_address(text);
    } catch (const Error& error) {
        return error.what();
    }
    return {};
}

// Returns what is wrong with a discovery prefix.
std::string problem_with_discovery(const std::string& text) {
    return net::is_stream_name(text) ? std::string()
                                     : "the first level of Home Assistant's topics has 1 to 64 characters of A-Z a-z "
                                       "0-9 . _ -, or is none";
}

// Settings of the MQTT broker.
std::vector<Setting<EventOptions>> mqtt_settings() {
    return {
        {{.name = "mqtt",
          .help =
              "tell this MQTT broker what detectors find: mqtt://[USER[:PASSWORD]@]HOST[:PORT][/PREFIX], or mqtts:// "
              "for TLS. A password is safer in --mqtt-password-file",
          .type = Type::text,
          .optional = true,
          .unit = "URL"},
         [](EventOptions& events, const std::string& text) { events.mqtt.broker = parse_mqtt_address(text); },
         problem_with_broker},
        {{.name = "mqtt-password-file",
          .help = "the password of the broker's user, one line",
          .type = Type::text,
          .optional = true,
          .unit = "FILE"},
         [](EventOptions& events, const std::string& text) { events.mqtt.password_file = text; }},
        {{.name = "mqtt-ca",
          .help = "of mqtts://: trust certificates of these authorities, PEM; without, those of the system's roots",
          .type = Type::text,
          .optional = true,
          .unit = "FILE"},
         [](EventOptions& events, const std::string& text) { events.mqtt.authority_file = text; }},
        {{.name = "mqtt-discovery",
          .help = "where Home Assistant reads which cameras there are; none: it is not told",
          .type = Type::text,
          .default_value = MqttOptions{}.discovery,
          .unit = "PREFIX|none"},
         [](EventOptions& events, const std::string& text) {
             events.mqtt.discovery = text == no_discovery ? std::string() : text;
         },
         problem_with_discovery},
        {{.name = "mqtt-spool",
          .help = "how many events may wait while the broker is away; of more the oldest are dropped",
          .default_value = fmt::to_string(MqttOptions{}.spool_limit),
          .minimum = static_cast<double>(least_spool_limit),
          .maximum = static_cast<double>(most_spool_limit),
          .unit = "N"},
         [](EventOptions& events, const std::string& text) {
             events.mqtt.spool_limit = number_in<std::size_t>(text).value_or(events.mqtt.spool_limit);
         }},
        {{.name = "mqtt-spool-file",
          .help = "keep what waits for the broker there, over a restart; without, in memory",
          .type = Type::text,
          .optional = true,
          .unit = "FILE"},
         [](EventOptions& events, const std::string& text) { events.mqtt.spool_file = text; }}};
}

// Settings of events and motion, followed by those of the broker.
std::vector<Setting<EventOptions>> make_event_settings() {
    constexpr double most_hold_seconds = 3600;
    std::vector<Setting<EventOptions>> settings = {
        {{.name = "events-rate",
          .help = "the most events of objects per second of a camera; without, one for each frame that has some",
          .type = Type::real,
          .minimum = 0.1,
          .maximum = 1000,
          .optional = true,
          .unit = "N"},
         [](EventOptions& events, const std::string& text) { events.objects_rate = number_in<double>(text); }},
        {{.name = "motion-after",
          .help = "motion is ON after so many frames with objects, one after the other",
          .default_value = fmt::to_string(MotionRules{}.after_frames),
          .minimum = 1,
          .maximum = 1000,
          .unit = "FRAMES"},
         [](EventOptions& events, const std::string& text) {
             events.motion.after_frames = number_in<int>(text).value_or(events.motion.after_frames);
         }},
        {{.name = "motion-hold",
          .help = "motion is OFF after so long without objects",
          .type = Type::real,
          .default_value = fmt::to_string(std::chrono::duration_cast<std::chrono::seconds>(MotionRules{}.hold).count()),
          .minimum = 0,
          .maximum = most_hold_seconds,
          .unit = "SECONDS"},
         [](EventOptions& events, const std::string& text) {
             events.motion.hold = std::chrono::duration_cast<Clock::duration>(
                 std::chrono::duration<double>(number_in<double>(text).value_or(0)));
         }}};
    for (auto& setting : mqtt_settings()) settings.push_back(std::move(setting));
    return settings;
}

}  // namespace

const std::vector<Setting<EventOptions>>& event_settings() {
    static const auto settings = make_event_settings();
    return settings;
}

void check_events(const EventOptions& options) {
    const auto& mqtt = options.mqtt;
    const bool more = !mqtt.password_file.empty() || !mqtt.authority_file.empty() || !mqtt.spool_file.empty();
    if (mqtt.broker.host.empty() && more)
        fail(ErrorCode::usage, "mqtt-password-file, mqtt-ca and mqtt-spool-file are of mqtt, which is not given");
    if (!mqtt.password_file.empty() && mqtt.broker.user.empty())
        fail(ErrorCode::usage, "mqtt-password-file needs a user: mqtt://USER@HOST");
    if (!mqtt.password_file.empty() && !mqtt.broker.password.empty())
        fail(ErrorCode::usage, "the MQTT broker's password is given twice: in mqtt and in mqtt-password-file");
    if (!mqtt.authority_file.empty() && !mqtt.broker.tls)
        fail(ErrorCode::usage, "mqtt-ca is of mqtts://, and mqtt:// was given");
}

}  // namespace framewire::session
