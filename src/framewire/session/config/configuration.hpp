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

/// An error in a configuration, with its position.
struct ConfigurationProblem {
    TextPlace place{};
    std::string text;
};

/// A parsed configuration. It is a YAML document with the settings of listener_settings(), live_option_settings() and
/// event_settings(), a map `cameras` with the settings of each camera by name, and optional `defaults` for settings
/// that a camera does not have itself. A camera has `source`, `filters` (a text or a list of texts), input_settings()
/// and camera_settings(); its `detect` may be a map of the detector's parameters with `roi` and `roi-mask`.
struct Configuration {
    /// Name of its file, for messages.
    std::string name;
    net::ListenerOptions listener{};
    LiveOptions live{};
    EventOptions events{};
    std::vector<BroadcastOptions> cameras{};
    /// Errors, ordered by position. If there are none, the configuration can be served.
    std::vector<ConfigurationProblem> problems{};

    /// Throws Error{config} with the first error, if there are any.
    void require_right() const;
};

/// Returns "FILE:LINE:COLUMN: TEXT".
std::string to_string(const Configuration& configuration, const ConfigurationProblem& problem);

/// Parses a configuration. Checks everything that can be checked without opening cameras: settings, source texts and
/// files, filters. `job` are the job options of all cameras. Throws as read_document() does.
Configuration parse_configuration(std::string_view text, const std::string& name, const JobOptions& job = {});

/// Does the same for a file. Throws Error{no_input} if it cannot be read.
Configuration read_configuration(const std::string& path, const JobOptions& job = {});

}  // namespace framewire::session
