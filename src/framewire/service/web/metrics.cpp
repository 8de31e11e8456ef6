#include "framewire/service/web/metrics.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <vector>

namespace framewire::service::web {
namespace {

// Stages of the frame ring, in the order of StatisticsSnapshot::stages.
constexpr std::array<std::string_view, 3> stage_names{"read", "process", "send"};

// A camera's state, read once for all lines.
struct CameraStatistics {
    std::string name;
    LiveCameraState state;
    StatisticsSnapshot figures;
    net::StreamMetrics viewers;
};

// Collects metric lines. The format requires all lines of one metric to be together, so each metric loops over the
// cameras. Label values need no escaping: camera names consist of letters, digits and . _ - only.
class MetricLines {
public:
    // Starts a metric: its HELP and TYPE lines.
    void begin(std::string_view name, std::string_view type, std::string_view help) {
        name_ = name;
        fmt::format_to(std::back_inserter(text_), "# HELP framewire_{0} {1}\n# TYPE framewire_{0} {2}\n", name, help,
                       type);
    }
    // Adds a line; `ending` is the suffix of a histogram's series.
    template <class Number>
    void line(std::string_view labels, Number value, std::string_view ending = "") {
        fmt::format_to(std::back_inserter(text_), "framewire_{}{}{} {}\n", name_, ending,
                       labels.empty() ? std::string() : fmt::format("{{{}}}", labels), value);
    }
    std::string take() { return std::move(text_); }

private:
    std::string_view name_;
    std::string text_;
};

// Returns the label that selects a camera.
std::string of_camera(const CameraStatistics& camera) { return fmt::format("camera=\"{}\"", camera.name); }

// Adds a metric with one line per camera.
template <class Value>
void each(MetricLines& lines, const std::vector<CameraStatistics>& cameras, std::string_view name,
          std::string_view type, std::string_view help, const Value& value) {
    lines.begin(name, type, help);
    for (const auto& camera : cameras) lines.line(of_camera(camera), value(camera));
}

// Adds the per-stage counters and latency histograms.
void add_stages(MetricLines& lines, const std::vector<CameraStatistics>& cameras) {
    const auto labels = [](const CameraStatistics& camera, std::size_t stage) {
        return fmt::format("{},stage=\"{}\"", of_camera(camera), stage_names[stage]);
    };
    lines.begin("frames_total", "counter", "Frames processed by each stage.");
    for (const auto& camera : cameras)
        for (std::size_t stage = 0; stage < stage_names.size(); ++stage)
            lines.line(labels(camera, stage), camera.figures.stages[stage].count);
    lines.begin("stage_seconds", "histogram", "Time per frame in each stage.");
    for (const auto& camera : cameras) {
        for (std::size_t stage = 0; stage < stage_names.size(); ++stage) {
            const auto& times = camera.figures.stages[stage];
            const auto of_stage = labels(camera, stage);
            for (std::size_t at = 0; at < times.within.size(); ++at)
                lines.line(fmt::format("{},le=\"{}\"", of_stage, TimeBuckets::limits_ms[at] / 1000), times.within[at],
                           "_bucket");
            lines.line(of_stage + ",le=\"+Inf\"", times.count, "_bucket");
            lines.line(of_stage, times.sum_ms / 1000, "_sum");
            lines.line(of_stage, times.count, "_count");
        }
    }
}

// Adds the metrics of the encoder and of the source.
void add_stream(MetricLines& lines, const std::vector<CameraStatistics>& cameras) {
    each(lines, cameras, "frames_dropped_total", "counter", "Frames that arrived too late to be processed.",
         [](const auto& camera) { return camera.figures.drops; });
    each(lines, cameras, "raw_bytes_total", "counter", "Size of the sent frames as raw pixels, in bytes.",
         [](const auto& camera) { return camera.figures.raw_bytes; });
    each(lines, cameras, "changed_ratio", "gauge", "Fraction of all bytes that changed, 0 to 1.",
         [](const auto& camera) { return camera.figures.delta ? camera.figures.delta->changed : 0.0; });
    each(lines, cameras, "threshold", "gauge", "Current threshold: largest allowed error of a byte that viewers see.",
         [](const auto& camera) {
             return camera.figures.rate ? camera.figures.rate->threshold.last : camera.state.threshold;
         });
    each(lines, cameras, "max_error", "gauge", "Largest error of a byte that viewers saw.",
         [](const auto& camera) { return camera.figures.delta ? camera.figures.delta->max_error : 0; });
    each(lines, cameras, "source_up", "gauge", "1 while the source is delivering frames, otherwise 0.",
         [](const auto& camera) { return camera.state.up ? 1 : 0; });
    each(lines, cameras, "source_reconnects_total", "counter",
         "Number of times that the source was lost and came back.",
         [](const auto& camera) { return camera.state.reconnects; });
    each(
        lines, cameras, "decoded_on_gpu", "gauge", "1 while the source's video is decoded on a GPU, otherwise 0.",
        [](const auto& camera) { return camera.figures.decode && camera.figures.decode->on == Backend::cuda ? 1 : 0; });
    each(lines, cameras, "recording", "gauge", "1 while a requested recording is being written, otherwise 0.",
         [](const auto& camera) { return camera.state.recording ? 1 : 0; });
}

// Adds the metrics of the viewers and their traffic.
void add_viewers(MetricLines& lines, const std::vector<CameraStatistics>& cameras) {
    each(lines, cameras, "viewers", "gauge", "Connected viewers.",
         [](const auto& camera) { return camera.viewers.viewers; });
    each(lines, cameras, "viewers_served_total", "counter", "Viewers served since the start.",
         [](const auto& camera) { return camera.viewers.viewers_total; });
    each(lines, cameras, "viewers_dropped_total", "counter",
         "Viewers that the server disconnected, for example because they stalled.",
         [](const auto& camera) { return camera.viewers.dropped; });
    each(lines, cameras, "versions_skipped_total", "counter", "Versions skipped by slow viewers.",
         [](const auto& camera) { return camera.viewers.skipped; });
    lines.begin("sent_bytes_total", "counter", "Bytes sent to viewers in keyframes, in delta frames and otherwise.");
    for (const auto& camera : cameras) {
        lines.line(of_camera(camera) + ",kind=\"keyframe\"", camera.viewers.keyframe_bytes);
        lines.line(of_camera(camera) + ",kind=\"delta\"", camera.viewers.delta_frame_bytes);
        lines.line(of_camera(camera) + ",kind=\"other\"", camera.viewers.other_bytes);
    }
}

// Adds the metrics of the cameras' H.264 video; nothing if the server offers none.
void add_videos(MetricLines& lines, const VideosFigures& videos) {
    if (videos.empty()) return;
    const auto each_video = [&](std::string_view name, std::string_view type, std::string_view help,
                                const auto& value) {
        lines.begin(name, type, help);
        for (const auto& [camera, figures] : videos) lines.line(fmt::format("camera=\"{}\"", camera), value(figures));
    };
    each_video("video_encoders", "gauge", "H.264 encoders that run.",
               [](const auto& figures) { return figures.video.encoders; });
    each_video("video_subscribers", "gauge", "Consumers of the H.264 encoders.",
               [](const auto& figures) { return figures.video.subscribers; });
    each_video("video_mp4_clients", "gauge", "Clients that receive fragmented MP4 over HTTP.",
               [](const auto& figures) { return figures.mp4_clients; });
    each_video("video_webrtc_clients", "gauge", "WebRTC sessions.",
               [](const auto& figures) { return figures.webrtc_clients; });
    each_video("video_frames_total", "counter", "Pictures encoded as H.264.",
               [](const auto& figures) { return figures.video.frames; });
    each_video("video_keyframes_total", "counter", "Pictures encoded as H.264 keyframes.",
               [](const auto& figures) { return figures.video.keyframes; });
    each_video("video_encoded_bytes_total", "counter", "Bytes of encoded H.264.",
               [](const auto& figures) { return figures.video.bytes; });
    each_video("video_frames_skipped_total", "counter", "H.264 pictures that slow consumers skipped.",
               [](const auto& figures) { return figures.video.skipped; });
    each_video("video_failed", "gauge", "1 while the H.264 encoder that was opened last has failed, otherwise 0.",
               [](const auto& figures) { return figures.video.failure.empty() ? 0 : 1; });
}

// Adds the metrics of the RTSP server.
void add_rtsp(MetricLines& lines, const RtspStatistics& rtsp) {
    lines.begin("rtsp_sessions", "gauge", "Clients that have set up a stream over RTSP.");
    lines.line("", rtsp.sessions);
    lines.begin("rtsp_sessions_total", "counter", "Sessions over RTSP since the start.");
    lines.line("", rtsp.sessions_total);
    lines.begin("rtsp_refused_total", "counter", "RTSP connections and requests refused: too many, or a wrong token.");
    lines.line("", rtsp.refused);
}

}  // namespace

std::string metrics_text(const LiveCameras& cameras, const net::ServerMetrics& viewers, const VideosFigures& videos,
                         const std::optional<RtspStatistics>& rtsp) {
    std::vector<CameraStatistics> all;
    for (const auto& camera : cameras)
        all.push_back({camera->name(), camera->state(), camera->figures(), camera->viewers()});
    MetricLines lines;
    lines.begin("build_info", "gauge", "Version of the running build; the value is always 1.");
    lines.line("version=\"" FRAMEWIRE_VERSION "\"", 1);
    add_stages(lines, all);
    add_stream(lines, all);
    add_viewers(lines, all);
    add_videos(lines, videos);
    if (rtsp) add_rtsp(lines, *rtsp);
    lines.begin("connections_refused_total", "counter", "Connections refused.");
    lines.line("", viewers.refused);
    lines.begin("pinned_bytes", "gauge", "Memory held by responses that are being sent, in bytes.");
    lines.line("", viewers.pinned_bytes);
    return lines.take();
}

}  // namespace framewire::service::web
