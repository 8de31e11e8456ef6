#pragma once

#include "framewire/session/broadcast/broadcast.hpp"
#include "framewire/session/live/live_camera.hpp"
#include "framewire/session/live/live_options.hpp"
#include "framewire/session/live/live_settings.hpp"
#include "framewire/session/relay/relay.hpp"

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <string_view>

namespace framewire::session {

/// What is behind the LiveCamera of one that is served, whatever job serves it at a time, if any does. Orders that a
/// job cannot take while it runs end it, and the next one is made with them.
class ServedCamera final : public LiveCamera {
public:
    /// `asked` is what the camera was started with; `ordered` holds from the first job on.
    ServedCamera(const BroadcastOptions& asked, const LiveOptions& live, LiveSettings ordered,
                 std::shared_ptr<const Statistics> statistics);

    // The camera's side, one thread.

    /// Of the next job, of those for all.
    BroadcastOptions options(const BroadcastOptions& all) const;
    /// Where a job cannot be made with these: goes back to what the last job was made with, or what the camera was
    /// started with, and warns; zones stay. False where there is nothing to go back from.
    bool give_up_orders(const std::string& why);
    /// The job is there, and detached before it goes.
    void attach(BroadcastJob& job);
    void attach(RelayJob& job);
    void detach();

    /// What was ordered, as it stands; from any thread.
    LiveSettings settings() const;

    const std::string& name() const override { return name_; }
    LiveCameraState state() const override;
    StatisticsSnapshot figures() const override { return statistics_->snapshot(); }
    net::StreamMetrics viewers() const override;
    std::optional<Picture> picture() const override;
    std::uint64_t picture_version() const override;
    void set_chain(const std::string& text) override;
    void control(const ControlOrder& order) override;
    void set_threshold(std::optional<int> threshold, std::optional<delta::Mode> mode) override;
    void set_zones(const std::vector<LiveZone>& zones) override;
    std::string start_recording() override;
    void stop_recording() override;
    std::string save_snapshot() override;

private:
    void require_settable() const;
    BroadcastJob& job_there() const;
    LiveSettings settings_now() const;
    void go_on_recording(BroadcastJob& job);
    std::string new_file(std::string_view ending) const;
    std::string command(const LiveSettings& ordered) const;

    std::string name_;
    BroadcastOptions asked_;
    LiveOptions live_;
    bool relays_;
    std::shared_ptr<const Statistics> statistics_;

    mutable std::mutex orders_mutex_;  // one order after the other; taken before the next one
    LiveSettings ordered_, accepted_;  // accepted: that a job was made with
    std::string job_chain_;            // of the job that there is, or was last
    bool is_recorded_ = false;         // by order

    mutable std::shared_mutex job_mutex_;  // of which job there is: shared by who asks it
    BroadcastJob* job_ = nullptr;
    RelayJob* relay_ = nullptr;
    BroadcastStanding last_{};          // of the job before
    std::uint64_t version_before_ = 0;  // of all jobs before
    net::StreamMetrics viewers_before_{};
    std::int64_t reconnects_before_ = 0;
};

/// Adds what went to viewers of one job to that of those before.
void add(net::StreamMetrics& total, const net::StreamMetrics& part);

}  // namespace framewire::session
