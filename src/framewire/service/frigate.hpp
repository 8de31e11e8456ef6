#pragma once

#include "framewire/core/time.hpp"
#include "framewire/net/http_client.hpp"
#include "framewire/service/events.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace framewire::service {

/// Options of FrigateEvents.
struct FrigateOptions {
    /// Frigate's HTTP API, without its path "/api". If its host is empty, Frigate receives no events.
    net::http::ServerAddress server{};
    /// Names of cameras in Frigate's configuration, by their names here. Others have the same name in both.
    std::map<std::string, std::string> cameras{};
    /// Label of the events.
    std::string label = "motion";
    /// Maximum time for one request and its response.
    std::chrono::milliseconds request_deadline{5'000};

    /// Returns the name of a camera in Frigate.
    const std::string& name_of(const std::string& camera) const {
        const auto found = cameras.find(camera);
        return found == cameras.end() ? camera : found->second;
    }
};

/// Returns true if the text can be a camera's name or a label in Frigate, and needs no escape in a path: 1 to 64
/// characters from A-Z a-z 0-9 _ -.
bool is_frigate_name(std::string_view text);

/// Counters of FrigateEvents.
struct FrigateStatistics {
    /// Events that Frigate has created, and has ended.
    std::int64_t created = 0, ended = 0;
    /// Motion for which Frigate has no event, or one without an end: it refused, or was unreachable until motion ended.
    std::int64_t dropped = 0;
    /// Requests that wait for Frigate.
    std::size_t waiting = 0;
};

/// Creates an event in Frigate when motion of a camera starts, and ends it when motion ends, on its own thread
/// (https://docs.frigate.video/integrations/api/). At most one start and one end per camera wait. If Frigate is
/// unreachable, it is tried again with pauses from 0.1 s to 10 s; a start is dropped if motion ends meanwhile, because
/// Frigate gives events its present time, and an end is sent late with its time.
class FrigateEvents final : public EventOutput {
public:
    /// `cameras` are the names of the cameras that have events. Starts the thread; Frigate need not be reachable yet.
    /// Throws like net::http::dialer_to().
    FrigateEvents(const FrigateOptions& options, std::span<const std::string> cameras);
    ~FrigateEvents() override;

    /// Takes motion events; others are ignored. May be called from any thread.
    void tell(const SharedEvent& event) override;
    /// Sends what waits until `deadline` at most, then stops the thread.
    void end(Clock::time_point deadline) override;

    /// Returns the counters so far. May be called from any thread.
    FrigateStatistics figures() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace framewire::service
