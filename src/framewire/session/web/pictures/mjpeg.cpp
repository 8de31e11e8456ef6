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

// How late a picture may be noticed; asking for its version costs next to nothing.
constexpr std::chrono::milliseconds between_looks{4};

std::string part_of(const std::string& jpeg) {
    return fmt::format("--framewire\r\nContent-Type: image/jpeg\r\nContent-Length: {}\r\n\r\n{}\r\n", jpeg.size(),
                       jpeg);
}

}  // namespace

// Outlives both this object and the feed, whichever goes first.
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

Mjpeg::Mjpeg(const LiveCamera& camera, CameraPictures& pictures)
    : feed_(std::make_shared<net::http::Feed>(net::http::FeedOptions{.newest_only = true})),
      wanted_(std::make_shared<Wanted>()) {
    feed_->on_wanted([wanted = wanted_](bool now) { wanted->set(now); });
    thread_ = std::jthread([this, &camera, &pictures](const std::stop_token& stop) { run(stop, camera, pictures); });
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

void Mjpeg::run(const std::stop_token& stop, const LiveCamera& camera, CameraPictures& pictures) {
    std::uint64_t shown = 0;
    while (!stop.stop_requested()) {
        {
            std::unique_lock lock(wanted_->mutex);
            if (!wanted_->now) {
                feed_->set_first(nullptr);  // it would be an old one
                shown = 0;
            }
            wanted_->rests = !wanted_->now;
            if (!wanted_->changed.wait(lock, stop, [&] { return wanted_->now; })) return;
            wanted_->rests = false;
        }
        if (const auto version = camera.picture_version(); version != shown) {
            shown = version;
            try {
                const auto part = std::make_shared<const std::string>(part_of(*pictures.jpeg()));
                feed_->set_first(part);
                feed_->publish(part);
            } catch (const std::exception& error) {
                log_warning("camera '{}' as Motion JPEG: {}", camera.name(), error.what());
            }
        }
        std::this_thread::sleep_for(between_looks);
    }
}

}  // namespace framewire::session::web
