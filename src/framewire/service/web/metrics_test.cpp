#include "framewire/service/web/metrics.hpp"
#include "framewire/service/web/site_testing.hpp"
#include "kit/sources.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <memory>
#include <regex>
#include <set>
#include <sstream>
#include <string>

namespace framewire::service::web {
namespace {

std::string some_metrics() {
    const auto camera = std::make_shared<FakeCamera>("door");
    Statistics statistics;
    for (const double ms : {0.2, 3.0, 3.0, 70.0}) statistics.record(Stage::process, ms);
    statistics.count_drop();
    statistics.add_step(0, 7, 100);
    const auto monitor = std::make_shared<DecodeMonitor>();
    monitor->set({Backend::cuda, {}});
    statistics.set_decode_monitor(monitor);
    camera->figures_reported() = statistics.snapshot();
    net::ServerMetrics viewers;
    viewers.refused = 9;
    VideoFigures video{
        .video = {.subscribers = 2, .encoders = 1, .frames = 40, .bytes = 5000}, .mp4_clients = 3, .webrtc_clients = 4};
    video.video.failure = "no device";
    return metrics_text({camera, std::make_shared<FakeCamera>("yard")}, viewers, {{"door", video}},
                        RtspStatistics{.sessions = 4, .sessions_total = 6, .refused = 5});
}

TEST(MetricsText, ContainsTheStatistics) {
    const auto text = some_metrics();
    for (const auto* line : {
             "# TYPE framewire_frames_total counter\n",
             "framewire_frames_total{camera=\"door\",stage=\"process\"} 4\n",
             "framewire_frames_dropped_total{camera=\"door\"} 1\n",
             "# TYPE framewire_stage_seconds histogram\n",
             "framewire_stage_seconds_bucket{camera=\"door\",stage=\"process\",le=\"0.0005\"} 1\n",
             "framewire_stage_seconds_bucket{camera=\"door\",stage=\"process\",le=\"0.005\"} 3\n",
             "framewire_stage_seconds_bucket{camera=\"door\",stage=\"process\",le=\"0.1\"} 4\n",
             "framewire_stage_seconds_bucket{camera=\"door\",stage=\"process\",le=\"+Inf\"} 4\n",
             "framewire_stage_seconds_count{camera=\"door\",stage=\"process\"} 4\n",
             "framewire_threshold{camera=\"door\"} 7\n",
             "framewire_threshold{camera=\"yard\"} 20\n",
             "framewire_viewers{camera=\"yard\"} 3\n",
             "framewire_sent_bytes_total{camera=\"door\",kind=\"keyframe\"} 100\n",
             "framewire_sent_bytes_total{camera=\"door\",kind=\"delta\"} 20\n",
             "framewire_sent_bytes_total{camera=\"door\",kind=\"other\"} 4\n",
             "framewire_source_up{camera=\"door\"} 1\n",
             "framewire_source_reconnects_total{camera=\"door\"} 2\n",
             "framewire_decoded_on_gpu{camera=\"door\"} 1\n",
             "framewire_decoded_on_gpu{camera=\"yard\"} 0\n",
             "framewire_connections_refused_total 9\n",
             "framewire_video_encoders{camera=\"door\"} 1\n",
             "framewire_video_subscribers{camera=\"door\"} 2\n",
             "framewire_video_mp4_clients{camera=\"door\"} 3\n",
             "framewire_video_webrtc_clients{camera=\"door\"} 4\n",
             "framewire_video_frames_total{camera=\"door\"} 40\n",
             "framewire_video_encoded_bytes_total{camera=\"door\"} 5000\n",
             "framewire_video_failed{camera=\"door\"} 1\n",
             "framewire_rtsp_sessions 4\n",
             "framewire_rtsp_sessions_total 6\n",
             "framewire_rtsp_refused_total 5\n",
         })
        EXPECT_NE(text.find(line), std::string::npos) << line << text;
    EXPECT_NE(text.find("framewire_stage_seconds_sum{camera=\"door\",stage=\"process\"} 0.076"), std::string::npos);
}

// Every metric that the dashboard queries exists.
TEST(MetricsText, ContainsTheDashboardsMetrics) {
    std::set<std::string> names;
    std::istringstream lines(some_metrics());
    for (std::string line; std::getline(lines, line);)
        if (line[0] != '#') names.insert(line.substr(0, line.find_first_of("{ ")));
    std::ifstream file(std::string(kit::sources_path) + "/docs/grafana.json");
    const auto dashboard = nlohmann::json::parse(file);
    const std::regex name("framewire_[a-z_]+");
    int queries = 0;
    for (const auto& panel : dashboard.at("panels")) {
        EXPECT_FALSE(panel.at("title").get<std::string>().empty());
        for (const auto& target : panel.at("targets")) {
            const auto query = target.at("expr").get<std::string>();
            std::sregex_iterator found(query.begin(), query.end(), name);
            EXPECT_NE(found, std::sregex_iterator()) << query;
            for (; found != std::sregex_iterator(); ++found) EXPECT_TRUE(names.contains(found->str())) << query;
            ++queries;
        }
    }
    EXPECT_GE(queries, 10);
}

}  // namespace
}  // namespace framewire::service::web
