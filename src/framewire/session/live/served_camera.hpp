#pragma once

#include "framewire/session/broadcast/broadcast.hpp"
#include "framewire/session/live/live_camera.hpp"
#include "framewire/session/live/live_options.hpp"
#include "framewire/session/live/live_settings.hpp"
#include "framewire/session/relay/relay.hpp"

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <utility>

namespace framewire::session {

/// What is behind the LiveCamera of one that is served, whatever job serves it at a time, if any does. Orders that a
/// job cannot take while it runs end it, and the next one is made with them.
class ServedCamera final : public LiveCamera {
public:
    /// `asked` is what the camera was started with; `ordered` holds from the first job on.
    ServedCamera(const BroadcastOptions& asked, const LiveOptions& live, LiveSettings ordered,
                 std::shared_ptr<const Statistics> statistics);

    // The camera's side, one thread.

    /// Called when what was ordered is in force, before that is answered; throws where it cannot be kept.
    void keep_orders_by(std::function<void()> keep) {
        const std::lock_guard lock(orders_mutex_);
        keep_ = std::move(keep);
    }
    /// What a viewer ordered of the job itself is in force: keeps it.
    void keep() const {
        std::function<void()> keep;
        {
            const std::lock_guard lock(orders_mutex_);
            keep = keep_;
        }
        if (keep) keep();
    }

    /// Of the next job, of those for all.
    BroadcastOptions options(const BroadcastOptions& all) const;
    /// Where a job cannot be made with these: goes back to what the last job was made with, or what the camera was
    /// started with, and warns; zones stay. False where there is nothing to go back from.
    bool give_up_orders(const std::string& why);
    /// The job is there, and detached before it goes.
    void attach(BroadcastJob& job);
    void attach(RelayJob& job);
    void detach();
    /// No further job comes.
    void end();

    /// What was ordered, as it stands; from any thread.
    LiveSettings settings() const;

    const std::string& name() const override { return name_; }
    LiveCameraState state() const override;
    StatisticsSnapshot figures() const override { return statistics_->snapshot(); }
    net::StreamMetrics viewers() const override;
    std::optional<Picture> picture() const override;
    std::uint64_t picture_version() const override;
    std::uint64_t oldest_picture_version() const override;
    void set_chain(const std::string& text) override;
    void control(const ControlOrder& order) override;
    void control_by(const std::function<ControlOrder(const Adjustment& now)>& make) override;
    void set_threshold(std::optional<int> threshold, std::optional<delta::Mode> mode) override;
    void set_zones(const std::vector<LiveZone>& zones) override;
    std::string start_recording() override;
    void stop_recording() override;
    std::string save_snapshot() override;

private:
    enum class Taken { by_job, by_next_job };

    template <class Order>
    void carry_out(const Order& order);
    void wait_until_in_force(const OrderTicket& ticket, std::uint64_t job_number);
    void require_settable() const;
    void require_job(std::unique_lock<std::mutex>& orders);
    LiveSettings settings_now() const;
    void go_on_recording(BroadcastJob& job);
    std::string new_file(std::string_view ending) const;
    std::string command(const LiveSettings& ordered) const;

    std::string name_;
    BroadcastOptions asked_;
    LiveOptions live_;
    bool relays_;
    std::shared_ptr<const Statistics> statistics_;

    std::function<void()> keep_;
    std::mutex turn_mutex_;  // one order after the other, each until it is in force; taken before the next one
    mutable std::mutex orders_mutex_;  // of what was ordered; taken before the next one
    std::condition_variable stands_;   // another job is there, or none will be
    std::uint64_t job_number_ = 0;     // of those that came
    bool begins_anew_ = false;         // one has ended, and the next is to come
    bool is_over_ = false;             // and none will
    std::string given_up_because_;     // the orders that the last job was to be made with; empty: they were not
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
