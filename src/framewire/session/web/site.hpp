#pragma once

#include "framewire/net/http/site.hpp"
#include "framewire/net/session/metrics.hpp"
#include "framewire/session/live/live_camera.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace framewire::session {
class EventFeeds;
}

namespace framewire::session::web {

/// What a server tells browsers and other tools of.
struct SiteParts {
    std::vector<std::shared_ptr<LiveCamera>> cameras{};  ///< the first is that of routes without a name
    std::function<net::ServerMetrics()> viewers{};       ///< of all cameras; from any thread
    const EventFeeds* events = nullptr;                  ///< which is there; lives longer
    bool has_token = false;
    bool has_tls = false;
    bool takes_recordings = false;  ///< there is a folder for them
    std::string base_path{};        ///< before the addresses that the API tells, as net::ListenerOptions has it
};

/// The page, the API, metrics, and pictures for other tools (docs/web.md). What the parts refer to lives longer than
/// the site; threads of its own end with it.
std::shared_ptr<const net::http::Site> make_site(const SiteParts& parts);

}  // namespace framewire::session::web
