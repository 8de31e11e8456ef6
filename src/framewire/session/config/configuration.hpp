#pragma once

#include "framewire/net/listener.hpp"
#include "framewire/session/cameras/cameras.hpp"
#include "framewire/session/config/document.hpp"
#include "framewire/session/config/settings.hpp"
#include "framewire/session/options.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace framewire::session {

/// What is wrong with a configuration, and where.
struct ConfigurationProblem {
    TextPlace place{};
    std::string text;
};

/// What a configuration says: a YAML document with listener_settings(), live_option_settings(), event_settings(),
/// `cameras`, a map of each camera's settings by its name, and `defaults`, the settings of those that do not say them
/// themselves. A camera has `source`, `filters` (a text, or a list of them), input_settings() and camera_settings();
/// its `detect` may be a map of the detector's parameters with `roi` and `roi-mask`.
struct Configuration {
    std::string name;  ///< of its file
    net::ListenerOptions listener{};
    LiveOptions live{};
    EventOptions events{};
    std::vector<BroadcastOptions> cameras{};
    std::vector<ConfigurationProblem> problems{};  ///< in the order of their places; none: it can be served

    /// Throws Error{config} with the first problem, where there are any.
    void require_right() const;
};

/// "FILE:LINE:COLUMN: TEXT".
std::string to_string(const Configuration& configuration, const ConfigurationProblem& problem);

/// Reads one. What can be told without opening cameras is checked: settings, sources' texts and files, filters. Cameras
/// are broadcast as `job` says. Throws as read_document() does.
Configuration parse_configuration(std::string_view text, const std::string& name, const JobOptions& job = {});

/// The same of a file. Throws Error{no_input} where it cannot be read, too.
Configuration read_configuration(const std::string& path, const JobOptions& job = {});

}  // namespace framewire::session
