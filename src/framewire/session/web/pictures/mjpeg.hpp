#pragma once

#include "framewire/net/http/feed.hpp"
#include "framewire/session/live/live_camera.hpp"
#include "framewire/session/web/pictures/camera_pictures.hpp"

#include <cstdint>
#include <memory>
#include <mutex>
#include <string_view>
#include <thread>

namespace framewire::session::web {

/// A camera as Motion JPEG. A thread publishes each new picture to a feed, and sleeps while there is no client. Slow
/// clients skip pictures.
class Mjpeg {
public:
    /// Content type of the answer; its boundary separates the pictures (RFC 2046, section 5.1).
    static constexpr std::string_view content_type = "multipart/x-mixed-replace; boundary=framewire";

    /// Starts the thread. Both arguments must outlive this object.
    Mjpeg(const LiveCamera& camera, CameraPictures& pictures);
    /// Ends the answers of all clients.
    ~Mjpeg();
    Mjpeg(const Mjpeg&) = delete;
    Mjpeg& operator=(const Mjpeg&) = delete;

    /// Returns the feed for one more client, which starts with the newest picture or a later one.
    const std::shared_ptr<net::http::Feed>& feed();
    /// Returns true while the thread sleeps because there is no client; it then takes no pictures.
    bool rests() const;

private:
    struct Wanted;
    void run(const std::stop_token& stop);
    // Publishes the newest picture; see mjpeg.cpp.
    void show(std::uint64_t version);

    const LiveCamera* camera_;
    CameraPictures* pictures_;
    // guards what is shown, in the order of versions
    std::mutex mutex_;
    // newest version published
    std::uint64_t shown_ = 0;
    std::shared_ptr<net::http::Feed> feed_;
    std::shared_ptr<Wanted> wanted_;
    std::jthread thread_;
};

}  // namespace framewire::session::web
