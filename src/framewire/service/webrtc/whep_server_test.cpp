#include "framewire/service/webrtc/whep_server.hpp"
#include "framewire/core/error.hpp"
#include "framewire/service/rtsp/glib_pointers.hpp"
#include "framewire/service/video/moving_camera_testing.hpp"
#include "framewire/service/webrtc/webrtc_offer.hpp"
#include "kit/eventually.hpp"

#include <fmt/format.h>
#include <gst/app/gstappsink.h>
#include <gtest/gtest.h>
#define GST_USE_UNSTABLE_API
#include <gst/webrtc/webrtc.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace framewire::service {
namespace {

using namespace std::chrono_literals;
using kit::eventually;
using net::http::FeedClient;
using net::http::Response;
using web::FakeCamera;

// A client: webrtcbin, which receives H.264.
class WebrtcClient {
public:
    WebrtcClient() {
        gst_init(nullptr, nullptr);
        pipeline_.reset(static_cast<GstElement*>(gst_object_ref_sink(gst_pipeline_new(nullptr))));
        webrtc_ = gst_element_factory_make("webrtcbin", nullptr);
        gst_util_set_object_arg(G_OBJECT(webrtc_), "bundle-policy", "max-bundle");
        gst_bin_add(GST_BIN(pipeline_.get()), webrtc_);
        GObject* ice = nullptr;
        g_object_get(webrtc_, "ice-agent", &ice, nullptr);
        gboolean added = FALSE;
        g_signal_emit_by_name(ice, "add-local-ip-address", "127.0.0.1", &added);
        g_object_unref(ice);
        auto* caps = gst_caps_from_string(
            "application/"
            "x-rtp,media=video,encoding-name=H264,payload=96,clock-rate=90000,packetization-mode=(string)1");
        GstWebRTCRTPTransceiver* transceiver = nullptr;
        g_signal_emit_by_name(webrtc_, "add-transceiver", GST_WEBRTC_RTP_TRANSCEIVER_DIRECTION_RECVONLY, caps,
                              &transceiver);
        gst_caps_unref(caps);
        gst_object_unref(transceiver);
        g_signal_connect(webrtc_, "pad-added", G_CALLBACK(on_pad), this);
        gst_element_set_state(pipeline_.get(), GST_STATE_PLAYING);
    }
    ~WebrtcClient() { gst_element_set_state(pipeline_.get(), GST_STATE_NULL); }
    WebrtcClient(const WebrtcClient&) = delete;
    WebrtcClient& operator=(const WebrtcClient&) = delete;

    std::string offer() {
        auto* promise = gst_promise_new();
        g_signal_emit_by_name(webrtc_, "create-offer", nullptr, promise);
        gst_promise_wait(promise);
        GstWebRTCSessionDescription* offer = nullptr;
        gst_structure_get(gst_promise_get_reply(promise), "offer", GST_TYPE_WEBRTC_SESSION_DESCRIPTION, &offer,
                          nullptr);
        gst_promise_unref(promise);
        auto* set = gst_promise_new();
        g_signal_emit_by_name(webrtc_, "set-local-description", offer, set);
        gst_promise_wait(set);
        gst_promise_unref(set);
        const auto text = taken_text(gst_sdp_message_as_text(offer->sdp));
        gst_webrtc_session_description_free(offer);
        return text;
    }

    void take_answer(const std::string& text) {
        GstSDPMessage* message = nullptr;
        ASSERT_EQ(gst_sdp_message_new_from_text(text.c_str(), &message), GST_SDP_OK) << text;
        auto* answer = gst_webrtc_session_description_new(GST_WEBRTC_SDP_TYPE_ANSWER, message);
        auto* set = gst_promise_new();
        g_signal_emit_by_name(webrtc_, "set-remote-description", answer, set);
        gst_promise_wait(set);
        gst_promise_unref(set);
        gst_webrtc_session_description_free(answer);
    }

    // Number of pictures and of keyframes so far, and width of the last one.
    int pictures() const { return pictures_; }
    int width() const { return width_; }
    int keyframes() const { return keyframes_; }

    // Requests a keyframe by RTCP.
    void request_keyframe() {
        const ObjectPointer<GstPad> pad(static_cast<GstPad*>(gst_object_ref(sink_pad_.load())));
        auto* wanted = gst_structure_new("GstForceKeyUnit", "all-headers", G_TYPE_BOOLEAN, TRUE, nullptr);
        gst_pad_push_event(pad.get(), gst_event_new_custom(GST_EVENT_CUSTOM_UPSTREAM, wanted));
    }

    // Returns true once no picture has come for as long as five take.
    bool rests() const {
        return eventually([this] {
            const int before = pictures_;
            std::this_thread::sleep_for(200ms);
            return pictures_ == before;
        });
    }

private:
    static void on_pad(GstElement*, GstPad* pad, gpointer data) {
        auto& self = *static_cast<WebrtcClient*>(data);
        if (GST_PAD_DIRECTION(pad) != GST_PAD_SRC) return;
        auto* unpack = gst_element_factory_make("rtph264depay", nullptr);
        auto* parse = gst_element_factory_make("h264parse", nullptr);
        auto* sink = gst_element_factory_make("appsink", nullptr);
        g_object_set(sink, "emit-signals", TRUE, "sync", FALSE, nullptr);
        g_signal_connect(sink, "new-sample", G_CALLBACK(on_sample), data);
        gst_bin_add_many(GST_BIN(self.pipeline_.get()), unpack, parse, sink, nullptr);
        gst_element_link_many(unpack, parse, sink, nullptr);
        for (auto* element : {sink, parse, unpack}) gst_element_sync_state_with_parent(element);
        auto* to = gst_element_get_static_pad(unpack, "sink");
        gst_pad_link(pad, to);
        self.sink_pad_ = to;
        gst_object_unref(to);
    }

    static GstFlowReturn on_sample(GstElement* sink, gpointer data) {
        auto& self = *static_cast<WebrtcClient*>(data);
        auto* sample = gst_app_sink_pull_sample(GST_APP_SINK(sink));
        if (!sample) return GST_FLOW_EOS;
        ++self.pictures_;
        self.keyframes_ += !GST_BUFFER_FLAG_IS_SET(gst_sample_get_buffer(sample), GST_BUFFER_FLAG_DELTA_UNIT);
        int width = 0;
        gst_structure_get_int(gst_caps_get_structure(gst_sample_get_caps(sample), 0), "width", &width);
        self.width_ = width;
        gst_sample_unref(sample);
        return GST_FLOW_OK;
    }

    ObjectPointer<GstElement> pipeline_;
    GstElement* webrtc_ = nullptr;
    std::atomic<GstPad*> sink_pad_ = nullptr;
    std::atomic<int> pictures_ = 0, keyframes_ = 0, width_ = 0;
};

// A camera and its server.
struct WhepServing {
    explicit WhepServing(WhepOptions options = {}) : server((options.address = "127.0.0.1", options)) {}

    std::shared_ptr<MovingCamera> camera = std::make_shared<MovingCamera>("door");
    std::shared_ptr<CameraVideos> videos = std::make_shared<CameraVideos>(camera, LiveVideoSettings{.gop = 600});
    WhepServer server;

    Response open(const std::string& offer, const std::string& peer = "127.0.0.1") {
        return server.open(videos->variant({}), {.method = net::http::Method::post,
                                                 .path = "/door/whep",
                                                 .body = offer,
                                                 .content_type = "application/sdp",
                                                 .peer = peer + ":5",
                                                 .peer_key = peer});
    }
    // Returns the body of a response once it is complete; empty if there is none.
    static std::string body(const Response& response) {
        FeedClient client(response.feed, [] {});
        std::string text;
        eventually([&] {
            const auto taken = client.take();
            if (!taken.parts.empty()) text = *taken.parts.front();
            return taken.ended || !text.empty();
        });
        return text;
    }
    static std::string id(const Response& response) {
        const auto& location = response.headers.at(0).second;
        return location.substr(location.rfind('/') + 1);
    }
    // Connects the client. Returns the id of its session.
    std::string connect(WebrtcClient& client) {
        const auto response = open(client.offer());
        client.take_answer(body(response));
        return id(response);
    }
};

std::ptrdiff_t open_files() { return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {}); }

TEST(WhepServer, SendsVideoFromAKeyframeOn) {
    WhepServing serving({.base_path = "/cams"});
    WebrtcClient client;
    const auto response = serving.open(client.offer());
    EXPECT_EQ(response.status, 201);
    EXPECT_EQ(response.content_type, "application/sdp");
    EXPECT_EQ(response.headers.at(0),
              std::pair(std::string("Location"), "/cams/door/whep/" + WhepServing::id(response)));
    EXPECT_EQ(WhepServing::id(response).size(), 32u);
    const auto answer = WhepServing::body(response);
    EXPECT_NE(answer.find("a=sendonly\r\n"), std::string::npos) << answer;
    EXPECT_NE(answer.find("127.0.0.1"), std::string::npos) << answer;
    EXPECT_EQ(answer.find(" TCP "), std::string::npos) << answer;
    client.take_answer(answer);
    ASSERT_TRUE(eventually([&] { return client.pictures() > 10; })) << answer;
    EXPECT_GE(client.keyframes(), 1);
    EXPECT_EQ(serving.server.statistics(), (WhepStatistics{.sessions = 1, .connected = 1, .sessions_total = 1}));
    EXPECT_EQ(serving.videos->statistics().encoders, 1);
}

TEST(WhepServer, SendsAKeyframeOnRequest) {
    WhepServing serving;
    WebrtcClient client;
    serving.connect(client);
    ASSERT_TRUE(eventually([&] { return client.keyframes() > 0; }));
    std::this_thread::sleep_for(CameraVideo::keyframe_pause);
    const auto begin = std::chrono::steady_clock::now();
    const int before = client.keyframes();
    client.request_keyframe();
    ASSERT_TRUE(eventually([&] { return client.keyframes() > before; }));
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 10s) << "without a request, the next one is 24 s later";
}

TEST(WhepServer, ContinuesWhenTheSizeChanges) {
    WhepServing serving;
    WebrtcClient client;
    serving.connect(client);
    ASSERT_TRUE(eventually([&] { return client.width() == 128; }));
    serving.camera->grow();
    EXPECT_TRUE(eventually([&] { return client.width() == 192; })) << client.width();
    EXPECT_EQ(serving.server.sessions_of("door"), 1);
}

TEST(WhepServer, EndsASessionOnDelete) {
    WhepServing serving;
    WebrtcClient client;
    const auto id = serving.connect(client);
    ASSERT_TRUE(eventually([&] { return client.pictures() > 0; }));
    EXPECT_THROW(serving.server.close("yard", id), Error);
    EXPECT_THROW(serving.server.close("door", "x"), Error);
    EXPECT_EQ(serving.server.close("door", id).status, 200);
    EXPECT_THROW(serving.server.close("door", id), Error);
    EXPECT_EQ(serving.server.statistics().sessions, 0);
    EXPECT_TRUE(eventually([&] { return serving.videos->statistics().subscribers == 0; }));
    EXPECT_TRUE(client.rests());
}

TEST(WhepServer, EndsASessionWhoseClientLeaves) {
    WhepServing serving({.silence_deadline = 8s});
    auto client = std::make_unique<WebrtcClient>();
    serving.connect(*client);
    ASSERT_TRUE(eventually([&] { return client->pictures() > 0; }));
    std::this_thread::sleep_for(9s);
    EXPECT_EQ(serving.server.statistics().connected, 1) << "it has sent reports";
    client.reset();
    EXPECT_TRUE(eventually([&] { return serving.server.statistics().sessions == 0; }));
    EXPECT_TRUE(eventually([&] { return serving.videos->statistics().subscribers == 0; }));
}

TEST(WhepServer, EndsASessionThatDoesNotConnect) {
    WhepServing serving({.connect_deadline = 500ms});
    WebrtcClient client;
    EXPECT_NE(WhepServing::body(serving.open(client.offer())), "");
    EXPECT_TRUE(eventually([&] { return serving.server.statistics().sessions == 0; }));
    EXPECT_TRUE(eventually([&] { return serving.videos->statistics().subscribers == 0; }));
}

TEST(WhepServer, RequiresTheCertificateOfTheOffer) {
    WhepServing serving;
    WebrtcClient client;
    auto offer = client.offer();
    const auto at = offer.find("a=fingerprint:sha-256 ") + 22;
    offer[at] = offer[at] == '0' ? '1' : '0';
    client.take_answer(WhepServing::body(serving.open(offer)));
    EXPECT_TRUE(eventually([&] { return serving.server.statistics().sessions == 0; }));
    EXPECT_EQ(serving.server.statistics().connected, 0);
    EXPECT_EQ(client.pictures(), 0);
}

TEST(WhepServer, LimitsSessions) {
    WhepServing serving({.sessions_limit = 3, .connecting_limit_per_peer = 2});
    WebrtcClient client;
    const auto offer = client.offer();
    EXPECT_EQ(serving.open(offer, "10.0.0.1").status, 201);
    EXPECT_EQ(serving.open(offer, "10.0.0.1").status, 201);
    EXPECT_EQ(serving.open(offer, "10.0.0.1").status, 503) << "two of its sessions are not connected";
    EXPECT_EQ(serving.open(offer, "10.0.0.2").status, 201);
    EXPECT_EQ(serving.open(offer, "10.0.0.3").status, 503) << "there are three sessions";
    EXPECT_EQ(serving.server.statistics().refused, 2);
}

TEST(WhepServer, RefusesOffersAndCamerasWithoutPictures) {
    WhepServing serving;
    for (const auto* text : {"", "v=0", "garbage\r\n", "v=0\r\nm=audio 9 UDP/TLS/RTP/SAVPF 0\r\na=mid:0\r\n"})
        EXPECT_THROW(serving.open(text), Error) << text;
    WebrtcClient client;
    const auto empty = std::make_shared<FakeCamera>("door");
    EXPECT_THROW(serving.server.open(std::make_shared<CameraVideo>(empty, LiveVideoSettings()),
                                     {.path = "/door/whep", .body = client.offer()}),
                 Error);
    EXPECT_EQ(serving.server.statistics(), WhepStatistics());
}

TEST(WhepServer, UsesThePortsOfTheOptions) {
    WhepServing serving({.ports = std::pair(27410, 27411)});
    std::vector<std::unique_ptr<WebrtcClient>> clients;
    for (int number = 0; number < 2; ++number) {
        clients.push_back(std::make_unique<WebrtcClient>());
        const auto answer = WhepServing::body(serving.open(clients.back()->offer()));
        EXPECT_NE(answer.find(" 127.0.0.1 2741"), std::string::npos) << answer;
    }
    WebrtcClient third;
    EXPECT_EQ(serving.open(third.offer()).status, 503) << "no port is free";
}

TEST(WhepServer, EndsWithItsSessions) {
    auto serving = std::make_unique<WhepServing>();
    WebrtcClient client, waiting;
    serving->connect(client);
    const auto response = serving->open(waiting.offer());
    ASSERT_TRUE(eventually([&] { return client.pictures() > 0; }));
    serving.reset();
    EXPECT_TRUE(client.rests());
}

TEST(WhepServer, LeavesNothingBehind) {
    WhepServing serving;
    const auto visit = [&] {
        WebrtcClient client;
        const auto id = serving.connect(client);
        EXPECT_TRUE(eventually([&] { return client.pictures() > 0; }));
        serving.server.close("door", id);
    };
    visit();
    const auto before = open_files();
    for (int number = 0; number < 10; ++number) visit();
    EXPECT_TRUE(eventually([&] { return open_files() <= before + 4; })) << open_files() << " instead of " << before;
}

}  // namespace
}  // namespace framewire::service
