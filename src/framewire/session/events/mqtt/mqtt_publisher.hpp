#pragma once

#include "framewire/session/events/event_output.hpp"
#include "framewire/session/events/mqtt/mqtt_options.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace framewire::session {

/// Counters of an MqttPublisher.
struct MqttFigures {
    /// True if the broker accepted the current connection.
    bool connected = false;
    /// Number of connections that the broker accepted.
    std::int64_t connections = 0;
    /// Events that the broker acknowledged.
    std::int64_t acknowledged = 0;
    /// Events that it has not acknowledged yet.
    std::size_t waiting = 0;
    /// Events that were dropped because too many were waiting.
    std::int64_t dropped = 0;
};

/// Publishes events to an MQTT broker, on its own thread. An event is forgotten once the broker has acknowledged it;
/// the number of waiting events is limited (EventSpool). If the broker is away, connecting is retried with pauses from
/// 0.1 s to 10 s.
class MqttPublisher final : public EventOutput {
public:
    /// `cameras` are the names of those that have events. Starts the thread; the broker need not be reachable yet.
    /// Throws as MqttClient and EventSpool do.
    MqttPublisher(const MqttOptions& options, std::span<const std::string> cameras);
    ~MqttPublisher() override;

    /// Queues an event; from any thread.
    void tell(const SharedEvent& event) override;
    /// Publishes waiting events until `deadline` at most, then stops the thread.
    void end(Clock::time_point deadline) override;

    /// Counters so far; from any thread.
    MqttFigures figures() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace framewire::session
