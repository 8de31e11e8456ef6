#pragma once

#include "framewire/service/live_camera.hpp"
#include "framewire/service/rtsp/rtsp_server.hpp"
#include "framewire/service/video/camera_video.hpp"

#include <nlohmann/json.hpp>

#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace framewire::service::web {

/// Cameras in the order in which they are listed.
using LiveCameras = std::vector<std::shared_ptr<LiveCamera>>;

/// Returns a camera's state as the API's JSON object. The stream's address is `base_path`/NAME/stream.
std::string to_json(const LiveCameraState& state, const std::string& base_path);

/// Returns the states of all cameras: {"cameras":[...]}.
std::string cameras_json(const LiveCameras& cameras, const std::string& base_path);

/// Counters of a camera's H.264 video.
struct VideoFigures {
    VideoStatistics video{};
    /// Clients that receive fragmented MP4.
    int mp4_clients = 0;
    /// WebRTC sessions.
    int webrtc_clients = 0;
};
/// Counters of the cameras' video by camera; empty if the server offers none.
using VideosFigures = std::map<std::string, VideoFigures, std::less<>>;

/// Returns the statistics since the start, in total and per camera: {"viewers":{...},"cameras":{NAME:{...}}}.
std::string stats_json(const LiveCameras& cameras, const net::ServerMetrics& viewers, const VideosFigures& videos = {},
                       const std::optional<RtspStatistics>& rtsp = {});

// Parsers for the bodies of control requests. Bodies are untrusted: for any other body, each function throws
// Error{usage} that says what is allowed.

/// Parses {"chain":"gaussian=5"}; the chain itself is not checked.
std::string read_chain_request(std::string_view body);

/// Parses {"brightness":10,"contrast":1.2,"saturation":1,"gain":1} with any subset of the members; the others keep
/// their value in `now`. Or parses {"filter":2,"on":false}, with filters counted from 1.
ControlRequest read_control_request(std::string_view body, const Adjustment& now);

/// Requested threshold and mode; nullopt leaves the value unchanged.
struct ThresholdRequest {
    std::optional<int> threshold{};
    std::optional<codec::Mode> mode{};
};
/// Parses {"threshold":20,"mode":"exact"} with either or both members.
ThresholdRequest read_threshold_request(std::string_view body);

/// Parses {"zones":[{"kind":"privacy","x":0,"y":0,"width":64,"height":48}]}, with at most max_live_zones.
std::vector<LiveZone> read_zones_request(std::string_view body);

/// Parses {"on":true}.
bool read_record_request(std::string_view body);

/// Checks that the body is {}.
void read_empty_request(std::string_view body);

/// Parses the body of a control request: a JSON object (RFC 8259) in valid UTF-8 with at most 4 levels and without
/// repeated names. Throws Error{usage} that says what is wrong.
nlohmann::ordered_json read_object(std::string_view body);

/// Throws Error{usage} if `object` is not an object, is empty, or has a name that is not in `allowed`. `what` names the
/// object in messages, for example "a zone".
void check_names(const nlohmann::ordered_json& object, std::string_view what,
                 std::initializer_list<std::string_view> allowed);

/// Returns a member that is true or false. Throws Error{usage} if it is missing or has another type.
bool flag_of(const nlohmann::ordered_json& object, std::string_view name);
/// Returns a member that is a whole number from `minimum` to `maximum`. Throws Error{usage} if it is missing or
/// anything else.
int integer_of(const nlohmann::ordered_json& object, std::string_view name, int minimum, int maximum);
/// Returns a member that is a string. Throws Error{usage} if it is missing or has another type.
std::string text_of(const nlohmann::ordered_json& object, std::string_view name);

}  // namespace framewire::service::web
