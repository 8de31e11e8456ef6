// What is ordered of a ServedCamera.
#include "framewire/core/error.hpp"
#include "framewire/media/files/output_file.hpp"
#include "framewire/media/images/png.hpp"
#include "framewire/pipeline/chain/chain.hpp"
#include "framewire/session/live/served_camera.hpp"
#include "framewire/session/outputs/new_file_name.hpp"

#include <filesystem>
#include <utility>

namespace framewire::session {

void ServedCamera::require_settable() const {
    if (relays_) fail(ErrorCode::config, "{} is forwarded as it comes; orders are for the server that makes it", name_);
    if (!asked_.input.panel) fail(ErrorCode::config, "{} takes no orders; serve it with --panel", name_);
}

// Under its mutex.
BroadcastJob& ServedCamera::job_there() const {
    if (!job_) fail(ErrorCode::config, "{} is not there yet", name_);
    return *job_;
}

void ServedCamera::set_chain(const std::string& text) {
    require_settable();
    check_ordered_chain(text);
    const std::lock_guard orders(orders_mutex_);
    const std::shared_lock lock(job_mutex_);
    const bool taken = job_ && job_->take_chain(text);
    ordered_.chain = text;
    if (taken)
        accepted_.chain = job_chain_ = text;
    else if (job_)
        job_->end_here();
}

void ServedCamera::control(const ControlOrder& order) {
    require_settable();
    const std::lock_guard orders(orders_mutex_);
    const std::shared_lock lock(job_mutex_);
    job_there().control(order);
}

void ServedCamera::set_threshold(std::optional<int> threshold, std::optional<delta::Mode> mode) {
    require_settable();
    const std::lock_guard orders(orders_mutex_);
    auto wanted = ordered_;
    if (threshold) wanted.threshold = threshold;
    if (mode) wanted.mode = mode;
    const auto encoder = encoder_with(asked_, wanted);
    if (encoder.mode == delta::Mode::lossless && threshold.value_or(0) > 0)
        fail(ErrorCode::usage, "threshold {} does not go with the mode lossless, whose threshold is 0", *threshold);
    const std::shared_lock lock(job_mutex_);
    ordered_ = std::move(wanted);
    if (!job_) return;
    if (encoder.mode == job_->standing().mode && job_->set_threshold(encoder.effective_threshold()))
        accepted_.threshold = ordered_.threshold;
    else
        job_->end_here();
}

void ServedCamera::set_zones(const std::vector<LiveZone>& zones) {
    require_settable();
    const std::lock_guard orders(orders_mutex_);
    const std::shared_lock lock(job_mutex_);
    auto& job = job_there();
    job.set_zones(zones);
    ordered_.zones = {zones, job.standing().source_shape};
}

// In the folder of recordings.
std::string ServedCamera::new_file(std::string_view ending) const {
    if (live_.record_folder.empty())
        fail(ErrorCode::config, "there is no folder for that; serve with --record-dir DIR");
    return new_file_name(live_.record_folder, name_, ending);
}

std::string ServedCamera::start_recording() {
    require_settable();
    const std::lock_guard orders(orders_mutex_);
    const std::shared_lock lock(job_mutex_);
    auto& job = job_there();
    const auto path = new_file("fwd");
    job.start_recording(path);
    is_recorded_ = true;
    return std::filesystem::path(path).filename().string();
}

void ServedCamera::stop_recording() {
    require_settable();
    const std::lock_guard orders(orders_mutex_);
    const std::shared_lock lock(job_mutex_);
    is_recorded_ = false;
    job_there().stop_recording();
}

std::string ServedCamera::save_snapshot() {
    require_settable();
    const auto now = picture();
    if (!now) fail(ErrorCode::config, "{} has no picture yet", name_);
    const auto png = encode_png(std::as_const(now->image).view());
    const std::lock_guard orders(orders_mutex_);
    const auto path = new_file("png");
    OutputFile file(path);
    file.write(png.data(), png.size());
    file.finish();
    return std::filesystem::path(path).filename().string();
}

}  // namespace framewire::session
