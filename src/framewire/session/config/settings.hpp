#pragma once

#include "framewire/core/error.hpp"
#include "framewire/core/parameters/info.hpp"
#include "framewire/core/parameters/values.hpp"
#include "framewire/net/listener.hpp"
#include "framewire/session/broadcast/broadcast.hpp"
#include "framewire/session/config/detector_settings.hpp"
#include "framewire/session/live/live_options.hpp"
#include "framewire/session/options.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace framewire::session {

/// One thing that is said of a `Target`, written once: an option of the program, and a key of a configuration. Its
/// parameter has the name, the help, and how its value is called.
template <class Target>
struct Setting {
    ParameterInfo info;
    std::function<void(Target& target, const std::string& text)> set;  ///< from a text that was checked
    /// What is wrong with a text, in words; empty: nothing. None: what its parameter says is all.
    std::function<std::string(const std::string& text)> more_problems{};

    std::string problem(const std::string& text) const {
        if (auto refusal = refusal_of(info, text); !refusal.empty() || !more_problems) return refusal;
        return more_problems(text);
    }
};

/// What is said of one camera, in the order in which it was said: the later of two holds.
struct CameraSettings {
    InputOptions input{};
    ParameterValues encoder{};  ///< those of delta::encoder_fields() that were given
    std::optional<double> max_bitrate{};
    std::optional<int> threshold_max{};
    std::optional<double> refresh_seconds{};
    std::string record{};  ///< {name} in it is the camera's
    std::string rate = "own";
    net::ClientOptions upstream{};
    int wait = 0;
    bool detects = false;
    DetectorSettings detector{};
};

/// matrix, range, start, duration, reconnect, max-pixels, max-memory.
const std::vector<Setting<InputOptions>>& input_settings();
/// All of how a camera is sent: the encoder's, max-bitrate, threshold-max, refresh, record, rate, loop, wait, detect.
const std::vector<Setting<CameraSettings>>& camera_settings();
/// listen, viewers, allow-host, trusted-proxy, base-path.
const std::vector<Setting<net::ListenerOptions>>& listener_settings();

/// state, record-dir.
const std::vector<Setting<LiveOptions>>& live_option_settings();

/// The one of that name, which there is.
template <class Target>
const Setting<Target>& setting_named(const std::vector<Setting<Target>>& settings, std::string_view name) {
    for (const auto& setting : settings)
        if (setting.info.name == name) return setting;
    fail(ErrorCode::internal, "there is no setting '{}'", name);
}

/// A camera as it is broadcast under `name`. Throws Error{usage} on what does not go together. Names of options begin
/// with `dashes`: -- on a command line, nothing in a configuration.
BroadcastOptions broadcast_of(const CameraSettings& settings, const std::string& name, const JobOptions& job,
                              std::string_view dashes);

/// What can be told of a camera without opening anything: its source's text and file, its filters, its recording.
/// Throws as parse_source(), parse_chain() and fwd::parse_record() do, and Error{no_input} where there is no such file.
void check_camera(const BroadcastOptions& camera);

}  // namespace framewire::session
