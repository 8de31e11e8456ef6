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

/// A camera as Motion JPEG: the pictures of a feed, each as soon as it is there, from a thread that rests while nobody
/// watches. Who is slow skips pictures.
class Mjpeg {
public:
    static constexpr std::string_view content_type = "multipart/x-mixed-replace; boundary=framewire";

    /// Both live longer.
    Mjpeg(const LiveCamera& camera, CameraPictures& pictures);
    /// Ends the answers of all who watch.
    ~Mjpeg();
    Mjpeg(const Mjpeg&) = delete;
    Mjpeg& operator=(const Mjpeg&) = delete;

    /// For one more client, who begins with no older picture than the newest one.
    const std::shared_ptr<net::http::Feed>& feed();
    /// Whether its thread rests: it takes no picture until somebody watches.
    bool rests() const;

private:
    struct Wanted;
    void run(const std::stop_token& stop);
    void show(std::uint64_t version);

    const LiveCamera* camera_;
    CameraPictures* pictures_;
    std::mutex mutex_;         // of what is shown, in the order of the versions
    std::uint64_t shown_ = 0;  // the newest version
    std::shared_ptr<net::http::Feed> feed_;
    std::shared_ptr<Wanted> wanted_;
    std::jthread thread_;
};

}  // namespace framewire::session::web
