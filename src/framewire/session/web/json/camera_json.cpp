#include "framewire/session/web/json/camera_json.hpp"

#include <nlohmann/json.hpp>

namespace framewire::session::web {
namespace {

using ShownJson = nlohmann::ordered_json;

// Source names are arbitrary bytes from the command line; invalid UTF-8 is replaced, not refused.
std::string written(const ShownJson& json) { return json.dump(-1, ' ', false, ShownJson::error_handler_t::replace); }

// Returns null for an empty text.
ShownJson text_or_null(const std::string& text) { return text.empty() ? ShownJson(nullptr) : ShownJson(text); }

// A size is [width, height].
ShownJson size_json(const Shape& shape) { return ShownJson::array({shape.width, shape.height}); }

// Member names are part of the API: openapi.json describes them.
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
            {"mode", delta::to_string(state.mode)},
            {"threshold", state.threshold},
            {"threshold_max", state.threshold_max},
            {"chain", state.chain},
            {"filters", std::move(filters)},
            {"controls",
             {{"brightness", set.brightness},
              {"contrast", set.contrast},
              {"saturation", set.saturation},
              {"gain", set.gain}}},
            {"controls_fixed", text_or_null(state.controls.fixed_because)},
            {"zones", std::move(zones)},
            {"detects", state.detects},
            {"recording", std::move(recording)},
            {"stream", base_path + "/" + state.name + "/stream"},
            {"command", state.command}};
}

// Traffic of one camera, or of all cameras together.
ShownJson viewers_json(const net::StreamMetrics& viewers) {
    return {{"viewers", viewers.viewers},
            {"viewers_total", viewers.viewers_total},
            {"dropped", viewers.dropped},
            {"pictures", viewers.pictures},
            {"steps", viewers.steps},
            {"skipped", viewers.skipped},
            {"picture_bytes", viewers.picture_bytes},
            {"step_bytes", viewers.step_bytes},
            {"other_bytes", viewers.other_bytes}};
}

// Durations of a stage in milliseconds.
ShownJson times_json(const TimeSummary& times) {
    return {{"mean", times.mean_ms},
            {"median", times.median_ms},
            {"p99", times.p99_ms},
            {"min", times.min_ms},
            {"max", times.max_ms}};
}

// Statistics of one camera. `delta` and `rate` are null if the camera has no such statistics.
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
                   {"delta", nullptr},
                   {"rate", nullptr}};
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
    return written(camera_json(state, base_path));
}

std::string cameras_json(const LiveCameras& cameras, const std::string& base_path) {
    auto all = ShownJson::array();
    for (const auto& camera : cameras) all.push_back(camera_json(camera->state(), base_path));
    return written({{"cameras", std::move(all)}});
}

std::string stats_json(const LiveCameras& cameras, const net::ServerMetrics& viewers) {
    ShownJson json{{"viewers", viewers_json(viewers)}, {"cameras", ShownJson::object()}};
    json["viewers"]["refused"] = viewers.refused;
    json["viewers"]["pinned_bytes"] = viewers.pinned_bytes;
    for (const auto& camera : cameras) {
        auto one = figures_json(camera->figures());
        one["viewers"] = viewers_json(camera->viewers());
        json["cameras"][camera->name()] = std::move(one);
    }
    return written(json);
}

}  // namespace framewire::session::web
