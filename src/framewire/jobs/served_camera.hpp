#pragma once

#include "framewire/codec/delta.hpp"
#include "framewire/filters/filter.hpp"
#include "framewire/jobs/broadcast.hpp"
#include "framewire/jobs/relay.hpp"
#include "framewire/plan/chain.hpp"
#include "framewire/service/live_camera.hpp"

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace framewire::jobs {

/// Returns the chain that is currently in force: without filters that are switched off, and with its first `adjust` set
/// to `adjustment`, or with an additional `adjust` if the chain has none. `filters` are the chain's switches, in its
/// order. Throws as parse_chain() does.
std::string chain_in_force(const std::string& chain, std::span<const FilterSwitch> filters,
                           const std::optional<Adjustment>& adjustment);

/// Returns the shell command line that serves a camera with these options, without passwords. `kept_in` is the state
/// file, which also stores the zones. If `kept_in` is empty, a comment after the command lists the zones, because no
/// option sets them.
std::string command_of(const BroadcastOptions& options, const std::string& kept_in);

/// Settings of one camera that control requests changed. An empty member means that the option with which the camera
/// was started applies.
struct LiveSettings {
    std::optional<std::string> chain{};
    /// Switches of the chain's filters; empty: all filters are on.
    std::vector<FilterSwitch> filters{};
    /// Values of the picture controls.
    std::optional<Adjustment> adjustment{};
    std::optional<int> threshold{};
    std::optional<codec::Mode> mode{};
    /// Privacy masks and detection areas. A list without entries removes all of them.
    service::LiveZones zones{};
    /// Event zones. A set without zones removes all of them.
    std::optional<ZoneSet> event_zones{};

    friend bool operator==(const LiveSettings&, const LiveSettings&) = default;
};

/// Returns the encoder parameters of a camera that was started with `asked`, changed by `requested`. Throws
/// Error{usage} if threshold or mode do not fit the other options.
codec::EncoderParameters encoder_with(const BroadcastOptions& asked, const LiveSettings& requested);

/// Returns the options of the job that serves a camera with these settings. Throws as encoder_with() does.
BroadcastOptions options_with(const BroadcastOptions& asked, const LiveSettings& requested);

/// Returns `requested` without settings that do not fit `asked`. Each setting that is dropped is logged.
LiveSettings fitting(const BroadcastOptions& asked, LiveSettings requested);

/// Returns the values of the chain's first `adjust`, or neutral values if the chain has none. Throws as parse_chain()
/// does.
Adjustment adjustment_of_chain(const std::string& chain);

/// Checks a chain from a control request, which must not name files of this machine. Throws Error{usage} if it does,
/// and as parse_chain() does.
void check_requested_chain(const std::string& chain);

/// A served camera that outlives its jobs. It accepts queries and control requests at any time and forwards them to the
/// job that currently serves the camera, if there is one. Settings that a running job cannot apply live restart the job
/// with the new values.
///
/// Locks are taken in the order `turn_mutex_`, `requests_mutex_`, `job_mutex_`. `turn_mutex_` serialises control
/// requests and is held until a request is in force. The other two are held only briefly, so that queries never wait
/// for a frame.
class ServedCamera final : public service::LiveCamera {
public:
    /// `asked` are the options with which the camera was started. `requested` are persisted settings, which apply from
    /// the first job on.
    ServedCamera(const BroadcastOptions& asked, const service::LiveOptions& live, LiveSettings requested,
                 std::shared_ptr<const Statistics> statistics);

    // Functions for the thread that runs the camera's jobs:

    /// Sets the function that persists the settings. It is called once a request is in force, before the request is
    /// answered, and throws if the settings cannot be persisted.
    void persist_settings_by(std::function<void()> keep) {
        const std::lock_guard lock(requests_mutex_);
        keep_ = std::move(keep);
    }
    /// Persists the settings after a viewer's request, sent directly to the job, has come into force.
    void keep() const {
        std::function<void()> keep;
        {
            const std::lock_guard lock(requests_mutex_);
            keep = keep_;
        }
        if (keep) keep();
    }

    /// Returns the options of the next job: `all`, which all jobs share, combined with the current settings.
    BroadcastOptions options(const BroadcastOptions& all) const;
    /// Reverts the settings after no job could be made with them: first to those of the last job, then to those the
    /// camera was started with. Keeps the zones and logs a warning with `why`. Returns false if there is nothing to
    /// revert to.
    bool give_up_requests(const std::string& why);
    /// Connects the job that serves the camera from now on. The job must be detached before it is destroyed.
    void attach(BroadcastJob& job);
    /// Connects the relay that serves the camera from now on. The relay must be detached before it is destroyed.
    void attach(RelayJob& job);
    /// Disconnects the job and keeps its last state for queries.
    void detach();
    /// Declares that no further job follows; waiting requests are released.
    void end();

    /// Returns the settings in force. Callable from any thread.
    LiveSettings settings() const;

    const std::string& name() const override { return name_; }
    service::LiveCameraState state() const override;
    StatisticsSnapshot figures() const override { return statistics_->snapshot(); }
    net::StreamMetrics viewers() const override;
    std::optional<Picture> picture() const override;
    std::uint64_t picture_version() const override;
    std::uint64_t oldest_picture_version() const override;
    std::shared_ptr<SoundTap> sound() const override { return asked_.input.sound; }
    void set_chain(const std::string& text) override;
    void control(const service::ControlRequest& request) override;
    /// See service::LiveCamera::control_by().
    void control_by(const std::function<service::ControlRequest(const Adjustment& now)>& make) override;
    void set_threshold(std::optional<int> threshold, std::optional<codec::Mode> mode) override;
    /// See service::LiveCamera::set_zones().
    void set_zones(const std::vector<service::LiveZone>& zones) override;
    void set_event_zones(const ZoneSet& zones) override;
    std::string start_recording() override;
    void stop_recording() override;
    std::string save_snapshot() override;

private:
    // Job that applies a request: the running one, or the next one after a restart.
    enum class Taken { by_job, by_next_job };

    // Carries out one request and waits until it is in force. `request` is called with the job and returns which job
    // applies the request.
    template <class ControlHandler>
    void carry_out(const ControlHandler& request);
    // Waits until a request is in force in job `job_number` or in the job after it. Throws if the request does not come
    // into force.
    void wait_until_in_force(const RequestTicket& ticket, std::uint64_t job_number);
    // Throws if the camera accepts no control requests.
    void require_settable() const;
    // Waits for the next job if a restart is in progress. Throws if there is no job.
    void require_job(std::unique_lock<std::mutex>& requests);
    // Returns the requested settings, updated by what viewers changed in the running job. The caller must hold
    // requests_mutex_.
    LiveSettings settings_now() const;
    // Continues a requested recording in a new file of the new job.
    void go_on_recording(BroadcastJob& job);
    // Returns the path of a new file in the recording folder.
    std::string new_file(std::string_view ending) const;
    // Returns the command line that serves the camera with these settings.
    std::string command(const LiveSettings& requested) const;

    std::string name_;
    BroadcastOptions asked_;
    service::LiveOptions live_;
    bool relays_;
    std::shared_ptr<const Statistics> statistics_;

    // Persists the settings; see persist_settings_by().
    std::function<void()> keep_;
    // first lock; held by one request at a time until the request is in force
    std::mutex turn_mutex_;
    // second lock; guards the settings and the counters below
    mutable std::mutex requests_mutex_;
    // notified when another job is attached or when no job will follow
    std::condition_variable stands_;
    // number of jobs attached so far
    std::uint64_t job_number_ = 0;
    // true from the end of one job until the next one is attached
    bool begins_again_ = false;
    // true if no further job follows
    bool is_over_ = false;
    // why the last job was made without the requested settings; empty if it was made with them
    std::string given_up_because_;
    // settings as requested, and those with which the last job was made
    LiveSettings requested_, accepted_;
    // chain of the current job, or of the last one if none is running
    std::string job_chain_;
    // true if a recording was started by request
    bool is_recorded_ = false;

    // last lock; guards the attached job, and queries hold it shared
    mutable std::shared_mutex job_mutex_;
    BroadcastJob* job_ = nullptr;
    RelayJob* relay_ = nullptr;
    // last state of the previous job
    BroadcastStanding last_{};
    // last version of all previous jobs, so that versions increase across restarts
    std::uint64_t version_before_ = 0;
    net::StreamMetrics viewers_before_{};
    std::int64_t reconnects_before_ = 0;
};

/// Adds the traffic of one job to that of earlier jobs. `total.viewers` is set to the current number of viewers.
void add(net::StreamMetrics& total, const net::StreamMetrics& part);

}  // namespace framewire::jobs
