#pragma once

#include "framewire/net/http/exchange.hpp"
#include "framewire/session/web/pictures/camera_pictures.hpp"
#include "framewire/session/web/pictures/mjpeg.hpp"
#include "framewire/session/web/site.hpp"

#include <memory>
#include <string_view>
#include <vector>

namespace framewire::session::web {

/// A served camera with its encoded pictures.
struct ShownCamera {
    /// Shares the camera. `pictures` and `mjpeg` refer to it.
    explicit ShownCamera(std::shared_ptr<LiveCamera> shown) : camera(std::move(shown)) {}

    /// Camera that is shown.
    std::shared_ptr<LiveCamera> camera;
    /// Its picture as JPEG and PNG files.
    CameraPictures pictures{camera};
    /// Its picture as Motion JPEG.
    Mjpeg mjpeg{*camera, pictures};
};

/// The cameras of a site, shared by its route handlers. Does not change after construction.
class ShownCameras {
public:
    /// Throws Error{usage} if there is no camera.
    explicit ShownCameras(const SiteParts& parts);

    /// Parts of the site, as given to the constructor.
    const SiteParts& parts() const { return parts_; }
    /// Returns the camera that the request's path names, or the first one if the path has no name. Throws
    /// Error{no_input} if there is no such camera.
    ShownCamera& of(const net::http::Request& request) const;

private:
    SiteParts parts_;
    std::vector<std::unique_ptr<ShownCamera>> all_;
};

}  // namespace framewire::session::web
