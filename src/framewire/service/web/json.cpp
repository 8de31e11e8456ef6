#include "framewire/service/web/json.hpp"
#include "framewire/codec/delta.hpp"
#include "framewire/core/error.hpp"
#include "framewire/core/json_text.hpp"
#include "framewire/core/parameter_fields.hpp"
#include "framewire/core/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace framewire::service::web {
namespace {

using ShownJson = nlohmann::ordered_json;

// Returns the text, or null if it is empty.
ShownJson text_or_null(const std::string& text) { return text.empty() ? ShownJson(nullptr) : ShownJson(text); }

// Returns a size as [width, height].
ShownJson size_json(const Shape& shape) { return ShownJson::array({shape.width, shape.height}); }

// Returns the plan of the filters, with the same names as `framewire explain --json`, or null if there is none.
ShownJson plan_json(const std::optional<LivePlan>& plan) {
    if (!plan) return nullptr;
    auto steps = ShownJson::array();
    for (const auto& step : plan->steps)
        steps.push_back({{"operation", step.operation}, {"format", step.format}, {"reason", step.reason}});
    return {{"backend", plan->backend}, {"steps", std::move(steps)}};
}

// Returns a camera's state. The member names are part of the API, which openapi.json describes.
ShownJson camera_json(const LiveCameraState& state, const std::string& base_path) {
    const auto& set = state.controls.adjustment;
    auto filters = ShownJson::array(), zones = ShownJson::array();
    for (const auto& filter : state.controls.filters)
        filters.push_back({{"text", filter.text}, {"on", filter.on}, {"fixed", text_or_null(filter.fixed_because)}});
    for (const auto& [kind, area] : state.zones)
        zones.push_back(
            {{"kind", to_string(kind)}, {"x", area.x}, {"y", area.y}, {"width", area.width}, {"height", area.height}});
    ShownJson recording = nullptr;
    if (const auto& now = state.recording)
        recording = {{"file", now->file}, {"seconds", now->seconds}, {"bytes", now->bytes}};
    return {{"name", state.name},
            {"source", state.source},
            {"up", state.up},
            {"may_be_set", state.may_be_set},
            {"source_size", size_json(state.source_shape)},
            {"size", size_json(state.shape)},
            {"channels", state.shape.channels},
            {"rate", state.rate},
            {"mode", codec::to_string(state.mode)},
            {"threshold", state.threshold},
            {"threshold_max", state.threshold_max},
            {"chain", state.chain},
            {"filters", std::move(filters)},
            {"plan", plan_json(state.plan)},
            {"controls",
             {{"brightness", set.brightness},
              {"contrast", set.contrast},
              {"saturation", set.saturation},
              {"gain", set.gain}}},
            {"controls_fixed", text_or_null(state.controls.fixed_because)},
            {"zones", std::move(zones)},
            {"event_zones", ShownJson::parse(state.event_zones.to_json())},
            {"detects", state.detects},
            {"recording", std::move(recording)},
            {"stream", base_path + "/" + state.name + "/stream"},
            {"command", state.command}};
}

// Returns the traffic of one camera, or of all cameras together.
ShownJson viewers_json(const net::StreamMetrics& viewers) {
    return {{"viewers", viewers.viewers},
            {"viewers_total", viewers.viewers_total},
            {"dropped", viewers.dropped},
            {"keyframes", viewers.keyframes},
            {"delta_frames", viewers.delta_frames},
            {"skipped", viewers.skipped},
            {"keyframe_bytes", viewers.keyframe_bytes},
            {"delta_frame_bytes", viewers.delta_frame_bytes},
            {"other_bytes", viewers.other_bytes},
            // earlier names, until the next release
            {"pictures", viewers.keyframes},
            {"steps", viewers.delta_frames},
            {"picture_bytes", viewers.keyframe_bytes},
            {"step_bytes", viewers.delta_frame_bytes}};
}

// Returns the counters of a camera's H.264 video.
ShownJson video_json(const VideoFigures& figures) {
    const auto& video = figures.video;
    return {{"encoder", text_or_null(video.encoder)},
            {"encoders", video.encoders},
            {"subscribers", video.subscribers},
            {"mp4_clients", figures.mp4_clients},
            {"webrtc_clients", figures.webrtc_clients},
            {"frames", video.frames},
            {"keyframes", video.keyframes},
            {"bytes", video.bytes},
            {"skipped", video.skipped},
            {"failure", text_or_null(video.failure)}};
}

// Returns the durations of a stage in milliseconds.
ShownJson times_json(const TimeSummary& times) {
    return {{"mean", times.mean_ms},
            {"median", times.median_ms},
            {"p99", times.p99_ms},
            {"min", times.min_ms},
            {"max", times.max_ms}};
}

// Returns the statistics of one camera. `gpu`, `effort`, `decode`, `decode_reason`, `delta` and `rate` are null if the
// camera has no such statistics.
ShownJson figures_json(const StatisticsSnapshot& figures) {
    ShownJson json{{"frames", figures.frames},
                   {"fps", figures.fps},
                   {"drops", figures.drops},
                   {"seconds", figures.seconds},
                   {"read_ms", times_json(figures.read_ms)},
                   {"process_ms", times_json(figures.process_ms)},
                   {"send_ms", times_json(figures.send_ms)},
                   {"raw_bytes", figures.raw_bytes},
                   {"sent_bytes", figures.sent_bytes},
                   {"gpu", figures.gpu ? ShownJson(*figures.gpu) : ShownJson(nullptr)},
                   {"effort", figures.effort ? ShownJson(*figures.effort) : ShownJson(nullptr)},
                   {"decode", nullptr},
                   {"decode_reason", nullptr},
                   {"delta", nullptr},
                   {"rate", nullptr}};
    if (const auto& decode = figures.decode) {
        json["decode"] = to_string(decode->on);
        json["decode_reason"] = text_or_null(decode->reason);
    }
    if (const auto& delta = figures.delta)
        json["delta"] = {{"changed", delta->changed},
                         {"max_error", delta->max_error},
                         {"psnr", delta->psnr ? ShownJson(*delta->psnr) : ShownJson(nullptr)},
                         {"report_bytes", delta->report_bytes}};
    if (const auto& rate = figures.rate)
        json["rate"] = {
            {"threshold",
             {{"min", rate->threshold.min},
              {"mean", rate->threshold.mean},
              {"max", rate->threshold.max},
              {"last", rate->threshold.last}}},
            {"bits_per_second", {{"mean", rate->mean_bits_per_second}, {"max", rate->most_bits_per_second}}}};
    return json;
}

}  // namespace

std::string to_json(const LiveCameraState& state, const std::string& base_path) {
    return json_text(camera_json(state, base_path));
}

std::string cameras_json(const LiveCameras& cameras, const std::string& base_path) {
    auto all = ShownJson::array();
    for (const auto& camera : cameras) all.push_back(camera_json(camera->state(), base_path));
    return json_text(ShownJson{{"cameras", std::move(all)}});
}

std::string stats_json(const LiveCameras& cameras, const net::ServerMetrics& viewers, const VideosFigures& videos,
                       const std::optional<RtspStatistics>& rtsp) {
    ShownJson json{{"viewers", viewers_json(viewers)}, {"cameras", ShownJson::object()}};
    json["viewers"]["refused"] = viewers.refused;
    json["viewers"]["pinned_bytes"] = viewers.pinned_bytes;
    json["rtsp"] = rtsp ? ShownJson{{"sessions", rtsp->sessions},
                                    {"sessions_total", rtsp->sessions_total},
                                    {"refused", rtsp->refused}}
                        : ShownJson(nullptr);
    for (const auto& camera : cameras) {
        auto one = figures_json(camera->figures());
        one["viewers"] = viewers_json(camera->viewers());
        const auto video = videos.find(camera->name());
        one["video"] = video == videos.end() ? ShownJson(nullptr) : video_json(video->second);
        json["cameras"][camera->name()] = std::move(one);
    }
    return json_text(json);
}

namespace {

using RequestJson = nlohmann::ordered_json;

// Members of a control request that are real numbers.
constexpr std::array<std::pair<std::string_view, double Adjustment::*>, 3> factors{
    {{"contrast", &Adjustment::contrast}, {"saturation", &Adjustment::saturation}, {"gain", &Adjustment::gain}}};

// Reads the values through the parser of the `adjust` filter, which reports values out of range.
Adjustment adjustment_of(const RequestJson& json, Adjustment now) {
    std::string values;
    for (const auto& [name, value] : json.items()) {
        if (!value.is_number()) fail(ErrorCode::usage, "{} is of type {}; allowed: a number", name, value.type_name());
        values += fmt::format("{}{}={}", values.empty() ? "" : ":", name, value.dump());
    }
    // Only the values that were named are taken; the others keep their current value.
    const auto given = std::get<Adjustment>(parse_control("adjust " + values));
    if (json.contains("brightness")) now.brightness = given.brightness;
    for (const auto& [name, member] : factors)
        if (json.contains(name)) now.*member = given.*member;
    return now;
}

// Checks a value against the encoder's parameter of that name.
void check_of_encoder(std::string_view name, const std::string& text) {
    for (const auto& info : codec::encoder_fields().infos())
        if (info.name == name)
            if (const auto refusal = refusal_of(info, text); !refusal.empty()) fail(ErrorCode::usage, "{}", refusal);
}

}  // namespace

std::string read_chain_request(std::string_view body) {
    const auto json = read_object(body);
    check_names(json, "the request", {"chain"});
    return text_of(json, "chain");
}

ControlRequest read_control_request(std::string_view body, const Adjustment& now) {
    const auto json = read_object(body);
    if (json.contains("filter") || json.contains("on")) {
        check_names(json, "the filter request", {"filter", "on"});
        // more than any chain has; the camera checks the number against its own chain
        constexpr int most_filters = 1000;
        return FilterRequest{static_cast<std::size_t>(integer_of(json, "filter", 1, most_filters)),
                             flag_of(json, "on")};
    }
    check_names(json, "the request", {"brightness", "contrast", "saturation", "gain", "filter", "on"});
    return adjustment_of(json, now);
}

ThresholdRequest read_threshold_request(std::string_view body) {
    const auto json = read_object(body);
    check_names(json, "the request", {"threshold", "mode"});
    ThresholdRequest request;
    if (json.contains("threshold")) {
        // Wider than the encoder's range, so that the encoder's own message is shown.
        constexpr int beyond = 100'000;
        request.threshold = integer_of(json, "threshold", -beyond, beyond);
        check_of_encoder("threshold", fmt::to_string(*request.threshold));
    }
    if (json.contains("mode")) {
        const auto text = text_of(json, "mode");
        check_of_encoder("mode", text);
        for (const auto mode : {codec::Mode::exact, codec::Mode::lossless, codec::Mode::bounded})
            if (codec::to_string(mode) == text) request.mode = mode;
    }
    return request;
}

std::vector<LiveZone> read_zones_request(std::string_view body) {
    const auto json = read_object(body);
    check_names(json, "the request", {"zones"});
    const auto& all = json["zones"];
    if (!all.is_array()) fail(ErrorCode::usage, "zones is of type {}; it must be an array of zones", all.type_name());
    if (all.size() > max_live_zones) fail(ErrorCode::usage, "{} zones; the limit is {}", all.size(), max_live_zones);
    std::vector<LiveZone> zones;
    for (const auto& zone : all) {
        check_names(zone, "a zone", {"kind", "x", "y", "width", "height"});
        zones.push_back({parse_zone_kind(text_of(zone, "kind")),
                         {integer_of(zone, "x", 0, max_side_px), integer_of(zone, "y", 0, max_side_px),
                          integer_of(zone, "width", 1, max_side_px), integer_of(zone, "height", 1, max_side_px)}});
    }
    return zones;
}

bool read_record_request(std::string_view body) {
    const auto json = read_object(body);
    check_names(json, "the request", {"on"});
    return flag_of(json, "on");
}

void read_empty_request(std::string_view body) {
    const auto json = read_object(body);
    if (!json.empty()) fail(ErrorCode::usage, "the request must be empty: {{}}");
}

namespace {

using RequestJson = nlohmann::ordered_json;

constexpr int deepest = 4;

// Parser callback. Refuses deep nesting and repeated names; the parser itself would keep one of several values.
class Watcher {
public:
    bool operator()(int depth, RequestJson::parse_event_t event, const RequestJson& value) {
        using Event = RequestJson::parse_event_t;
        if (depth > deepest) fail(ErrorCode::usage, "the body is nested deeper than {} levels", deepest);
        if (event == Event::object_start) names_.emplace_back();
        if (event == Event::object_end) names_.pop_back();
        if (event == Event::key && !names_.back().insert(value.get<std::string>()).second)
            fail(ErrorCode::usage, "{} is given twice", in_quotes(value.get<std::string>()));
        return true;
    }

private:
    // names seen in each open object
    std::vector<std::set<std::string>> names_;
};

// Throws Error{usage} that names the value if it is a number, otherwise its type.
[[noreturn]] void refuse(std::string_view name, const RequestJson& value, std::string_view allowed) {
    fail(ErrorCode::usage, "{} is {}; allowed: {}", name,
         value.is_number() ? value.dump() : fmt::format("of type {}", value.type_name()), allowed);
}

// Returns a member, which must exist.
const RequestJson& member(const RequestJson& object, std::string_view name) {
    const auto at = object.find(name);
    if (at == object.end()) fail(ErrorCode::usage, "'{}' is missing", name);
    return *at;
}

}  // namespace

// The library accepts repeated names and any depth; the callback rejects both while parsing.
RequestJson read_object(std::string_view body) try {
    Watcher watcher;
    auto json = RequestJson::parse(body, [&](int depth, RequestJson::parse_event_t event, RequestJson& value) {
        return watcher(depth, event, value);
    });
    if (!json.is_object()) fail(ErrorCode::usage, "the body is of type {}; it must be an object", json.type_name());
    return json;
} catch (const RequestJson::parse_error& error) {
    fail(ErrorCode::usage, "the body is not valid JSON: error at byte {}", error.byte);
} catch (const RequestJson::exception&) {
    fail(ErrorCode::usage, "the body contains a number that is too large");
}

void check_names(const RequestJson& object, std::string_view what, std::initializer_list<std::string_view> allowed) {
    if (!object.is_object()) fail(ErrorCode::usage, "{} is of type {}; it must be an object", what, object.type_name());
    if (object.empty()) fail(ErrorCode::usage, "{} is empty; allowed: {}", what, fmt::join(allowed, ", "));
    for (const auto& [name, value] : object.items())
        if (std::find(allowed.begin(), allowed.end(), name) == allowed.end())
            fail(ErrorCode::usage, "{} has the unknown key {}; allowed: {}{}", what, in_quotes(name),
                 fmt::join(allowed, ", "), did_you_mean(name, {allowed.begin(), allowed.end()}));
}

bool flag_of(const RequestJson& object, std::string_view name) {
    const auto& value = member(object, name);
    if (!value.is_boolean()) refuse(name, value, "true or false");
    return value.get<bool>();
}

int integer_of(const RequestJson& object, std::string_view name, int minimum, int maximum) {
    const auto& value = member(object, name);
    const auto allowed = fmt::format("a whole number from {} to {}", minimum, maximum);
    if (!value.is_number_integer()) refuse(name, value, allowed);
    // Unsigned values above the signed range would become negative in get<std::int64_t>().
    const bool too_large =
        value.is_number_unsigned() && value.get<std::uint64_t>() > static_cast<std::uint64_t>(std::max(maximum, 0));
    if (too_large || value.get<std::int64_t>() < minimum || value.get<std::int64_t>() > maximum)
        fail(ErrorCode::usage, "{} {} is out of range; allowed: {}", name, value.dump(), allowed);
    return value.get<int>();
}

std::string text_of(const RequestJson& object, std::string_view name) {
    const auto& value = member(object, name);
    if (!value.is_string()) refuse(name, value, "a string");
    return value.get<std::string>();
}

}  // namespace framewire::service::web
