#pragma once

#include "framewire/session/events/mqtt/mqtt_options.hpp"
#include "framewire/session/events/mqtt/topics.hpp"

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace framewire::session {

/// One MQTT 3.1.1 session with a broker, over as many connections as it takes: what was not acknowledged on one is sent
/// again first on the next, marked as such. Everything has quality of service 1. For one thread.
class MqttClient {
public:
    /// Connects to nothing yet. The broker keeps the session of `id`, and tells `will` when the connection is lost.
    /// Throws Error{config} without libmosquitto, and Error{no_input} or Error{usage} on files that cannot be used.
    MqttClient(const MqttOptions& options, const std::string& id, const MqttMessage& will);
    ~MqttClient();
    MqttClient(const MqttClient&) = delete;
    MqttClient& operator=(const MqttClient&) = delete;

    /// Begins a connection; what there was of one before is given up. False where it cannot be had: see problem().
    /// Looking the host up may take seconds, all else is turn()'s.
    bool connect();
    /// Sends and receives what there is, and waits for more or for `wake`, a descriptor that can be read, for at most
    /// so long. False where the connection was lost or refused.
    bool turn(int wake, std::chrono::milliseconds longest);
    /// Whether the broker has let this in, over this connection.
    bool accepted() const { return accepted_; }
    /// Why connect() or turn() gave false, in words without the password.
    const std::string& problem() const { return problem_; }

    /// Its number until it is acknowledged; none where it can never be sent.
    std::optional<int> publish(const MqttMessage& message);
    /// Numbers of messages that the broker has, since the last call.
    std::vector<int> take_acknowledged() { return std::exchange(acknowledged_, {}); }
    /// Says goodbye: the will is not told.
    void disconnect();

private:
    struct Handle;
    bool failed(int status);

    MqttAddress broker_;
    std::unique_ptr<Handle> handle_;
    bool accepted_ = false;
    int refusal_ = 0;          // what the broker says of who wants to be let in
    std::string complaint_{};  // the library's last one
    std::string problem_{};
    std::vector<int> acknowledged_{};
};

}  // namespace framewire::session
