#include "framewire/session/web/pictures/mjpeg.hpp"

#include "framewire/core/error.hpp"
#include "framewire/core/log.hpp"

#include <fmt/format.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>

namespace framewire::session::web {
namespace {

// Maximum delay until a new picture is noticed. Polling the version costs next to nothing.
constexpr std::chrono::milliseconds between_looks{4};

// One part of the multipart answer.
std::string part_of(const std::string& jpeg) {
    return fmt::format("--framewire\r\nContent-Type: image/jpeg\r\nContent-Length: {}\r\n\r\n{}\r\n", jpeg.size(),
                       jpeg);
}

}  // namespace

// State shared with the feed's callback. Outlives both this object and the feed, whichever ends first.
struct Mjpeg::Wanted {
    std::mutex mutex;
    std::condition_variable_any changed;
    bool now = false, rests = false;

    void set(bool wanted) {
        {
            const std::lock_guard lock(mutex);
            now = wanted;
        }
        changed.notify_all();
    }
};

// The feed keeps only the newest picture per client, so a slow client skips pictures.
Mjpeg::Mjpeg(const LiveCamera& camera, CameraPictures& pictures)
    : camera_(&camera),
      pictures_(&pictures),
      feed_(std::make_shared<net::http::Feed>(net::http::FeedOptions{.newest_only = true})),
      wanted_(std::make_shared<Wanted>()) {
    feed_->on_wanted([wanted = wanted_](bool now) { wanted->set(now); });
    thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

Mjpeg::~Mjpeg() {
    thread_.request_stop();
    thread_.join();
    feed_->end();
}

bool Mjpeg::rests() const {
    const std::lock_guard lock(wanted_->mutex);
    return wanted_->rests && !wanted_->now;
}

const std::shared_ptr<net::http::Feed>& Mjpeg::feed() {
    const auto version = camera_->picture_version();
    const std::lock_guard lock(mutex_);
    // The client's first picture must not be older than a control request that was already answered.
    if (version != shown_) feed_->set_first(nullptr);
    return feed_;
}

// Encodes and publishes the newest picture. Throws if there is none. A picture that was withdrawn during encoding is
// not published.
void Mjpeg::show(std::uint64_t version) {
    const auto part = std::make_shared<const std::string>(part_of(*pictures_->jpeg()));
    const std::lock_guard lock(mutex_);
    if (version < camera_->oldest_picture_version()) return;
    shown_ = version;
    feed_->set_first(part);
    feed_->publish(part);
}

// Sleeps on a condition without clients; otherwise polls the camera's version.
void Mjpeg::run(const std::stop_token& stop) {
    std::uint64_t seen = 0;
    while (!stop.stop_requested()) {
        {
            std::unique_lock lock(wanted_->mutex);
            if (!wanted_->now) {
                // it would be outdated for the next client
                feed_->set_first(nullptr);
                seen = 0;
            }
            wanted_->rests = !wanted_->now;
            if (!wanted_->changed.wait(lock, stop, [&] { return wanted_->now; })) return;
            wanted_->rests = false;
        }
        if (const auto version = camera_->picture_version(); version != seen) {
            seen = version;
            try {
                show(version);
            } catch (const std::exception& error) {
                log_warning("camera '{}' as Motion JPEG: {}", camera_->name(), error.what());
            }
        }
        std::this_thread::sleep_for(between_looks);
    }
}

}  // namespace framewire::session::web
