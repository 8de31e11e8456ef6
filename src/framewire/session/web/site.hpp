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

/// Everything that a server shows to browsers and other tools.
struct SiteParts {
    /// Cameras; routes without a camera's name show the first one.
    std::vector<std::shared_ptr<LiveCamera>> cameras{};
    /// Returns the traffic to viewers of all cameras; called from any thread.
    std::function<net::ServerMetrics()> viewers{};
    /// Event feeds. Must be set, and must outlive the site.
    const EventFeeds* events = nullptr;
    /// True if viewers need a token.
    bool has_token = false;
    /// True if connections use TLS.
    bool has_tls = false;
    /// True if there is a folder for recordings.
    bool takes_recordings = false;
    /// Prefix of the addresses that the API returns, see net::ListenerOptions.
    std::string base_path{};
};

/// Makes the site: page, API, metrics, and pictures for other tools (docs/web.md). Everything that `parts` refers to
/// must outlive it; its own threads end with it.
std::shared_ptr<const net::http::Site> make_site(const SiteParts& parts);

}  // namespace framewire::session::web
