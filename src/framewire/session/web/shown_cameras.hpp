#pragma once

#include "framewire/net/http/exchange.hpp"
#include "framewire/session/web/pictures/camera_pictures.hpp"
#include "framewire/session/web/pictures/mjpeg.hpp"
#include "framewire/session/web/site.hpp"

#include <memory>
#include <string_view>
#include <vector>

namespace framewire::session::web {

/// A camera with what is made of it for whoever asks.
struct ShownCamera {
    explicit ShownCamera(std::shared_ptr<LiveCamera> shown) : camera(std::move(shown)) {}

    std::shared_ptr<LiveCamera> camera;
    CameraPictures pictures{camera};
    Mjpeg mjpeg{*camera, pictures};
};

/// The cameras of a site, as its handlers share them.
class ShownCameras {
public:
    explicit ShownCameras(const SiteParts& parts);

    const SiteParts& parts() const { return parts_; }
    /// The one that a request's path names, or the first where it names none. Throws Error{no_input} where there is no
    /// such camera.
    ShownCamera& of(const net::http::Request& request) const;

private:
    SiteParts parts_;
    std::vector<std::unique_ptr<ShownCamera>> all_;
};

}  // namespace framewire::session::web
