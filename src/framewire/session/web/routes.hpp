#pragma once

#include "framewire/net/http/site.hpp"
#include "framewire/session/web/shown_cameras.hpp"

#include <memory>

namespace framewire::session::web {

/// Adds the page's files and the API's OpenAPI document. Everybody may read them.
void add_file_routes(net::http::Site& site);
/// Adds the queries: cameras, filters, statistics, metrics, health and readiness.
void add_state_routes(net::http::Site& site, const std::shared_ptr<ShownCameras>& cameras);
/// Adds the events of moving objects, as server-sent events or WebSocket messages. `events` must outlive the site.
void add_event_routes(net::http::Site& site, const EventFeeds& events);
/// Adds the control requests of a camera.
void add_order_routes(net::http::Site& site, const std::shared_ptr<ShownCameras>& cameras);
/// Adds the pictures: files and Motion JPEG, also at the addresses that mjpg-streamer uses.
void add_picture_routes(net::http::Site& site, const std::shared_ptr<ShownCameras>& cameras);

}  // namespace framewire::session::web
