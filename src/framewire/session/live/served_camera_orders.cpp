// Control requests of a ServedCamera.
#include "framewire/core/error.hpp"
#include "framewire/core/log.hpp"
#include "framewire/media/files/output_file.hpp"
#include "framewire/media/images/png.hpp"
#include "framewire/pipeline/chain/chain.hpp"
#include "framewire/session/live/served_camera.hpp"
#include "framewire/session/outputs/new_file_name.hpp"

#include <filesystem>
#include <utility>

namespace framewire::session {

namespace {

// Removes the folder from error messages about files, because viewers must not learn it. The log keeps the full
// message.
template <class Body>
auto naming_no_folder(const std::string& folder, const Body& body) {
    try {
        return body();
    } catch (const Error& error) {
        const auto front = folder.substr(0, folder.find_last_not_of('/') + 1) + '/';
        std::string text = error.what();
        for (auto at = text.find(front); at != text.npos; at = text.find(front, at)) text.erase(at, front.size());
        if (text != error.what()) log_error("{}", error.what());
        throw Error(error.code(), text);
    }
}

}  // namespace

void ServedCamera::require_settable() const {
    if (relays_) fail(ErrorCode::config, "{} is forwarded as it comes; orders are for the server that makes it", name_);
    if (!asked_.input.panel) fail(ErrorCode::config, "{} takes no orders; serve it with --panel", name_);
}

// Waits for the next job if the current one has ended for a restart.
void ServedCamera::require_job(std::unique_lock<std::mutex>& orders) {
    stands_.wait_for(orders, OrdersInForce::patience, [&] { return job_ || is_over_ || !begins_anew_; });
    if (is_over_) fail(ErrorCode::config, "{} has come to its end", name_);
    if (!job_) fail(ErrorCode::config, "{} is not there yet", name_);
}

// Requests run one after the other, each until it is in force. Queries do not wait meanwhile: the mutexes of jobs and
// settings are free.
template <class Order>
void ServedCamera::carry_out(const Order& order) {
    require_settable();
    const std::lock_guard turn(turn_mutex_);
    OrderTicket ticket;
    std::uint64_t job_number = 0;
    {
        std::unique_lock orders(orders_mutex_);
        require_job(orders);
        const std::shared_lock lock(job_mutex_);
        given_up_because_.clear();
        job_number = job_number_;
        if (order(*job_) == Taken::by_job) {
            ticket = job_->ticket();
        } else {
            ticket = job_->next_job();
            job_->end_here();
        }
    }
    wait_until_in_force(ticket, job_number);
    keep();
}

// The job may end before a frame is made with the request; then the next job applies it from its first frame on.
void ServedCamera::wait_until_in_force(const OrderTicket& ticket, std::uint64_t job_number) {
    auto outcome = ticket.wait();
    if (outcome == OrdersInForce::Outcome::ended) {
        OrderTicket first_frame;
        {
            std::unique_lock orders(orders_mutex_);
            stands_.wait_for(orders, OrdersInForce::patience, [&] { return job_number_ != job_number || is_over_; });
            if (job_number_ == job_number || !job_) fail(ErrorCode::config, "{} has come to its end", name_);
            if (!given_up_because_.empty())
                fail(ErrorCode::config, "it does not fit {}: {}; it goes on as before", name_, given_up_because_);
            first_frame = job_->first_frame();
        }
        outcome = first_frame.wait();
    }
    if (outcome == OrdersInForce::Outcome::ended) fail(ErrorCode::config, "{} has come to its end", name_);
    if (outcome == OrdersInForce::Outcome::late) fail(ErrorCode::config, "{}: {}", name_, late_order_text);
}

// A chain that needs another frame size or rate restarts the job.
void ServedCamera::set_chain(const std::string& text) {
    carry_out([&](BroadcastJob& job) {
        check_ordered_chain(text);
        const bool taken = job.take_chain(text);
        ordered_.chain = text;
        if (taken) accepted_.chain = job_chain_ = text;
        return taken ? Taken::by_job : Taken::by_next_job;
    });
}

void ServedCamera::control(const ControlOrder& order) {
    control_by([&](const auto&) { return order; });
}

void ServedCamera::control_by(const std::function<ControlOrder(const Adjustment& now)>& make) {
    carry_out([&](BroadcastJob& job) {
        job.control(make(job.controls().adjustment));
        return Taken::by_job;
    });
}

// Another mode, or a threshold above the signalled bound, restarts the job.
void ServedCamera::set_threshold(std::optional<int> threshold, std::optional<delta::Mode> mode) {
    carry_out([&](BroadcastJob& job) {
        auto wanted = ordered_;
        if (threshold) wanted.threshold = threshold;
        if (mode) wanted.mode = mode;
        const auto encoder = encoder_with(asked_, wanted);
        if (encoder.mode == delta::Mode::lossless && threshold.value_or(0) > 0)
            fail(ErrorCode::usage, "threshold {} does not go with the mode lossless, whose threshold is 0", *threshold);
        ordered_ = std::move(wanted);
        const bool taken = encoder.mode == job.standing().mode && job.set_threshold(encoder.effective_threshold());
        if (taken) accepted_.threshold = ordered_.threshold;
        return taken ? Taken::by_job : Taken::by_next_job;
    });
}

void ServedCamera::set_zones(const std::vector<LiveZone>& zones) {
    carry_out([&](BroadcastJob& job) {
        job.set_zones(zones);
        ordered_.zones = {zones, job.standing().source_shape};
        return Taken::by_job;
    });
}

// Returns a new path in the folder of recordings.
std::string ServedCamera::new_file(std::string_view ending) const {
    if (live_.record_folder.empty())
        fail(ErrorCode::config, "there is no folder for that; serve with --record-dir DIR");
    return new_file_name(live_.record_folder, name_, ending);
}

std::string ServedCamera::start_recording() {
    require_settable();
    const std::lock_guard turn(turn_mutex_);
    std::unique_lock orders(orders_mutex_);
    require_job(orders);
    const std::shared_lock lock(job_mutex_);
    const auto path = new_file("fwd");
    naming_no_folder(live_.record_folder, [&] { job_->start_recording(path); });
    is_recorded_ = true;
    return std::filesystem::path(path).filename().string();
}

void ServedCamera::stop_recording() {
    require_settable();
    const std::lock_guard turn(turn_mutex_);
    std::unique_lock orders(orders_mutex_);
    require_job(orders);
    const std::shared_lock lock(job_mutex_);
    is_recorded_ = false;
    naming_no_folder(live_.record_folder, [&] { job_->stop_recording(); });
}

// Takes its turn among requests, so that no picture from before a completed request is written after it.
std::string ServedCamera::save_snapshot() {
    require_settable();
    const std::lock_guard turn(turn_mutex_);
    const auto now = picture();
    if (!now) fail(ErrorCode::config, "{} has no picture yet", name_);
    const auto png = encode_png(std::as_const(now->image).view());
    const std::lock_guard orders(orders_mutex_);
    const auto path = new_file("png");
    naming_no_folder(live_.record_folder, [&] {
        OutputFile file(path);
        file.write(png.data(), png.size());
        file.finish();
    });
    return std::filesystem::path(path).filename().string();
}

}  // namespace framewire::session
