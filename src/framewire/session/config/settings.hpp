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

/// A setting of a `Target`, declared once and used both as a command-line option and as a key of a configuration.
/// `info` has its name, help text and range.
template <class Target>
struct Setting {
    ParameterInfo info;
    /// Applies a text that was checked by problem().
    std::function<void(Target& target, const std::string& text)> set;
    /// Optional. Additional check; returns what is wrong with a text, or nothing. Default: only the checks of `info`.
    std::function<std::string(const std::string& text)> more_problems{};

    /// Returns what is wrong with a text; empty if it is valid.
    std::string problem(const std::string& text) const {
        if (auto refusal = refusal_of(info, text); !refusal.empty() || !more_problems) return refusal;
        return more_problems(text);
    }
};

/// Settings of one camera. If a setting is given twice, the later value counts.
struct CameraSettings {
    InputOptions input{};
    /// Parameters of delta::encoder_fields() that were given.
    ParameterValues encoder{};
    std::optional<double> max_bitrate{};
    std::optional<int> threshold_max{};
    std::optional<double> refresh_seconds{};
    /// {name} in it is replaced by the camera's name.
    std::string record{};
    std::string rate = "own";
    net::ClientOptions upstream{};
    int wait = 0;
    bool detects = false;
    DetectorSettings detector{};
};

/// Settings of an input: matrix, range, start, duration, reconnect, max-pixels, max-memory.
const std::vector<Setting<InputOptions>>& input_settings();
/// Settings of how a camera is served: those of the encoder, max-bitrate, threshold-max, refresh, record, rate, loop,
/// wait, detect, panel, relay-token-file, relay-fingerprint.
const std::vector<Setting<CameraSettings>>& camera_settings();
/// Settings of the listener: listen, viewers, allow-host, trusted-proxy, base-path.
const std::vector<Setting<net::ListenerOptions>>& listener_settings();

/// Settings of control requests: state, record-dir.
const std::vector<Setting<LiveOptions>>& live_option_settings();

/// Returns the setting of this name. Throws Error{internal} if there is none.
template <class Target>
const Setting<Target>& setting_named(const std::vector<Setting<Target>>& settings, std::string_view name) {
    for (const auto& setting : settings)
        if (setting.info.name == name) return setting;
    fail(ErrorCode::internal, "there is no setting '{}'", name);
}

/// Returns the options to broadcast a camera as `name`. Throws Error{usage} if settings do not fit together. `dashes`
/// precede option names in messages: -- for the command line, nothing for a configuration.
BroadcastOptions broadcast_of(const CameraSettings& settings, const std::string& name, const JobOptions& job,
                              std::string_view dashes);

/// Checks what can be checked without opening the camera: text and file of its source, filters, recording. Throws as
/// parse_source(), parse_chain() and fwd::parse_record() do, and Error{no_input} if a file does not exist.
void check_camera(const BroadcastOptions& camera);

}  // namespace framewire::session
