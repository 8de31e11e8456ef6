#include "e2e/live/network_camera.hpp"
#include "e2e/program.hpp"
#include "e2e/shell.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <csignal>
#include <fstream>
#include <string>
#include <vector>

namespace framewire::e2e {
namespace {

using Json = nlohmann::json;

// Server with two cameras, accessed over HTTP.
class WebServer {
public:
    explicit WebServer(std::vector<std::string> more) : serving_(arguments(std::move(more))) {
        EXPECT_TRUE(serving_.wait_for_err("in a browser: http://")) << serving_.err();
        const auto words = serving_.err();
        const auto begin = words.find("http://");
        url_ = words.substr(begin, words.find("/\n", begin) - begin);
        EXPECT_TRUE(becomes_true([&] { return status("/readyz") == "200"; })) << serving_.err();
    }

    const std::string& url() const { return url_; }
    std::string host() const { return url_.substr(std::string("http://").size()); }
    static std::string curl(const std::string& words) { return printed_by("curl -sS --max-time 20 " + words); }
    std::string get(const std::string& path, const std::string& more = "") const {
        return curl(fmt::format("{} '{}{}'", more, url_, path));
    }
    std::string status(const std::string& path, const std::string& more = "") const {
        return curl(fmt::format("-o /dev/null -w '%{{http_code}}' {} '{}{}'", more, url_, path));
    }
    // Returns the response to a control request for the camera `door`.
    std::string request(const std::string& method, const std::string& what, const std::string& body) const {
        return get("/api/cameras/door/" + what,
                   fmt::format("-X {} -H 'Content-Type: application/json' -d '{}'", method, body));
    }
    Program& serving() { return serving_; }

private:
    static std::vector<std::string> arguments(std::vector<std::string> more) {
        std::vector<std::string> all{"serve",
                                     "--backend",
                                     "cpu",
                                     "--listen",
                                     "127.0.0.1:0",
                                     "-i",
                                     "door=synth:size=64x48:fps=20",
                                     "-i",
                                     "yard=synth:size=96x64:fps=20"};
        all.insert(all.end(), more.begin(), more.end());
        return framewire(std::move(all));
    }

    Program serving_;
    std::string url_;
};

TEST(Web, ReportsStateAndAcceptsControlRequests) {
    const WebServer server({"--controls"});
    EXPECT_EQ(server.get("/healthz"), "ok\n");
    EXPECT_EQ(Json::parse(server.get("/api/server"))["token"], false);
    EXPECT_EQ(Json::parse(server.get("/api/cameras"))["cameras"].size(), 2u);
    EXPECT_EQ(Json::parse(server.get("/api/filters")), Json::parse(run_framewire({"filters", "--json"}).out));
    EXPECT_EQ(Json::parse(server.request("PUT", "chain", R"({"chain":"mosaic=16"})"))["chain"], "mosaic=16");
    EXPECT_EQ(Json::parse(server.request("PUT", "threshold", R"({"threshold":9})"))["threshold"], 9);
    const auto refused = Json::parse(server.request("PUT", "chain", R"({"chain":"mosiac=16"})"))["error"];
    EXPECT_EQ(refused["status"], 400);
    EXPECT_NE(refused["text"].get<std::string>().find("did you mean"), std::string::npos) << refused;
    EXPECT_EQ(Json::parse(server.get("/api/cameras/attic"))["error"]["status"], 404);
    EXPECT_EQ(Json::parse(server.get("/api/cameras/door"))["chain"], "mosaic=16");
    EXPECT_GT(Json::parse(server.get("/api/stats"))["cameras"]["yard"]["frames"], 0);
}

TEST(Web, RecordsWhileServingAndPersistsControlRequests) {
    const TemporaryFolder folder;
    const std::vector<std::string> options{"--controls",          "--mode",       "lossless",   "--state",
                                           folder / "state.json", "--record-dir", folder.path()};
    const auto zones = Json::parse(R"({"zones":[{"kind":"privacy","x":0,"y":0,"width":64,"height":48}]})");
    {
        WebServer server(options);
        EXPECT_EQ(Json::parse(server.request("PUT", "zones", zones.dump()))["zones"], zones["zones"]);
        const auto file = Json::parse(server.request("POST", "record", R"({"on":true})"))["recording"]["file"];
        const auto recording = [&] { return Json::parse(server.get("/api/cameras/door"))["recording"]; };
        EXPECT_TRUE(becomes_true([&] { return recording()["seconds"] >= 0.7; }));
        EXPECT_EQ(Json::parse(server.request("POST", "record", R"({"on":false})"))["recording"], nullptr);
        const auto played = run_framewire({"run", "-i", folder / file.get<std::string>(), "-o", folder / "raw.bgr"});
        EXPECT_EQ(played.code, 0) << played.err;
        const auto pixels = contents(folder / "raw.bgr");
        EXPECT_GE(pixels.size(), std::size_t{10} * 64 * 48 * 3);
        EXPECT_EQ(pixels.find_first_not_of('\0'), std::string::npos) << "a pixel under the privacy mask is visible";
        server.serving().signal(SIGTERM);
        EXPECT_EQ(server.serving().wait().code, 128 + SIGTERM);
    }
    const WebServer again(options);
    EXPECT_EQ(Json::parse(again.get("/api/cameras/door"))["zones"], zones["zones"]);
}

// Control routes are refused without the control API, for other origins, and for bodies other than JSON; routes that
// return information are refused without the token.
TEST(Web, RejectsUnauthorisedRequests) {
    const TemporaryFolder folder;
    std::ofstream(folder / "token") << "correct-horse-battery-staple\n";
    ASSERT_EQ(std::system(("chmod 600 " + folder / "token").c_str()), 0);
    const WebServer server({"--token-file", folder / "token"});
    const std::string token = "-H 'Authorization: Bearer correct-horse-battery-staple'";
    EXPECT_EQ(server.get("/api/server"), R"({"token":true})");
    EXPECT_EQ(Json::parse(server.get("/api/server", token))["name"], "framewire");
    for (const auto* path : {"/api/cameras", "/api/cameras/door", "/api/filters", "/api/stats", "/metrics",
                             "/door/snapshot.jpg", "/door/snapshot.png", "/door/stream.mjpeg", "/?action=snapshot"}) {
        EXPECT_EQ(server.status(path), "401") << path;
        if (std::string(path).find("mjpeg") == std::string::npos) {
            EXPECT_EQ(server.status(path, token), "200") << path;
        }
    }
    EXPECT_EQ(server.status("/metrics", "-u me:correct-horse-battery-staple"), "200");
    const std::string json = " -H 'Content-Type: application/json' -d '{}' ";
    for (const auto* request : {"-X PUT /chain", "-X PUT /controls", "-X PUT /threshold", "-X PUT /zones",
                                "-X POST /record", "-X POST /snapshot"}) {
        const auto words = std::string(request);
        const auto method = words.substr(0, words.rfind(' ')),
                   path = "/api/cameras/door" + words.substr(words.rfind('/'));
        EXPECT_EQ(server.status(path, method + json), "401") << request;
        EXPECT_EQ(server.status(path, method + json + token + " -H 'Origin: http://elsewhere.example'"), "403")
            << request;
        EXPECT_EQ(server.status(path, method + " -d '{}' " + token), "415") << request;
        const auto without_panel = server.get(path, method + json + token);
        EXPECT_NE(without_panel.find("serve --controls"), std::string::npos) << request << without_panel;
        EXPECT_EQ(server.status(path, token), "405") << request << ": a GET request must not be accepted";
    }
}

TEST(Web, FfmpegAndCurlReadStreamsAndSnapshots) {
    const TemporaryFolder folder;
    const WebServer server({"-f", "yard=gray=channels=1"});
    for (const auto* what : {"/door/stream.mjpeg", "/?action=stream", "/yard/stream.mjpeg"}) {
        const auto file = folder / "seen.mkv";
        EXPECT_TRUE(ffmpeg(fmt::format("-f mpjpeg -i '{}{}' -frames:v 5 -c copy {}", server.url(), what, file)))
            << what;
        EXPECT_EQ(frames_in(file), 5) << what;
    }
    WebServer::curl(fmt::format("-o {} '{}/?action=snapshot'", folder / "door.jpg", server.url()));
    WebServer::curl(fmt::format("-o {} '{}/yard/snapshot.png'", folder / "yard.png", server.url()));
    EXPECT_EQ(probed(folder / "door.jpg", "stream=codec_name,width,height"), "mjpeg,64,48\n");
    EXPECT_EQ(probed(folder / "yard.png", "stream=codec_name,width,height,pix_fmt"), "png,96,64,gray\n");
}

TEST(Web, StreamsMotionEvents) {
    const WebServer server({"--detect"});
    for (const auto* path : {"/api/events", "/api/events?camera=yard"}) {
        const auto event = printed_by(
            fmt::format("curl -sN --max-time 60 '{}{}' | grep -m1 -A1 'event: objects'", server.url(), path));
        const auto data = event.find("data: ");
        ASSERT_NE(data, std::string::npos) << event;
        const auto json = Json::parse(event.substr(data + std::string("data: ").size()));
        EXPECT_GT(json["objects"].size(), 0u) << event;
        if (std::string(path).find("yard") != std::string::npos) {
            EXPECT_EQ(json["camera"], "yard");
        }
    }
    EXPECT_EQ(server.status("/api/events?camera=attic"), "404");
}

TEST(Web, NoWebDisablesHttp) {
    Program serving(
        framewire({"serve", "--backend", "cpu", "--listen", "127.0.0.1:0", "--no-web", "-i", "synth:size=64x48"}));
    ASSERT_TRUE(serving.wait_for_err("at tcp://")) << serving.err();
    const auto words = serving.err();
    const auto begin = words.find("tcp://") + std::string("tcp://").size();
    const auto host = words.substr(begin, words.find('/', begin) - begin);
    EXPECT_NE(WebServer::curl(fmt::format("-o /dev/null -w '%{{http_code}}' http://{}/", host)).substr(0, 3), "200");
    EXPECT_EQ(words.find("in a browser"), std::string::npos);
    const auto seen = run_framewire({"view", "--no-window", "--frames", "2", fmt::format("tcp://{}/", host)});
    EXPECT_EQ(seen.code, 0) << seen.err;
}

// A real Prometheus server scrapes the metrics, and Prometheus's own tool accepts them. On a busy machine some scrapes
// may time out, which marks all series as stale; one successful scrape is enough.
TEST(Web, PrometheusScrapesMetrics) {
    const TemporaryFolder folder;
    const WebServer server({});
    EXPECT_EQ(printed_by(fmt::format("curl -sS --max-time 20 {}/metrics | promtool check metrics", server.url())), "");
    std::ofstream(folder / "prometheus.yml") << fmt::format(
        "scrape_configs:\n  - job_name: framewire\n    scrape_interval: 1s\n    scrape_timeout: 1s\n"
        "    static_configs:\n      - targets: ['{}']\n",
        server.host());
    const int port = free_port();
    Program prometheus({"prometheus", "--config.file=" + folder / "prometheus.yml",
                        "--storage.tsdb.path=" + folder / "data",
                        fmt::format("--web.listen-address=127.0.0.1:{}", port), "--log.level=warn"});
    const auto query = [&](const std::string& words) {
        const auto answer = printed_by(fmt::format(
            "curl -s --max-time 20 --retry 30 --retry-connrefused --retry-delay 1 -G --data-urlencode 'query={}' "
            "http://127.0.0.1:{}/api/v1/query",
            words, port));
        const auto json = Json::parse(answer, nullptr, false);
        return json.is_discarded() ? Json() : json["data"]["result"];
    };
    Json frames;
    ASSERT_TRUE(becomes_true([&] {
        frames = query(R"(last_over_time(framewire_frames_total{stage="send"}[5m]) > 0)");
        return frames.size() == 2;
    })) << prometheus.err();
    EXPECT_EQ(frames[0]["metric"]["camera"], "door");
    EXPECT_EQ(query("max_over_time(up[5m])")[0]["value"][1], "1");
    EXPECT_EQ(query("histogram_quantile(0.5, last_over_time(framewire_stage_seconds_bucket[5m]))").size(), 6u)
        << "expected three stages for each of two cameras";
    prometheus.signal(SIGTERM);
    prometheus.wait();
}

}  // namespace
}  // namespace framewire::e2e
