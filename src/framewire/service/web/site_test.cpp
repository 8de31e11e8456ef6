#include "framewire/service/web/site.hpp"
#include "framewire/net/http.hpp"
#include "framewire/service/events.hpp"
#include "framewire/service/video/camera_video.hpp"
#include "framewire/service/web/embedded_files.hpp"
#include "framewire/service/web/site_testing.hpp"
#include "kit/eventually.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace framewire::service::web {
namespace {

using Json = nlohmann::json;
using net::http::Access;
using net::http::Method;
using net::http::Request;
using net::http::Response;

struct Served {
    std::shared_ptr<FakeCamera> door = std::make_shared<FakeCamera>("door"),
                                yard = std::make_shared<FakeCamera>("yard");
    std::vector<std::string> watched{"door"};
    EventFeeds events{watched};
    SiteParts parts{.cameras = {door, yard},
                    .viewers =
                        [] {
                            net::ServerMetrics all;
                            all.refused = 7;
                            return all;
                        },
                    .events = &events,
                    .has_token = true,
                    .takes_recordings = true};
    std::shared_ptr<const net::http::Site> site = make_site(parts);

    // Calls a handler as a server does, except that exceptions of handlers are thrown to the test.
    Response ask(Method method, const std::string& path, const std::string& body = "", bool let_in = true) const {
        Request request{.method = method, .path = path.substr(0, path.find('?')), .body = body, .let_in = let_in};
        if (const auto query = path.find("?action="); query != path.npos)
            request.query["action"] = path.substr(query + std::string("?action=").size());
        const auto match = site->match(method, request.path, request.query, false);
        if (!match.route) {
            ADD_FAILURE() << path << " has no route";
            return {};
        }
        request.parameters = match.parameters;
        return match.route->handler(request);
    }
    Response get(const std::string& path) const { return ask(Method::get, path); }
    Json json(const std::string& path) const { return Json::parse(*get(path).body); }
    Json put(const std::string& what, const std::string& body) const {
        return Json::parse(*ask(Method::put, "/api/cameras/door/" + what, body).body);
    }
};

std::string method_name(Method method) {
    if (method == Method::remove) return "delete";
    return method == Method::put ? "put" : method == Method::post ? "post" : "get";
}

TEST(Site, DescribesCameras) {
    const Served served;
    const auto all = served.json("/api/cameras")["cameras"];
    ASSERT_EQ(all.size(), 2u);
    const auto door = served.json("/api/cameras/door");
    EXPECT_EQ(all[0], door);
    EXPECT_EQ(door, Json::parse(R"({
        "name":"door","source":"synth","up":true,"may_be_set":true,"source_size":[16,12],"size":[16,12],"channels":3,
        "rate":30.0,"mode":"exact","threshold":20,"threshold_max":20,"chain":"gaussian=5",
        "filters":[{"text":"gaussian=5","on":true,"fixed":null}],
        "plan":{"backend":"cpu","steps":[
            {"operation":"gaussian=5","format":"4:2:0","reason":""},
            {"operation":"convert","format":"4:2:0 to BGR","reason":"the output takes images"}]},
        "controls":{"brightness":0,"contrast":1.0,"saturation":1.0,"gain":1.0},"controls_fixed":null,
        "zones":[],"event_zones":{"zones":[],"hysteresis":0.1},"detects":false,"recording":null,"stream":"/door/stream","command":"framewire serve -i synth"})"));
    served.yard->forget_plan();
    EXPECT_EQ(served.json("/api/cameras/yard")["plan"], nullptr);
    EXPECT_THROW(served.get("/api/cameras/attic"), Error);
    EXPECT_TRUE(served.site->match(Method::get, "/healthz", {}, false).route->at_once);
    const auto filters = served.json("/api/filters");
    EXPECT_TRUE(
        std::any_of(filters.begin(), filters.end(), [](const auto& filter) { return filter["name"] == "gaussian"; }));
    served.door->figures_reported().effort = 0;
    served.door->figures_reported().decode = {Backend::cuda, {}};
    served.door->figures_reported().gpu = 1;
    const auto stats = served.json("/api/stats");
    EXPECT_EQ(stats["viewers"]["refused"], 7);
    EXPECT_EQ(stats["cameras"]["door"]["effort"], 0);
    EXPECT_EQ(stats["cameras"]["yard"]["effort"], nullptr);
    EXPECT_EQ(stats["cameras"]["door"]["decode"], "cuda");
    EXPECT_EQ(stats["cameras"]["door"]["decode_reason"], nullptr);
    EXPECT_EQ(stats["cameras"]["yard"]["decode"], nullptr);
    served.door->figures_reported().decode = {Backend::cpu, "too few decoders"};
    EXPECT_EQ(served.json("/api/stats")["cameras"]["door"]["decode"], "cpu");
    EXPECT_EQ(served.json("/api/stats")["cameras"]["door"]["decode_reason"], "too few decoders");
    EXPECT_EQ(stats["cameras"]["door"]["gpu"], 1);
    EXPECT_EQ(stats["cameras"]["yard"]["gpu"], nullptr);
    EXPECT_EQ(stats["cameras"]["yard"]["viewers"]["viewers"], 3);
    EXPECT_NE(served.get("/metrics").body->find("framewire_source_up{camera=\"yard\"} 1\n"), std::string::npos);
}

TEST(Site, PrefixesAddressesWithTheBasePath) {
    Served served;
    served.parts.base_path = "/cams";
    served.site = make_site(served.parts);
    EXPECT_EQ(served.json("/api/cameras")["cameras"][1]["stream"], "/cams/yard/stream");
    EXPECT_EQ(served.json("/api/cameras/door")["stream"], "/cams/door/stream");
    EXPECT_EQ(served.put("threshold", R"({"threshold":9})")["stream"], "/cams/door/stream");
}

// The page works with relative addresses, whether or not a proxy strips a path prefix.
TEST(Site, UsesRelativeAddressesInItsFiles) {
    for (const auto& file : embedded_files()) {
        if (file.path.starts_with("/vendor/") || file.path.starts_with("/api/") || file.path.ends_with(".wasm"))
            continue;
        for (const std::string_view absolute : {"src=\"/", "href=\"/", "url(/", "from \"/", "import(\"/", "fetch(\"/",
                                                "\"src\": \"/", "\"start_url\": \"/", "\"GET\", \"/", "location.host"})
            EXPECT_EQ(file.bytes.find(absolute), file.bytes.npos) << file.path << " has " << absolute;
    }
}

TEST(Site, RevealsLittleWithoutAToken) {
    const Served served;
    EXPECT_EQ(*served.ask(Method::get, "/api/server", "", false).body, R"({"token":true})");
    EXPECT_EQ(served.json("/api/server"),
              Json::parse(fmt::format(
                  R"({{"name":"framewire","version":"{}","token":true,"tls":false,"recordings":true,"video":false}})",
                  served.json("/api/server")["version"].get<std::string>())));
    EXPECT_EQ(served.ask(Method::get, "/readyz", "", false).status, 503);
    EXPECT_EQ(served.ask(Method::get, "/readyz", "", false).body->find("door"), std::string::npos);
    EXPECT_NE(served.get("/readyz").body->find("door, yard"), std::string::npos);
}

// A client without a token gets the view of any name, so it cannot find out which cameras there are.
TEST(Site, ViewsRevealNoCameras) {
    const Served served;
    EXPECT_EQ(*served.get("/door/view").body, *served.get("/yard/view").body);
    EXPECT_THROW(served.get("/attic/view"), Error);
    EXPECT_EQ(*served.ask(Method::get, "/attic/view", "", false).body, *served.get("/door/view").body);
}

TEST(Site, ReportsHealthAndReadiness) {
    const Served served;
    EXPECT_EQ(*served.get("/healthz").body, "ok\n");
    served.door->show(1);
    EXPECT_EQ(served.get("/readyz").status, 503);
    served.yard->show(1);
    EXPECT_EQ(served.get("/readyz").status, 200);
}

TEST(Site, AcceptsControlRequests) {
    const Served served;
    EXPECT_EQ(served.put("chain", R"({"chain":"median=3"})")["chain"], "median=3");
    EXPECT_THROW(served.put("chain", R"({"chain":"bad"})"), Error);
    EXPECT_EQ(served.put("controls", R"({"brightness":10})")["controls"]["brightness"], 10);
    const auto both = served.put("controls", R"({"gain":2})")["controls"];
    EXPECT_EQ(both["brightness"], 10);
    EXPECT_EQ(both["gain"], 2);
    EXPECT_EQ(served.put("controls", R"({"filter":1,"on":false})")["filters"][0]["on"], false);
    EXPECT_EQ(served.put("threshold", R"({"threshold":9})")["threshold"], 9);
    const auto mode = served.put("threshold", R"({"mode":"bounded"})");
    EXPECT_EQ(mode["mode"], "bounded");
    EXPECT_EQ(mode["threshold"], 9);
    const auto* zones = R"({"zones":[{"kind":"privacy","x":1,"y":2,"width":3,"height":4}]})";
    EXPECT_EQ(served.put("zones", zones)["zones"], Json::parse(zones)["zones"]);
    const auto* event_zones = R"({"size":[640,480],"zones":[{"name":"gate","line":[[320,0],[320,480]]}]})";
    EXPECT_EQ(served.put("event-zones", event_zones)["event_zones"],
              Json::parse(ZoneSet::parse(event_zones, "z").to_json()));
    const auto post = [&](const char* what, const char* body) {
        return Json::parse(*served.ask(Method::post, fmt::format("/api/cameras/door/{}", what), body).body);
    };
    EXPECT_EQ(post("record", R"({"on":true})")["recording"],
              Json::parse(R"({"file":"door.fwd","seconds":1.5,"bytes":1234})"));
    EXPECT_EQ(post("record", R"({"on":false})")["recording"], nullptr);
    EXPECT_EQ(post("snapshot", "{}"), Json::parse(R"({"file":"door.png"})"));
    EXPECT_EQ(served.yard->state().chain, "gaussian=5") << "the other one is as before";
}

TEST(Site, RejectsControlRequestsIfTheyAreDisabled) {
    const Served served;
    served.door->allow_requests(false);
    const std::pair<Method, const char*> requests[] = {
        {Method::put, "chain"},       {Method::put, "controls"}, {Method::put, "threshold"}, {Method::put, "zones"},
        {Method::put, "event-zones"}, {Method::post, "record"},  {Method::post, "snapshot"}};
    for (const auto& [method, what] : requests) {
        const auto answer = served.ask(method, fmt::format("/api/cameras/door/{}", what), "{}");
        EXPECT_EQ(answer.status, 403) << what;
        EXPECT_NE(answer.body->find("serve --controls"), std::string::npos) << *answer.body;
    }
}

TEST(Site, ServesPictures) {
    const Served served;
    for (const auto* path : {"/door/snapshot.jpg", "/door/snapshot.png", "/?action=snapshot", "/yard/?action=snapshot"})
        EXPECT_EQ(served.get(path).status, 503) << path;
    served.door->show(40);
    served.yard->show(90);
    EXPECT_TRUE(served.get("/door/snapshot.jpg").body->starts_with("\xff\xd8"));
    EXPECT_TRUE(served.get("/door/snapshot.png").body->starts_with("\x89PNG"));
    EXPECT_EQ(served.get("/?action=snapshot").body, served.get("/door/snapshot.jpg").body) << "the first camera";
    EXPECT_EQ(served.get("/yard/?action=snapshot").body, served.get("/yard/snapshot.jpg").body);
    const auto stream = served.get("/yard/stream.mjpeg");
    EXPECT_EQ(stream.content_type, "multipart/x-mixed-replace; boundary=framewire");
    EXPECT_TRUE(stream.feed);
    EXPECT_EQ(served.get("/yard/?action=stream").feed, stream.feed) << "one for all";
    EXPECT_NE(served.get("/?action=stream").feed, stream.feed);
    EXPECT_THROW(served.get("/?action=command"), Error);
    EXPECT_THROW(served.get("/attic/snapshot.jpg"), Error);
}

TEST(Site, ServesVideo) {
    Served served;
    for (const auto* path : {"/door/stream.mp4", "/door/index.m3u8", "/door/hls/1.mp4"})
        EXPECT_THROW(served.get(path), Error) << "no video without --video";
    EXPECT_EQ(served.json("/api/stats")["cameras"]["door"]["video"], nullptr);
    for (const auto& camera : {served.door, served.yard})
        served.parts.videos.push_back(std::make_shared<CameraVideos>(camera, LiveVideoSettings{}));
    served.site = make_site(served.parts);
    served.yard->show(1);
    const auto stream = served.get("/yard/stream.mp4");
    EXPECT_EQ(stream.content_type, "video/mp4");
    EXPECT_TRUE(stream.feed);
    EXPECT_EQ(served.get("/yard/stream.mp4").feed, stream.feed) << "one for all";
    EXPECT_TRUE(served.get("/yard/index.m3u8").feed->is_deferred());
    EXPECT_THROW(served.get("/door/stream.mp4"), Error) << "it has no frame yet";
    EXPECT_EQ(served.json("/api/server")["video"], true);
    EXPECT_EQ(served.json("/api/stats")["cameras"]["door"]["video"]["encoders"], 0);
    EXPECT_NE(served.get("/metrics").body->find("framewire_video_frames_total{camera=\"yard\"}"), std::string::npos);
}

TEST(Site, ServesEvents) {
    const Served served;
    const auto ask = [&](bool websocket, const std::string& camera) {
        Request request{.path = "/api/events"};
        if (!camera.empty()) request.query["camera"] = camera;
        return served.site->match(Method::get, request.path, request.query, websocket).route->handler(request);
    };
    EXPECT_EQ(ask(false, "").content_type, "text/event-stream");
    EXPECT_EQ(ask(false, "").feed, served.events.server_sent(""));
    EXPECT_EQ(ask(false, "door").feed, served.events.server_sent("door"));
    EXPECT_EQ(ask(true, "door").feed, served.events.messages("door"));
    EXPECT_THROW(ask(false, "yard"), Error) << "it has no detector";
    EXPECT_THROW(ask(true, "attic"), Error);
}

TEST(Site, ServesFilesWithEntityTags) {
    const Served served;
    for (const auto& file : embedded_files()) {
        const auto path = file.path == "/index.html"  ? "/"
                          : file.path == "/view.html" ? "/door/view"
                                                      : std::string(file.path);
        EXPECT_FALSE(file.content_type.empty()) << path;
        const auto answer = served.get(path);
        EXPECT_TRUE(*answer.body == file.bytes) << path;
        EXPECT_EQ(answer.headers.at(0).first, "ETag");
        const auto* route = served.site->match(Method::get, path, {}, false).route;
        const auto again = route->handler({.path = path, .if_none_match = answer.headers.at(0).second});
        EXPECT_EQ(again.status, 304) << path;
        EXPECT_FALSE(again.body);
    }
}

// The OpenAPI document lists exactly the routes of the site, with their access.
TEST(Site, MatchesTheOpenApiDocument) {
    const Served served;
    std::set<std::string> files;
    for (const auto& file : embedded_files())
        if (file.path != "/api/openapi.json") files.emplace(file.path == "/index.html" ? "/" : file.path);
    const auto document = served.json("/api/openapi.json");
    std::set<std::string> there, documented;
    for (const auto& route : served.site->routes()) {
        const bool file = files.contains(route.pattern) && route.query.empty();
        if (file || route.websocket) continue;
        const auto method = method_name(route.method);
        there.insert(method + " " + route.pattern);
        ASSERT_TRUE(document["paths"].contains(route.pattern)) << route.pattern << " is not in the document";
        const auto operation = document["paths"][route.pattern][method];
        EXPECT_EQ(operation.contains("security"), route.access == Access::everybody) << route.pattern;
        // A WebRTC session is a way to watch.
        const bool is_session = route.pattern.starts_with("/{camera}/whep");
        const bool has_body = is_session ? route.method == Method::post : route.access == Access::control;
        EXPECT_EQ(operation.contains("requestBody"), has_body) << route.pattern;
        EXPECT_EQ(is_session || route.access == Access::control, route.method != Method::get)
            << "reading changes nothing";
    }
    for (const auto& [path, operations] : document["paths"].items())
        for (const auto& [method, operation] : operations.items()) documented.insert(method + " " + path);
    EXPECT_EQ(there, documented);
    const auto& zones = document["components"]["schemas"]["ZonesRequest"]["properties"]["zones"];
    EXPECT_EQ(zones["maxItems"], max_live_zones);
    const auto& schemas = document["components"]["schemas"];
    for (const auto* name : {"EventZones", "EventZonesRequest"})
        EXPECT_EQ(schemas[name]["properties"]["zones"]["maxItems"], max_event_zones);
    const auto& event_zone = schemas["EventZone"]["properties"];
    EXPECT_EQ(event_zone["polygon"]["maxItems"], max_zone_corners);
    EXPECT_EQ(event_zone["name"]["maxLength"], max_zone_name_bytes);
    EXPECT_EQ(event_zone["loiter"]["maximum"], max_loiter_s);
}

using namespace std::chrono_literals;

struct Watched {
    std::shared_ptr<FakeCamera> camera = std::make_shared<FakeCamera>("door");
    CameraPictures pictures{camera};
    Mjpeg mjpeg{*camera, pictures};
};

class Viewer {
public:
    explicit Viewer(Watched& watched) : client_(watched.mjpeg.feed(), [this] { wake(); }) {}

    // Returns the next part, or an empty string when the feed has ended.
    std::string next_part() {
        for (;;) {
            const auto taken = client_.take();
            if (!taken.parts.empty()) return *taken.parts.back();
            if (taken.ended) return "";
            std::unique_lock lock(mutex_);
            if (!woken_.wait_for(lock, 60s, [&] { return std::exchange(wakes_, false); })) break;
        }
        ADD_FAILURE() << "nothing came";
        return "";
    }

private:
    void wake() {
        {
            const std::lock_guard lock(mutex_);
            wakes_ = true;
        }
        woken_.notify_all();
    }

    std::mutex mutex_;
    std::condition_variable woken_;
    bool wakes_ = false;
    // last member, because its callback may run until it is destroyed
    net::http::FeedClient client_;
};

std::unique_ptr<Viewer> watch(Watched& watched) { return std::make_unique<Viewer>(watched); }

void wait_until_it_rests(const Watched& watched) {
    ASSERT_TRUE(kit::eventually([&] { return watched.mjpeg.rests(); }));
}

TEST(Mjpeg, SendsEachPictureOnceToEveryClient) {
    Watched watched;
    watched.camera->show(50);
    const auto one = watch(watched), other = watch(watched);
    const auto first = one->next_part();
    EXPECT_TRUE(first.starts_with("--framewire\r\nContent-Type: image/jpeg\r\nContent-Length: "));
    EXPECT_NE(first.find("\r\n\r\n\xff\xd8"), std::string::npos);
    EXPECT_TRUE(first.ends_with("\xff\xd9\r\n"));
    EXPECT_EQ(other->next_part(), first);
    watched.camera->show(200);
    const auto second = one->next_part();
    EXPECT_NE(second, first);
    EXPECT_EQ(other->next_part(), second);
    EXPECT_EQ(watched.camera->pictures_taken(), 2) << "encoded once for all who watch";
}

// A client that connects after a completed request must not see a picture from before that request.
TEST(Mjpeg, StartsNewClientsWithTheNewestPicture) {
    Watched watched;
    watched.camera->show(1);
    const auto one = watch(watched);
    for (std::uint8_t value = 2; value < 40; ++value) {
        SCOPED_TRACE(int{value});
        const auto older = one->next_part();
        watched.camera->show(static_cast<std::uint8_t>(5 * value));
        const auto other = watch(watched);
        EXPECT_NE(other->next_part(), older);
    }
}

TEST(Mjpeg, SleepsWithoutClients) {
    Watched watched;
    wait_until_it_rests(watched);
    for (std::uint8_t value = 1; value < 20; ++value) watched.camera->show(value);
    EXPECT_TRUE(watched.mjpeg.rests());
    EXPECT_EQ(watched.camera->pictures_taken(), 0);
    auto client = watch(watched);
    client->next_part();
    client.reset();
    wait_until_it_rests(watched);
    watched.camera->show(100);
    EXPECT_TRUE(watched.mjpeg.rests());
    EXPECT_EQ(watched.camera->pictures_taken(), 1);
    client = watch(watched);
    client->next_part();
    EXPECT_EQ(watched.camera->pictures_taken(), 2);
}

TEST(Mjpeg, EndsWithItsCamera) {
    auto watched = std::make_unique<Watched>();
    const auto client = watch(*watched);
    watched.reset();
    EXPECT_EQ(client->next_part(), "");
}

TEST(CameraPictures, AreEncodedOncePerVersion) {
    const auto camera = std::make_shared<FakeCamera>("door", Shape{1, 8, 8, 1});
    CameraPictures pictures(camera);
    EXPECT_THROW(pictures.jpeg(), Error);
    camera->show(30);
    const auto jpeg = pictures.jpeg();
    EXPECT_EQ(pictures.jpeg(), jpeg) << "the same bytes in memory";
    EXPECT_TRUE(pictures.png()->starts_with("\x89PNG"));
    EXPECT_EQ(camera->pictures_taken(), 2);
    camera->show(30);
    EXPECT_NE(pictures.jpeg(), jpeg);
}

}  // namespace
}  // namespace framewire::service::web
