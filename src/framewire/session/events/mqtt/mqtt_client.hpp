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

/// An MQTT 3.1.1 session with a broker. It may span several connections: messages that were not acknowledged on one
/// connection are sent again first on the next one, flagged as duplicates. All messages have quality of service 1 (at
/// least once). For one thread.
class MqttClient {
public:
    /// Does not connect yet. The broker keeps the session of the client identifier `id`, and publishes `will` if the
    /// connection is lost. Throws Error{config} if libmosquitto is missing or rejects an option, and Error{no_input} or
    /// Error{usage} for unusable password files.
    MqttClient(const MqttOptions& options, const std::string& id, const MqttMessage& will);
    ~MqttClient();
    MqttClient(const MqttClient&) = delete;
    MqttClient& operator=(const MqttClient&) = delete;

    /// Starts a new connection and drops an old one. Returns false if that fails, see problem(). Blocks only to resolve
    /// the host name, which may take seconds; turn() does the rest.
    bool connect();
    /// Sends and receives what is ready, then waits until there is more or the descriptor `wake` becomes readable, but
    /// not longer than `longest`. Returns false if the connection was lost or refused.
    bool turn(int wake, std::chrono::milliseconds longest);
    /// Returns true if the broker accepted this connection.
    bool accepted() const { return accepted_; }
    /// Why connect() or turn() returned false, for messages; without the password.
    const std::string& problem() const { return problem_; }

    /// Queues a message. Returns its number until it is acknowledged; empty if it can never be sent.
    std::optional<int> publish(const MqttMessage& message);
    /// Returns the numbers of messages acknowledged since the last call.
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

}  // namespace framewire::session
