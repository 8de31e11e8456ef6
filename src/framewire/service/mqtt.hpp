#pragma once

#include "framewire/service/events.hpp"
#include "framewire/service/frigate.hpp"

#include <mosquitto.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace framewire::service {

class LiveCamera;

/// The functions of libmosquitto that are used. The library is loaded only if a broker is configured.
struct MosquittoLibrary {
    /// Pointer to one of the library's functions.
    template <class Function>
    using Pointer = std::add_pointer_t<Function>;

    // Named for what they do here; mqtt.cpp lists their original names.
    Pointer<decltype(mosquitto_new)> create;
    Pointer<decltype(mosquitto_destroy)> destroy;
    // Set up a client before it connects.
    Pointer<decltype(mosquitto_int_option)> set_option;
    Pointer<decltype(mosquitto_username_pw_set)> set_user;
    Pointer<decltype(mosquitto_tls_set)> set_tls;
    Pointer<decltype(mosquitto_will_set)> set_will;
    // Register callbacks: answer to a connection, acknowledgement of a message, log line.
    Pointer<decltype(mosquitto_connect_callback_set)> on_answer;
    Pointer<decltype(mosquitto_publish_callback_set)> on_acknowledged;
    Pointer<decltype(mosquitto_log_callback_set)> on_log;
    // Begin and end a connection, and queue a message.
    Pointer<decltype(mosquitto_connect_async)> connect;
    Pointer<decltype(mosquitto_disconnect)> disconnect;
    Pointer<decltype(mosquitto_publish)> publish;
    // Drive the connection: its descriptor, reading, writing, and keep-alive.
    Pointer<decltype(mosquitto_socket)> socket;
    Pointer<decltype(mosquitto_want_write)> wants_to_write;
    Pointer<decltype(mosquitto_loop_read)> read;
    Pointer<decltype(mosquitto_loop_write)> write;
    Pointer<decltype(mosquitto_loop_misc)> look_after;
    // Text of a status code.
    Pointer<decltype(mosquitto_strerror)> words;
};

/// Returns the library's functions. The first call loads the library. Thread-safe. Throws Error{config} if the library
/// is not installed.
const MosquittoLibrary& mosquitto_library();

/// Address of an MQTT broker, with credentials and the prefix of all topics.
struct MqttAddress {
    std::string host;
    std::uint16_t port = 0;
    bool tls = false;
    /// Credentials; empty if there are none.
    std::string user{}, password{};
    /// Prefix of all topics, with one or more levels.
    std::string prefix = "framewire";
};

/// Parses "mqtt://[USER[:PASSWORD]@]HOST[:PORT][/PREFIX]", or the same with mqtts:// for TLS. Default ports: 1883 and
/// 8883. USER and PASSWORD may contain %XX. PREFIX has 1 to 128 characters of A-Z a-z 0-9 . _ - and / between levels.
/// Throws Error{usage}; the message never contains the text, because there may be a password in it.
MqttAddress parse_mqtt_address(std::string_view text);

/// Returns "mqtt://HOST:PORT/PREFIX" for messages, without user and password.
std::string to_string(const MqttAddress& address);

/// When the pictures of cameras are published.
struct MqttPictureRules {
    /// Never, while motion is ON, or always.
    enum class When { never, motion, always };
    When when = When::never;
    /// Minimum time between two pictures of a camera.
    Clock::duration period = std::chrono::seconds(1);
};

/// Options of an MqttPublisher.
struct MqttOptions {
    /// If its host is empty, no broker receives events.
    MqttAddress broker{};
    /// Optional. File with the password in one line. If empty, the password in the address is used, if any.
    std::string password_file{};
    /// Optional. PEM file with the certificates that are trusted for mqtts:// instead of the system's roots.
    std::string authority_file{};
    /// First level of Home Assistant's discovery topics; empty: no discovery messages.
    std::string discovery = "homeassistant";
    /// Maximum number of events that wait for the broker; if there are more, the oldest are dropped.
    std::size_t spool_limit = 10'000;
    /// Optional. File that keeps waiting events over a restart; empty: they are kept in memory only.
    std::string spool_file{};
    /// Which pictures are published, as PREFIX/NAME/picture.
    MqttPictureRules pictures{};
};

/// Range of MqttOptions::spool_limit.
inline constexpr std::size_t least_spool_limit = 100, most_spool_limit = 1'000'000;

/// One message for a broker.
struct MqttMessage {
    std::string topic, payload;
    /// True if the broker keeps the message for later subscribers.
    bool retained = false;
    /// True if the message is sent at most once (quality of service 0) and lost with the connection; false if it is
    /// sent until it is acknowledged (quality of service 1).
    bool may_be_lost = false;
};

/// Returns the messages for an event, in this order: PREFIX/NAME/motion with ON or OFF, retained, or
/// PREFIX/NAME/objects or PREFIX/NAME/zone with the event's JSON; then PREFIX/events with the event's JSON.
std::vector<MqttMessage> messages_of(const Event& event, const std::string& prefix);

/// Returns the message PREFIX/available with online or offline, retained.
MqttMessage available_message(const std::string& prefix, bool online);
/// Returns the message PREFIX/NAME/motion with ON or OFF, retained.
MqttMessage motion_message(const std::string& prefix, const std::string& camera, bool on);

/// Returns the message by which Home Assistant discovers a camera's motion sensor, retained:
/// DISCOVERY/binary_sensor/framewire_PREFIX/NAME/config. Dots and slashes in PREFIX and NAME become underscores,
/// because discovery topics must not contain them.
MqttMessage discovery_message(const std::string& discovery, const std::string& prefix, const std::string& camera);

/// Returns the message by which Home Assistant discovers a camera's pictures as a camera entity, retained:
/// DISCOVERY/camera/framewire_PREFIX/NAME/config.
MqttMessage picture_discovery_message(const std::string& discovery, const std::string& prefix,
                                      const std::string& camera);
/// Returns the message PREFIX/NAME/picture with a JPEG file, retained, which may be lost.
MqttMessage picture_message(const std::string& prefix, const std::string& camera, std::string jpeg);

/// Returns the retained messages for the zones of a camera. A polygon has PREFIX/NAME/zone/ID with ON if it is
/// occupied, else OFF. ID is the zone's name; bytes other than A-Z a-z 0-9 - become _XX, their hexadecimal value.
/// Unless `discovery` is empty, Home Assistant discovers an occupancy sensor per polygon, by
/// DISCOVERY/binary_sensor/framewire_PREFIX/NAME_zone_ID/config, and an event entity per line whose event types are the
/// names of the directions, by DISCOVERY/event/framewire_PREFIX/NAME_zone_ID/config.
std::vector<MqttMessage> zone_messages(const std::string& discovery, const std::string& prefix,
                                       const std::string& camera, const ZoneOccupancy& zones);

/// An MQTT 3.1.1 session with a broker. It may span several connections: messages that were not acknowledged on one
/// connection are sent again at the start of the next one, flagged as duplicates. Use it from one thread.
class MqttClient {
public:
    /// Does not connect yet. The broker keeps the session of the client identifier `id`, and publishes `will` if the
    /// connection is lost. Throws Error{config} if libmosquitto is missing or rejects an option, and Error{no_input} or
    /// Error{usage} for unusable password files.
    MqttClient(const MqttOptions& options, const std::string& id, const MqttMessage& will);
    ~MqttClient();
    MqttClient(const MqttClient&) = delete;
    MqttClient& operator=(const MqttClient&) = delete;

    /// Starts a new connection and drops the old one, if any. Returns false if that fails, see problem(). Blocks only
    /// to resolve the host name, which may take seconds; turn() does the rest.
    bool connect();
    /// Sends and receives what is ready, then waits until there is more or the descriptor `wake` becomes readable, but
    /// not longer than `longest`. Returns false if the connection was lost or refused.
    bool turn(int wake, std::chrono::milliseconds longest);
    /// Returns true if the broker accepted this connection.
    bool accepted() const { return accepted_; }
    /// Returns why connect() or turn() returned false, as text without the password.
    const std::string& problem() const { return problem_; }

    /// Queues a message. Returns the number that identifies it until it is acknowledged, or nullopt if it can never be
    /// sent.
    std::optional<int> publish(const MqttMessage& message);
    /// Returns the numbers of messages acknowledged since the last call. A message that may be lost counts as
    /// acknowledged once it has been passed to the operating system.
    std::vector<int> take_acknowledged() { return std::exchange(acknowledged_, {}); }
    /// Ends the connection properly, so that the broker does not publish the will.
    void disconnect();

private:
    struct Handle;
    bool failed(int status);

    MqttAddress broker_;
    std::unique_ptr<Handle> handle_;
    bool accepted_ = false;
    // return code with which the broker refused the connection
    int refusal_ = 0;
    // last error message of the library
    std::string complaint_{};
    std::string problem_{};
    std::vector<int> acknowledged_{};
};

/// Counters of an MqttPublisher.
struct MqttStatistics {
    /// True if the broker accepted the current connection.
    bool connected = false;
    /// Number of connections that the broker accepted.
    std::int64_t connections = 0;
    /// Events that the broker acknowledged.
    std::int64_t acknowledged = 0;
    /// Events that the broker has not acknowledged yet.
    std::size_t waiting = 0;
    /// Events that were dropped because too many were waiting.
    std::int64_t dropped = 0;
    /// Pictures that were sent.
    std::int64_t pictures = 0;
};

/// Publishes events to an MQTT broker, on its own thread. An event is forgotten once the broker has acknowledged it;
/// the number of waiting events is limited (EventSpool). If the broker is unreachable, the publisher retries with
/// pauses from 0.1 s to 10 s.
class MqttPublisher final : public EventOutput {
public:
    /// `cameras` are the names of the cameras that have events. Starts the thread; the broker need not be reachable
    /// yet. Throws the errors of MqttClient and EventSpool.
    MqttPublisher(const MqttOptions& options, std::span<const std::string> cameras);
    ~MqttPublisher() override;

    /// Publishes pictures of these cameras as the options say. Call it at most once. A camera may end earlier than this
    /// object.
    void show(std::span<const std::shared_ptr<LiveCamera>> cameras);

    /// Queues an event. May be called from any thread.
    void tell(const SharedEvent& event) override;
    /// Publishes zone_messages(), and empty messages instead of those of zones that are gone, which removes them from
    /// the broker and from Home Assistant. May be called from any thread.
    void tell_zones(const std::string& camera, const ZoneOccupancy& zones) override;
    /// Publishes waiting events until `deadline` at most, then stops the thread.
    void end(Clock::time_point deadline) override;

    /// Returns the counters so far. May be called from any thread.
    MqttStatistics figures() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

/// Wakes a thread that polls descriptors (eventfd(2)).
class Wake {
public:
    /// Throws Error{config} if no descriptor is available.
    Wake();
    ~Wake();
    Wake(const Wake&) = delete;
    Wake& operator=(const Wake&) = delete;

    /// Wakes the thread. May be called from any thread.
    void wake() noexcept;
    /// Returns the descriptor, which is readable from wake() until clear().
    int descriptor() const { return descriptor_; }
    /// Makes the descriptor unreadable again.
    void clear() noexcept;
    /// Waits for wake(), but not longer than `longest`, then clears.
    void wait(std::chrono::milliseconds longest) noexcept;

private:
    int descriptor_;
};

/// Options for objects and motion events, and for those that receive them in addition to HTTP clients.
struct EventOptions {
    /// When motion switches ON and OFF.
    MotionRules motion{};
    /// Optional. Maximum number of objects events per second and camera. Default: one per frame with objects.
    std::optional<double> objects_rate{};
    /// Broker that receives the events. If its host is empty, there is no broker.
    MqttOptions mqtt{};
    /// Frigate, which receives motion events. If its server's host is empty, it receives none.
    FrigateOptions frigate{};
};

}  // namespace framewire::service
