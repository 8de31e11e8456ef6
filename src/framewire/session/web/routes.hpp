#pragma once

#include "framewire/net/http/site.hpp"
#include "framewire/session/web/shown_cameras.hpp"

#include <memory>

namespace framewire::session::web {

/// The page's files, and the document of the API.
void add_file_routes(net::http::Site& site);
/// What may be asked: cameras, filters, figures, metrics, whether the server is well.
void add_state_routes(net::http::Site& site, const std::shared_ptr<ShownCameras>& cameras);
/// What moves, as it comes: server-sent events, or messages of a WebSocket. `events` lives longer.
void add_event_routes(net::http::Site& site, const EventFeeds& events);
/// What may be ordered of a camera.
void add_order_routes(net::http::Site& site, const std::shared_ptr<ShownCameras>& cameras);
/// Pictures as files and as Motion JPEG, in mjpg-streamer's words, too.
void add_picture_routes(net::http::Site& site, const std::shared_ptr<ShownCameras>& cameras);

}  // namespace framewire::session::web
