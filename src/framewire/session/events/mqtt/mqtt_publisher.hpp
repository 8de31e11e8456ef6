#pragma once

#include "framewire/session/events/event_output.hpp"
#include "framewire/session/events/mqtt/mqtt_options.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace framewire::session {

struct MqttFigures {
    bool connected = false;
    std::int64_t connections = 0;   ///< how often the broker let this in
    std::int64_t acknowledged = 0;  ///< events that the broker has
    std::size_t waiting = 0;        ///< events that it has not acknowledged yet
    std::int64_t dropped = 0;       ///< events that it never got, for there were too many
};

/// Tells an MQTT broker of events, on a thread of its own. An event is forgotten when the broker has acknowledged it;
/// what waits is bounded (EventSpool). While the broker is away it is tried again, with pauses from 0.1 s to 10 s.
class MqttPublisher final : public EventOutput {
public:
    /// `cameras` are those that have events. Throws as MqttClient and EventSpool do; a broker that is not there is
    /// waited for.
    MqttPublisher(const MqttOptions& options, std::span<const std::string> cameras);
    ~MqttPublisher() override;

    void tell(const SharedEvent& event) override;
    void end(Clock::time_point deadline) override;

    /// From any thread.
    MqttFigures figures() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace framewire::session
