#include "framewire/service/mqtt_pictures.hpp"
#include "framewire/core/buffer.hpp"
#include "framewire/core/log.hpp"
#include "framewire/media/image_formats.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

namespace framewire::service {
namespace {

// Maximum delay until a due picture is noticed.
constexpr std::chrono::milliseconds picture_check_pause{100};

HostImage halved(HostView<const std::uint8_t> image) {
    const auto& shape = image.shape();
    HostImage half({1, (shape.height + 1) / 2, (shape.width + 1) / 2, shape.channels});
    const auto result = half.view();
    for (int y = 0; y < result.shape().height; ++y) {
        const auto* above = image.row(0, 2 * y);
        const auto* below = image.row(0, std::min(2 * y + 1, shape.height - 1));
        auto* row = result.row(0, y);
        for (int x = 0; x < result.shape().width; ++x)
            for (int c = 0; c < shape.channels; ++c) {
                const int left = 2 * x * shape.channels + c;
                const int right = std::min(2 * x + 1, shape.width - 1) * shape.channels + c;
                *row++ = static_cast<std::uint8_t>((above[left] + above[right] + below[left] + below[right] + 2) / 4);
            }
    }
    return half;
}

}  // namespace

// Halving ends at one pixel, so the loop ends.
std::string mqtt_picture(HostView<const std::uint8_t> image) {
    HostImage half;
    for (;;) {
        const auto& shape = image.shape();
        if (std::max(shape.width, shape.height) <= mqtt_picture_most_px) {
            auto file = encode_jpeg(image);
            if (file.size() <= mqtt_picture_most_bytes || std::max(shape.width, shape.height) == 1) return file;
        }
        half = halved(image);
        image = std::as_const(half).view();
    }
}

MqttPictures::~MqttPictures() { stop(); }

void MqttPictures::show(std::span<const std::shared_ptr<LiveCamera>> cameras) {
    if (rules_.when == MqttPictureRules::When::never) return;
    const std::lock_guard lock(mutex_);
    for (const auto& camera : cameras) shown_.push_back({.camera = camera});
    thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

void MqttPictures::stop() {
    thread_.request_stop();
    if (thread_.joinable()) thread_.join();
}

MqttPictures::Shown* MqttPictures::find(const std::string& camera) {
    const auto found = std::ranges::find_if(shown_, [&](const Shown& shown) { return shown.camera->name() == camera; });
    return found == shown_.end() ? nullptr : &*found;
}

void MqttPictures::set_motion(const std::string& camera, bool on) {
    {
        const std::lock_guard lock(mutex_);
        if (auto* const shown = find(camera)) shown->motion = on;
        news_ = true;
    }
    changed_.notify_all();
}

void MqttPictures::set_connected(bool connected) {
    {
        const std::lock_guard lock(mutex_);
        connected_ = connected;
        for (auto& shown : shown_) {
            shown.waiting.clear();
            shown.on_its_way = false;
            shown.version = 0;
        }
        news_ = true;
    }
    changed_.notify_all();
}

std::optional<MqttPictures::Picture> MqttPictures::take() {
    const std::lock_guard lock(mutex_);
    for (auto& shown : shown_) {
        if (shown.waiting.empty()) continue;
        auto jpeg = std::exchange(shown.waiting, {});
        if (shown.version < shown.camera->oldest_picture_version()) continue;
        shown.on_its_way = true;
        return Picture{shown.camera->name(), std::move(jpeg)};
    }
    return std::nullopt;
}

void MqttPictures::sent(const std::string& camera) {
    const std::lock_guard lock(mutex_);
    if (auto* const shown = find(camera)) shown->on_its_way = false;
}

// The first picture of a connection, and one that replaces a withdrawn one at the broker, wait for nothing.
bool MqttPictures::is_due(const Shown& shown) const {
    if (!connected_ || shown.on_its_way || !shown.waiting.empty()) return false;
    const auto version = shown.camera->picture_version();
    if (version == 0 || version < shown.camera->oldest_picture_version()) return false;
    if (shown.version < std::max<std::uint64_t>(1, shown.camera->oldest_picture_version())) return true;
    const bool wanted = rules_.when == MqttPictureRules::When::always || shown.motion;
    return wanted && version != shown.version && Clock::now() >= shown.encoded + rules_.period;
}

void MqttPictures::run(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (!stop.stop_requested()) {
        for (auto& shown : shown_)
            if (is_due(shown)) encode(shown, lock);
        const auto has_news = [this] { return std::exchange(news_, false); };
        if (connected_)
            changed_.wait_for(lock, stop, picture_check_pause, has_news);
        else
            changed_.wait(lock, stop, has_news);
    }
}

// The connection may be lost during encoding; the file is then dropped.
void MqttPictures::encode(Shown& shown, std::unique_lock<std::mutex>& lock) {
    shown.encoded = Clock::now();
    lock.unlock();
    std::string jpeg;
    std::uint64_t version = 0;
    try {
        if (const auto picture = shown.camera->picture()) {
            jpeg = mqtt_picture(picture->image.view());
            version = picture->version;
        }
    } catch (const std::exception& error) {
        log_warning("cannot encode a picture of camera '{}' for MQTT: {}", shown.camera->name(), error.what());
    }
    lock.lock();
    if (jpeg.empty() || !connected_) return;
    shown.version = version;
    shown.waiting = std::move(jpeg);
    wake_();
}

}  // namespace framewire::service
