#pragma once

#include "framewire/core/error.hpp"
#include "framewire/core/parameters.hpp"
#include "framewire/jobs/broadcast.hpp"
#include "framewire/jobs/cameras.hpp"
#include "framewire/jobs/detect.hpp"
#include "framewire/jobs/options.hpp"
#include "framewire/net/server.hpp"
#include "framewire/service/live_camera.hpp"
#include "framewire/service/mqtt.hpp"
#include "framewire/service/rtsp/rtsp_server.hpp"
#include "framewire/service/video/camera_video.hpp"
#include "framewire/service/webrtc/whep_server.hpp"

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace framewire::jobs {

/// Position in a text. Lines and columns are counted from 1.
struct TextPlace {
    int line = 1, column = 1;
};

struct DocumentEntry;

/// One value of a YAML document. Only a subset of YAML is supported: no aliases and no tags, and all keys are plain
/// texts.
struct DocumentNode {
    /// Kinds of values; `nothing` is the value of a key that is followed by no text.
    enum class Kind { nothing, text, list, map };

    /// Kind of the value, which decides which of the members below are used.
    Kind kind = Kind::nothing;
    TextPlace place{};
    /// Contents of a text, as written.
    std::string text{};
    /// Elements of a list.
    std::vector<DocumentNode> items{};
    /// Entries of a map with unique keys. Without a {} initialiser, because clang would then need the complete type.
    std::vector<DocumentEntry> entries;
};

/// One entry of a map.
struct DocumentEntry {
    std::string key;
    /// Position of the key.
    TextPlace place{};
    DocumentNode value{};
};

/// Limits on the size and nesting depth of a document.
inline constexpr std::size_t max_document_bytes = std::size_t{1} << 20;
inline constexpr int max_document_depth = 8;

/// Parses a text that contains exactly one YAML document. Memory use is proportional to the text's length. Throws
/// Error{config} with `name`, line and column if the text is invalid, uses an unsupported feature, exceeds a limit or
/// contains a second document.
DocumentNode read_document(std::string_view text, const std::string& name);

/// Settings of motion detection, as texts from the command line or a configuration.
struct DetectorSettings {
    /// Values given for the parameters of detector_fields().
    ParameterValues parameters{};
    /// Regions of interest, each "x,y,w,h".
    std::vector<std::string> zones{};
    /// Path of a picture whose non-black pixels define the region; empty: no picture.
    std::string region_path{};
    /// Parameters for parse_tracker(); without a value, objects are not tracked.
    std::optional<std::string> track{};
};

/// Converts the settings. Throws Error{usage} if both zones and a picture are given, and as parse_zone() does. `dashes`
/// is the prefix of option names in messages: "--" for the command line, empty for a configuration.
DetectorOptions detector_of(const DetectorSettings& settings, std::string_view dashes);

/// A setting of a `Target`, declared once and used both as a command-line option and as a configuration key. `info`
/// holds the name, help text and range.
template <class Target>
struct Setting {
    ParameterInfo info;
    /// Applies a text that problem() accepted.
    std::function<void(Target& target, const std::string& text)> set;
    /// Optional. Additional check: returns an error message, or an empty string for a valid text. Default: only the
    /// checks of `info`.
    std::function<std::string(const std::string& text)> more_problems{};
    /// Deprecated name, accepted with a warning until the next release; empty: there is none.
    std::string_view former_name{};

    /// Returns an error message for a text; empty if the text is valid.
    std::string problem(const std::string& text) const {
        if (auto refusal = refusal_of(info, text); !refusal.empty() || !more_problems) return refusal;
        return more_problems(text);
    }
};

/// Settings of one camera. If a setting is given twice, the later value counts.
struct CameraSettings {
    InputOptions input{};
    /// Values given for the parameters of codec::encoder_fields().
    ParameterValues encoder{};
    std::optional<double> max_bitrate{};
    std::optional<int> threshold_max{};
    std::optional<double> refine_seconds{};
    /// Recording file. {name} is replaced by the camera's name.
    std::string record{};
    /// Folder of clips, with parameters. {name} is replaced by the camera's name.
    std::string clips{};
    std::string rate = "own";
    net::ClientOptions upstream{};
    int wait = 0;
    bool audio = true;
    bool detects = false;
    DetectorSettings detector{};
    /// Event zones, and the file from which they were read; empty if the configuration contains them.
    ZoneSet event_zones{};
    std::string event_zones_path{};
};

/// Returns the settings of an input: matrix, range, start, duration, reconnect, max-pixels, max-memory.
const std::vector<Setting<InputOptions>>& input_settings();
/// Returns the settings that control how a camera is served: the encoder's settings, max-bitrate, threshold-max,
/// refine, record, rate, loop, wait, no-audio, detect, zones, clips, controls, relay-token-file, relay-fingerprint.
const std::vector<Setting<CameraSettings>>& camera_settings();
/// Returns the settings of the listener: listen, viewers, allow-host, trusted-proxy, base-path, frame-ancestors.
const std::vector<Setting<net::ListenerOptions>>& listener_settings();

/// Returns the settings of control requests: state, record-dir.
const std::vector<Setting<service::LiveOptions>>& live_option_settings();

/// Returns the settings of the RTSP server: rtsp, onvif.
const std::vector<Setting<service::RtspOptions>>& rtsp_settings();

/// Returns the settings of WebRTC: webrtc-ports, webrtc-address.
const std::vector<Setting<service::WhepOptions>>& webrtc_settings();

/// Returns the settings of standard video: video.
const std::vector<Setting<service::VideoOptions>>& video_settings();

/// Returns the setting with this name. Throws Error{internal} if there is none.
template <class Target>
const Setting<Target>& setting_named(const std::vector<Setting<Target>>& settings, std::string_view name) {
    for (const auto& setting : settings)
        if (setting.info.name == name) return setting;
    fail(ErrorCode::internal, "unknown setting '{}'", name);
}

/// Returns the warning that a deprecated name was used for a setting. `dashes` is the prefix of option names: "--" for
/// the command line, empty for a configuration.
std::string deprecation_warning(std::string_view former_name, std::string_view name, std::string_view dashes);

/// Returns the options for broadcasting a camera as `name`. Throws Error{usage} if settings contradict each other.
/// `dashes` is the prefix of option names in messages: "--" for the command line, empty for a configuration.
BroadcastOptions broadcast_of(const CameraSettings& settings, const std::string& name, const JobOptions& job,
                              std::string_view dashes);

/// Checks everything that can be checked without opening the camera: the source's text and file, the filters, and the
/// recording and clips. Throws as parse_source(), parse_chain(), fwd::parse_record() and parse_clips() do, and
/// Error{no_input} if a file does not exist.
void check_camera(const BroadcastOptions& camera);

/// An error in a configuration, with its position in the file.
struct ConfigurationProblem {
    TextPlace place{};
    std::string text;
};

/// A parsed configuration. The YAML document contains the settings of listener_settings(), live_option_settings(),
/// event_settings(), video_settings(), rtsp_settings() and webrtc_settings(), a map `cameras` with the settings of each
/// camera by name, and an optional map `defaults` with settings for cameras that do not set them. A camera has
/// `source`, `filters` (a text or a list of texts), input_settings() and camera_settings(); its `detect` may be a map
/// of the detector's parameters with `roi`, `roi-mask` and `track`, and its `zones` may be the zones instead of a file.
struct Configuration {
    /// Name of the configuration file, for messages.
    std::string name;
    net::ListenerOptions listener{};
    service::LiveOptions live{};
    service::EventOptions events{};
    service::RtspOptions rtsp{};
    service::WhepOptions webrtc{};
    service::VideoOptions video{};
    std::vector<BroadcastOptions> cameras{};
    /// Errors, ordered by position. If the list is empty, the configuration can be served.
    std::vector<ConfigurationProblem> problems{};
    /// Warnings about keys with deprecated names, ordered by position.
    std::vector<ConfigurationProblem> warnings{};

    /// Throws Error{config} with the first problem, if there is one.
    void require_right() const;
};

/// Returns "FILE:LINE:COLUMN: TEXT".
std::string to_string(const Configuration& configuration, const ConfigurationProblem& problem);

/// Parses a configuration. Checks everything that can be checked without opening cameras: settings, source texts and
/// files, filters. `job` holds the job options for all cameras. Throws as read_document() does.
Configuration parse_configuration(std::string_view text, const std::string& name, const JobOptions& job = {});

/// Reads and parses a configuration file. Throws as parse_configuration() does, and Error{no_input} if the file cannot
/// be read.
Configuration read_configuration(const std::string& path, const JobOptions& job = {});

/// Returns the settings of events: events-rate, motion-after, motion-hold, mqtt, mqtt-password-file, mqtt-ca,
/// mqtt-discovery, mqtt-spool, mqtt-spool-file, mqtt-pictures, frigate, frigate-camera,
/// frigate-label.
const std::vector<Setting<service::EventOptions>>& event_settings();

/// Throws Error{usage} if the options contradict each other.
void check_events(const service::EventOptions& options);

}  // namespace framewire::jobs
