// Queries of a ServedCamera, and the jobs that come and go behind it.
#include "framewire/session/live/served_camera.hpp"

#include "framewire/core/error.hpp"
#include "framewire/core/log.hpp"
#include "framewire/session/input/public_name.hpp"
#include "framewire/session/live/command.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

namespace framewire::session {
namespace {

// Viewers are shown file names without the folder.
std::string file_of(const std::string& path) { return std::filesystem::path(path).filename().string(); }

// Describes a relayed stream in the same form; it has no controls of its own.
BroadcastStanding standing_of(const RelayJob& relay) {
    const auto& info = relay.info();
    return {.source_shape = info.shape,
            .shape = info.shape,
            .rate = info.rate,
            .up = relay.up(),
            .reconnects = relay.reconnects(),
            .mode = info.mode,
            .threshold = info.threshold,
            .threshold_max = info.threshold,
            .controls = {.fixed_because = "the stream is forwarded as it comes"}};
}

}  // namespace

void add(net::StreamMetrics& total, const net::StreamMetrics& part) {
    total.viewers = part.viewers;
    total.viewers_total += part.viewers_total;
    total.dropped += part.dropped;
    total.pictures += part.pictures;
    total.steps += part.steps;
    total.skipped += part.skipped;
    total.picture_bytes += part.picture_bytes;
    total.step_bytes += part.step_bytes;
    total.other_bytes += part.other_bytes;
}

ServedCamera::ServedCamera(const BroadcastOptions& asked, const LiveOptions& live, LiveSettings ordered,
                           std::shared_ptr<const Statistics> statistics)
    : name_(asked.server.stream),
      asked_(asked),
      live_(live),
      relays_(relayed_stream(asked.input.source)),
      statistics_(std::move(statistics)),
      ordered_(std::move(ordered)) {}

BroadcastOptions ServedCamera::options(const BroadcastOptions& all) const {
    const std::lock_guard lock(orders_mutex_);
    return options_with(all, ordered_);
}

// First attempt: the settings of the last job. If those failed too: the camera's original options.
bool ServedCamera::give_up_orders(const std::string& why) {
    const std::lock_guard lock(orders_mutex_);
    auto before = ordered_ == accepted_ ? LiveSettings{} : accepted_;
    before.zones = ordered_.zones;
    if (before == ordered_) return false;
    log_warning("{}: what was ordered does not fit it: {}; it goes on as before", name_, why);
    ordered_ = accepted_ = std::move(before);
    given_up_because_ = why;
    return true;
}

// A new job starts with the options of options_with(); filter switches and adjustment are applied as control requests.
void ServedCamera::attach(BroadcastJob& job) {
    const std::lock_guard orders(orders_mutex_);
    const auto attempt = [&](const auto& order) {
        try {
            job.control(order);
        } catch (const Error& error) {
            log_warning("{}: {}", name_, error.what());
        }
    };
    for (const auto number : numbers_of_off(ordered_.filters, job.controls().filters))
        attempt(FilterOrder{number, false});
    if (ordered_.adjustment && *ordered_.adjustment != job.controls().adjustment) attempt(*ordered_.adjustment);
    accepted_ = ordered_;
    job_chain_ = ordered_.chain.value_or(asked_.input.filters);
    if (is_recorded_) go_on_recording(job);
    ++job_number_;
    begins_anew_ = false;
    const std::lock_guard lock(job_mutex_);
    job_ = &job;
    stands_.notify_all();
}

void ServedCamera::attach(RelayJob& job) {
    const std::lock_guard lock(job_mutex_);
    relay_ = &job;
}

// Adds the job's counters to the totals, so that versions, traffic and reconnects grow over restarts.
void ServedCamera::detach() {
    const std::lock_guard orders(orders_mutex_);
    ordered_ = settings_now();
    begins_anew_ = job_ || relay_;
    const std::lock_guard lock(job_mutex_);
    const auto leave = [&](const auto& job, BroadcastStanding standing) {
        last_ = std::move(standing);
        last_.up = false;
        version_before_ += job.picture_version();
        add(viewers_before_, job.viewers());
        viewers_before_.viewers = 0;
        reconnects_before_ += last_.reconnects;
    };
    if (const auto* job = std::exchange(job_, nullptr)) leave(*job, job->standing());
    if (const auto* relay = std::exchange(relay_, nullptr)) leave(*relay, standing_of(*relay));
}

void ServedCamera::end() {
    const std::lock_guard orders(orders_mutex_);
    is_over_ = true;
    stands_.notify_all();
}

// Continues a requested recording in a new file, because the new job may have another shape or mode.
void ServedCamera::go_on_recording(BroadcastJob& job) {
    try {
        job.start_recording(new_file("fwd"));
    } catch (const Error& error) {
        is_recorded_ = false;
        log_error("{}; the stream goes on without being recorded", error.what());
    }
}

LiveSettings ServedCamera::settings() const {
    const std::lock_guard lock(orders_mutex_);
    return settings_now();
}

// The panels of viewers change the job directly, so its controls are read back.
LiveSettings ServedCamera::settings_now() const {
    auto settings = ordered_;
    const std::shared_lock lock(job_mutex_);
    if (!job_) return settings;
    const auto controls = job_->controls();
    const bool all_on = std::ranges::all_of(controls.filters, [](const auto& filter) { return filter.on; });
    settings.filters = all_on ? std::vector<FilterSwitch>() : controls.filters;
    // A new chain's own adjustment takes precedence over one that was requested for the previous chain.
    const auto own = adjustment_of_chain(job_chain_);
    settings.adjustment.reset();
    if (controls.adjustment != own && own == adjustment_of_chain(settings.chain.value_or(asked_.input.filters)))
        settings.adjustment = controls.adjustment;
    return settings;
}

// The state is read under the locks, and text and command line are made after they are released.
LiveCameraState ServedCamera::state() const {
    LiveSettings ordered;
    BroadcastStanding standing;
    LiveCameraState state{.name = name_, .source = public_name(asked_.input.source)};
    {
        const std::lock_guard orders(orders_mutex_);
        ordered = settings_now();
        const std::shared_lock lock(job_mutex_);
        standing = job_ ? job_->standing() : relay_ ? standing_of(*relay_) : last_;
        state.reconnects = reconnects_before_ + (job_ || relay_ ? standing.reconnects : 0);
        if (const auto recording = job_ ? job_->recording() : std::nullopt)
            state.recording = {file_of(recording->file), recording->seconds, recording->bytes};
    }
    const auto encoder = encoder_with(asked_, ordered);
    state.up = standing.up;
    state.may_be_set = asked_.input.panel && !relays_;
    state.source_shape = standing.source_shape;
    state.shape = standing.shape;
    state.rate = standing.rate.value();
    state.chain = ordered.chain.value_or(asked_.input.filters);
    state.controls = standing.controls;
    state.zones =
        standing.source_shape.width > 0 ? zones_on(ordered.zones, standing.source_shape) : ordered.zones.zones;
    state.mode = relays_ ? standing.mode : encoder.mode;
    state.threshold = relays_ ? standing.threshold : encoder.effective_threshold();
    state.threshold_max = std::max(state.threshold, standing.threshold_max);
    state.detects = asked_.detector.has_value();
    state.command = command(ordered);
    return state;
}

std::string ServedCamera::command(const LiveSettings& ordered) const {
    auto options = options_with(asked_, ordered);
    options.input.filters = chain_in_force(options.input.filters, ordered.filters, ordered.adjustment);
    return command_of(options, live_.state_path);
}

net::StreamMetrics ServedCamera::viewers() const {
    const std::shared_lock lock(job_mutex_);
    auto total = viewers_before_;
    if (job_) add(total, job_->viewers());
    if (relay_) add(total, relay_->viewers());
    return total;
}

// Copies under the shared lock, so that the job cannot be destroyed meanwhile.
std::optional<LiveCamera::Picture> ServedCamera::picture() const {
    const std::shared_lock lock(job_mutex_);
    const auto copy_of = [&](const auto& job, const Shape& shape) -> std::optional<Picture> {
        if (job.picture_version() == 0) return std::nullopt;
        Picture picture{HostImage(shape), 0};
        picture.version = version_before_ + job.copy_picture(picture.image.view());
        return picture;
    };
    if (job_) return copy_of(*job_, job_->standing().shape);
    if (relay_) return copy_of(*relay_, relay_->info().shape);
    return std::nullopt;
}

std::uint64_t ServedCamera::oldest_picture_version() const {
    const std::shared_lock lock(job_mutex_);
    return version_before_ + (job_ ? job_->oldest_picture_version() : 0);
}

std::uint64_t ServedCamera::picture_version() const {
    const std::shared_lock lock(job_mutex_);
    return version_before_ + (job_ ? job_->picture_version() : relay_ ? relay_->picture_version() : 0);
}

}  // namespace framewire::session
