#include "framewire/session/web/site.hpp"

#include "framewire/session/web/routes.hpp"

namespace framewire::session::web {

std::shared_ptr<const net::http::Site> make_site(const SiteParts& parts) {
    // Handlers share the cameras, so they live as long as the site.
    const auto cameras = std::make_shared<ShownCameras>(parts);
    auto site = std::make_shared<net::http::Site>();
    add_file_routes(*site);
    add_state_routes(*site, cameras);
    add_event_routes(*site, *parts.events);
    add_order_routes(*site, cameras);
    add_picture_routes(*site, cameras);
    return site;
}

}  // namespace framewire::session::web
