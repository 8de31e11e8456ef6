#pragma once

#include "framewire/core/time.hpp"
#include "framewire/core/view.hpp"
#include "framewire/service/live_camera.hpp"
#include "framewire/service/mqtt.hpp"

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

namespace framewire::service {

/// Limits of a picture for a broker: width and height in pixels, and bytes of the JPEG file.
inline constexpr int mqtt_picture_most_px = 1280;
inline constexpr std::size_t mqtt_picture_most_bytes = 512 * 1024;

/// Returns the image as JPEG file, with half the width and height as often as needed for both limits. Each pixel of a
/// halved image is the mean of 2x2 pixels; the last row and column of an odd size are repeated.
std::string mqtt_picture(HostView<const std::uint8_t> image);

/// Encodes the pictures of cameras for an MQTT broker when they are due, on a thread of its own. At most one picture
/// per camera waits or is on its way, so a slow broker gets fewer pictures. Thread-safe.
class MqttPictures {
public:
    /// `wake` is called on the thread when take() has a picture.
    MqttPictures(const MqttPictureRules& rules, std::function<void()> wake) : rules_(rules), wake_(std::move(wake)) {}
    ~MqttPictures();
    MqttPictures(const MqttPictures&) = delete;
    MqttPictures& operator=(const MqttPictures&) = delete;

    /// Starts the thread, unless there are to be no pictures. Call it at most once.
    void show(std::span<const std::shared_ptr<LiveCamera>> cameras);
    /// Stops the thread. No picture is due afterwards.
    void stop();

    /// Sets whether a camera sees motion. Ignored for cameras that are not shown.
    void set_motion(const std::string& camera, bool on);
    /// With a new connection every camera's picture is due, because the broker may have lost the last one. Without a
    /// connection none is due, and those that wait are dropped.
    void set_connected(bool connected);

    /// Encoded picture of a camera.
    struct Picture {
        std::string camera, jpeg;
    };
    /// Removes and returns the next picture that waits. The camera's next one is not due until sent() is called. A
    /// picture that a request has withdrawn (LiveCamera::oldest_picture_version()) is not returned.
    std::optional<Picture> take();
    /// Reports that the camera's picture has been sent.
    void sent(const std::string& camera);

private:
    struct Shown {
        std::shared_ptr<LiveCamera> camera;
        bool motion = false;
        // encoded file that waits for take()
        std::string waiting{};
        bool on_its_way = false;
        // version and time of the newest encoded picture; version 0: none for this connection
        std::uint64_t version = 0;
        Clock::time_point encoded{};
    };
    Shown* find(const std::string& camera);
    bool is_due(const Shown& shown) const;
    void run(const std::stop_token& stop);
    void encode(Shown& shown, std::unique_lock<std::mutex>& lock);

    const MqttPictureRules rules_;
    const std::function<void()> wake_;
    // guards the members below; the list itself does not change while the thread runs
    std::mutex mutex_{};
    std::condition_variable_any changed_{};
    std::vector<Shown> shown_{};
    bool connected_ = false, news_ = false;
    std::jthread thread_{};
};

}  // namespace framewire::service
