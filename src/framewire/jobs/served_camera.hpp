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

/// Returns the chain as it is in force: without filters that are switched off, and with an `adjust` that sets
/// `adjustment` if the chain sets another one. `filters` are the chain's switches, in its order. Throws as
/// parse_chain() does.
std::string chain_in_force(const std::string& chain, std::span<const FilterSwitch> filters,
                           const std::optional<Adjustment>& adjustment);

/// Returns the shell command line that serves a camera with these options, without passwords. `kept_in` is the state
/// file, which also stores the zones. If it is empty, a comment after the command lists the zones, because no option
/// sets them.
std::string command_of(const BroadcastOptions& options, const std::string& kept_in);

/// Settings of one camera that control requests changed, on top of the options it was started with. Empty members keep
/// the option.
struct LiveSettings {
    std::optional<std::string> chain{};
    /// State of the chain's filters; empty: all are on.
    std::vector<FilterSwitch> filters{};
    /// Values of the picture controls.
    std::optional<Adjustment> adjustment{};
    std::optional<int> threshold{};
    std::optional<codec::Mode> mode{};
    /// Privacy masks and detection areas; a list without entries: none.
    service::LiveZones zones{};

    friend bool operator==(const LiveSettings&, const LiveSettings&) = default;
};

/// Returns the encoder parameters of a camera started with `asked`, with the changes in `requested`. Throws
/// Error{usage} if threshold or mode do not fit the other options.
codec::EncoderParameters encoder_with(const BroadcastOptions& asked, const LiveSettings& requested);

/// Returns the options with which the job of such a camera is opened. Throws as encoder_with() does.
BroadcastOptions options_with(const BroadcastOptions& asked, const LiveSettings& requested);

/// Returns `requested` without settings that do not fit `asked`; the log names each one that is dropped.
LiveSettings fitting(const BroadcastOptions& asked, LiveSettings requested);

/// Returns the values of the chain's first `adjust`; neutral values if it has none. Throws as parse_chain() does.
Adjustment adjustment_of_chain(const std::string& chain);

/// Checks a chain that a control request names: it must not name files of this machine. Throws Error{usage} if it does,
/// and as parse_chain() does.
void check_requested_chain(const std::string& chain);

/// A served camera that outlives its jobs. It accepts queries and control requests at any time and forwards them to the
/// job that currently serves the camera, if there is one. Settings that a running job cannot apply live restart it with
/// the new values.
///
/// Locks are taken in the order `turn_mutex_`, `requests_mutex_`, `job_mutex_`. `turn_mutex_` serialises control
/// requests, each until it is in force; the other two are held only briefly, so that queries never wait for a frame.
class ServedCamera final : public service::LiveCamera {
public:
    /// `asked` are the options that the camera was started with. `requested` are persisted settings, in force from the
    /// first job on.
    ServedCamera(const BroadcastOptions& asked, const service::LiveOptions& live, LiveSettings requested,
                 std::shared_ptr<const Statistics> statistics);

    // Used by the thread that runs the camera's jobs:

    /// Sets the function that persists the settings. It is called when a request is in force, before that is answered,
    /// and throws if the settings cannot be persisted.
    void persist_settings_by(std::function<void()> keep) {
        const std::lock_guard lock(requests_mutex_);
        keep_ = std::move(keep);
    }
    /// Persists the settings after a viewer's request to the job itself came into force.
    void keep() const {
        std::function<void()> keep;
        {
            const std::lock_guard lock(requests_mutex_);
            keep = keep_;
        }
        if (keep) keep();
    }

    /// Returns the options of the next job: `all`, the options shared by all of them, with the current settings.
    BroadcastOptions options(const BroadcastOptions& all) const;
    /// Called if a job cannot be made with the current settings. Returns to the settings of the last job, or to those
    /// that the camera was started with, logs a warning with `why` and keeps the zones. Returns false if there is
    /// nothing to return to.
    bool give_up_requests(const std::string& why);
    /// Connects the job that serves the camera from now on. It must be detached before it is destroyed.
    void attach(BroadcastJob& job);
    /// Does the same for a relayed stream.
    void attach(RelayJob& job);
    /// Disconnects the job and keeps its last state for queries.
    void detach();
    /// Declares that no further job follows; waiting requests end.
    void end();

    /// Returns the settings in force; from any thread.
    LiveSettings settings() const;

    const std::string& name() const override { return name_; }
    service::LiveCameraState state() const override;
    StatisticsSnapshot figures() const override { return statistics_->snapshot(); }
    net::StreamMetrics viewers() const override;
    std::optional<Picture> picture() const override;
    std::uint64_t picture_version() const override;
    std::uint64_t oldest_picture_version() const override;
    void set_chain(const std::string& text) override;
    void control(const service::ControlRequest& request) override;
    void control_by(const std::function<service::ControlRequest(const Adjustment& now)>& make) override;
    void set_threshold(std::optional<int> threshold, std::optional<codec::Mode> mode) override;
    void set_zones(const std::vector<service::LiveZone>& zones) override;
    std::string start_recording() override;
    void stop_recording() override;
    std::string save_snapshot() override;

private:
    // Applier of a request: the running job, or the next job after a restart.
    enum class Taken { by_job, by_next_job };

    // Carries out one request and waits until it is in force. `order` gets the job and says who applies it.
    template <class ControlHandler>
    void carry_out(const ControlHandler& request);
    // Waits until a request is in force in job `job_number` or in the job after it. Throws if it does not come into
    // force.
    void wait_until_in_force(const RequestTicket& ticket, std::uint64_t job_number);
    // Throws if the camera accepts no control requests.
    void require_settable() const;
    // Waits for a job if one is being restarted. Throws if there is none.
    void require_job(std::unique_lock<std::mutex>& requests);
    // Settings as requested, updated by what viewers changed in the running job. Call it with requests_mutex_ locked.
    LiveSettings settings_now() const;
    // Continues a requested recording in a new file of the new job.
    void go_on_recording(BroadcastJob& job);
    // Returns a new path in the recording folder.
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
    // held by one request at a time until it is in force; the first lock
    std::mutex turn_mutex_;
    // guards the settings and the counters below; the second lock
    mutable std::mutex requests_mutex_;
    // notified when another job is attached, or none will be
    std::condition_variable stands_;
    // number of jobs attached so far
    std::uint64_t job_number_ = 0;
    // a job ended and the next one has not been attached yet
    bool begins_again_ = false;
    // no further job follows
    bool is_over_ = false;
    // why the last job was made without the requested settings; empty if it has them
    std::string given_up_because_;
    // settings as requested, and those that a job was last made with
    LiveSettings requested_, accepted_;
    // chain of the current job, or of the last one
    std::string job_chain_;
    // a recording was started by request
    bool is_recorded_ = false;

    // guards which job is attached; queries share it; the last lock
    mutable std::shared_mutex job_mutex_;
    BroadcastJob* job_ = nullptr;
    RelayJob* relay_ = nullptr;
    // last state of the job before
    BroadcastStanding last_{};
    // last version of the previous jobs, so that versions increase across restarts
    std::uint64_t version_before_ = 0;
    net::StreamMetrics viewers_before_{};
    std::int64_t reconnects_before_ = 0;
};

/// Adds the traffic of one job to that of the jobs before. `total.viewers` becomes the current number.
void add(net::StreamMetrics& total, const net::StreamMetrics& part);

}  // namespace framewire::jobs
