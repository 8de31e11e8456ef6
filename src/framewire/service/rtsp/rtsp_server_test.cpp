#include "framewire/service/rtsp/rtsp_server.hpp"
#include "framewire/core/error.hpp"
#include "framewire/net/testing/test_tcp.hpp"
#include "framewire/service/rtsp/token_auth.hpp"
#include "framewire/service/video/moving_camera_testing.hpp"
#include "kit/eventually.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace framewire::service {
namespace {

using namespace std::chrono_literals;
using net::testing::RawConnection;
using web::FakeCamera;

const std::string token = "correct-horse-battery-staple";

// A camera that shows noise, which needs many bytes.
class NoisyCamera : public MovingCamera {
public:
    using MovingCamera::MovingCamera;
    std::optional<Picture> picture() const override {
        auto picture = MovingCamera::picture();
        if (!picture) return picture;
        std::minstd_rand random(static_cast<unsigned>(picture->version));
        for (int y = 0; y < picture->image.shape().height; ++y)
            for (int x = 0; x < picture->image.shape().row_bytes(); ++x)
                picture->image.view().row(0, y)[x] = static_cast<std::uint8_t>(random() >> 8);
        return picture;
    }
};

struct Reply {
    int status = 0;
    std::map<std::string, std::string> fields{};
    std::string body{};
};

// A client that speaks RTSP over one connection, with RTP interleaved.
class RtspClient {
public:
    explicit RtspClient(const RtspServer& server, int receive_buffer_bytes = 0, std::uint8_t from = 1)
        : url_(server.url("door")),
          connection_(RawConnection::connect(server.address().port, receive_buffer_bytes, from)) {}

    void use_token(const std::string& password) { password_ = password; }
    RawConnection& connection() { return connection_; }
    bool send(const std::string& text) {
        return connection_.send({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
    }

    // Sends a request and returns its reply. RTP that arrives before it is skipped.
    Reply ask(const std::string& method, const std::string& url, const std::string& fields = "") {
        auto reply = ask_once(method, url, fields);
        if (reply.status != 401 || password_.empty() || !nonce_.empty()) return reply;
        const auto& challenge = reply.fields["WWW-Authenticate"];
        const auto begin = challenge.find("nonce=\"") + 7;
        nonce_ = challenge.substr(begin, challenge.find('"', begin) - begin);
        return ask_once(method, url, fields);
    }

    // Sets up and plays a stream interleaved. Returns the status of the first request that fails, or 200.
    int play(const std::string& url) {
        const auto described = ask("DESCRIBE", url, "Accept: application/sdp\r\n");
        sdp_ = described.body;
        if (described.status != 200) return described.status;
        const auto base = described.fields.at("Content-Base");
        const auto control = value_of(sdp_, "a=control:stream");
        auto setup = ask("SETUP", base + "stream" + control, "Transport: RTP/AVP/TCP;unicast;interleaved=0-1\r\n");
        if (setup.status != 200) return setup.status;
        session_ = setup.fields["Session"].substr(0, setup.fields["Session"].find(';'));
        return ask("PLAY", url, "Range: npt=0-\r\n").status;
    }
    int play() { return play(url_); }

    const std::string& url() const { return url_; }
    const std::string& sdp() const { return sdp_; }

    // Returns the next interleaved packet of the RTP channel without its header; empty at the deadline or the end.
    net::Bytes packet(std::chrono::milliseconds deadline = 5s) {
        for (;;) {
            const auto head = exactly(4, deadline);
            if (head.size() < 4 || head[0] != '$') return {};
            auto packet = exactly(static_cast<std::size_t>(head[2]) << 8 | head[3], deadline);
            if (head[1] == 0 && packet.size() > 12) return {packet.begin() + 12, packet.end()};
            if (packet.empty()) return {};
        }
    }

private:
    static std::string value_of(const std::string& text, const std::string& name) {
        const auto begin = text.find(name);
        if (begin == text.npos) return "";
        return text.substr(begin + name.size(), text.find('\r', begin) - begin - name.size());
    }

    net::Bytes exactly(std::size_t count, std::chrono::milliseconds deadline) {
        net::Bytes all(read_ahead_.begin(),
                       read_ahead_.begin() +
                           std::min<std::ptrdiff_t>(std::ssize(read_ahead_), static_cast<std::ptrdiff_t>(count)));
        read_ahead_.erase(read_ahead_.begin(), read_ahead_.begin() + std::ssize(all));
        while (all.size() < count) {
            const auto some = connection_.read(count - all.size(), deadline);
            if (some.empty()) break;
            all.insert(all.end(), some.begin(), some.end());
        }
        return all;
    }

    Reply ask_once(const std::string& method, const std::string& url, const std::string& fields) {
        auto request = fmt::format("{} {} RTSP/1.0\r\nCSeq: {}\r\n{}", method, url, ++sequence_, fields);
        if (!session_.empty()) request += "Session: " + session_ + "\r\n";
        if (!nonce_.empty()) {
            DigestCredentials login{"any", RtspLogins::realm, nonce_, url, ""};
            login.response = digest_response(login, password_, method);
            request +=
                fmt::format(R"(Authorization: Digest username="any", realm="{}", nonce="{}", uri="{}", response="{}")",
                            login.realm, login.nonce, login.uri, login.response);
            request += "\r\n";
        }
        send(request + "\r\n");
        return reply();
    }

    Reply reply() {
        Reply reply;
        std::string head;
        while (!head.ends_with("\r\n\r\n")) {
            const auto one = exactly(1, 25s);
            if (one.empty()) return reply;
            if (head.empty() && one[0] == '$') {
                const auto size = exactly(3, 5s);
                if (size.size() == 3) exactly(static_cast<std::size_t>(size[1]) << 8 | size[2], 5s);
                continue;
            }
            head += static_cast<char>(one[0]);
        }
        reply.status = std::atoi(head.c_str() + std::string("RTSP/1.0 ").size());
        for (auto at = head.find("\r\n") + 2; at + 2 < head.size();) {
            const auto end = head.find("\r\n", at), colon = head.find(": ", at);
            if (colon < end) reply.fields[head.substr(at, colon - at)] = head.substr(colon + 2, end - colon - 2);
            at = end + 2;
        }
        const auto body = exactly(static_cast<std::size_t>(std::atoi(reply.fields["Content-Length"].c_str())), 5s);
        reply.body.assign(body.begin(), body.end());
        return reply;
    }

    std::string url_;
    RawConnection connection_;
    std::string password_, nonce_, session_, sdp_;
    net::Bytes read_ahead_;
    int sequence_ = 0;
};

// A server with the camera `door`.
struct Serving {
    explicit Serving(RtspOptions options = {}, LiveVideoSettings settings = {},
                     std::shared_ptr<MovingCamera> shown = std::make_shared<MovingCamera>("door"))
        : camera(std::move(shown)) {
        if (!options.listen) options.listen = net::Address{"127.0.0.1", 0};
        videos = std::make_shared<CameraVideos>(camera, std::move(settings));
        server = std::make_unique<RtspServer>(options, std::vector{videos});
    }

    std::shared_ptr<MovingCamera> camera;
    std::shared_ptr<CameraVideos> videos;
    std::unique_ptr<RtspServer> server;
};

TEST(RtspServer, PlaysACameraAndEncodesOnlyWhileSomebodyWatches) {
    Serving serving;
    EXPECT_EQ(serving.videos->statistics().subscribers, 0);
    {
        RtspClient client(*serving.server);
        ASSERT_EQ(client.play(), 200);
        EXPECT_NE(client.sdp().find("m=video"), std::string::npos) << client.sdp();
        EXPECT_NE(client.sdp().find("H264/90000"), std::string::npos) << client.sdp();
        EXPECT_NE(client.sdp().find("sprop-parameter-sets="), std::string::npos) << client.sdp();
        for (int packet = 0; packet < 30; ++packet) ASSERT_FALSE(client.packet().empty()) << packet;
        EXPECT_EQ(serving.videos->statistics().subscribers, 1);
        EXPECT_EQ(serving.server->statistics().sessions, 1);
    }
    EXPECT_TRUE(kit::eventually([&] { return serving.videos->statistics().subscribers == 0; }));
    EXPECT_TRUE(kit::eventually([&] { return serving.server->statistics().sessions == 0; }));
    RtspClient again(*serving.server);
    EXPECT_EQ(again.play(), 200);
    EXPECT_FALSE(again.packet().empty());
}

TEST(RtspServer, TwentyClientsShareOneEncoder) {
    Serving serving;
    std::vector<std::unique_ptr<RtspClient>> clients;
    for (int number = 0; number < 20; ++number) {
        clients.push_back(std::make_unique<RtspClient>(*serving.server));
        ASSERT_EQ(clients.back()->play(), 200) << number;
    }
    for (auto& client : clients) EXPECT_FALSE(client->packet().empty());
    EXPECT_EQ(serving.videos->statistics().subscribers, 1);
    EXPECT_EQ(serving.videos->statistics().encoders, 1);
    EXPECT_EQ(serving.server->statistics().sessions, 20);
    EXPECT_EQ(serving.server->statistics().sessions_total, 20);
}

TEST(RtspServer, ServesVariants) {
    Serving serving;
    RtspClient whole(*serving.server), small(*serving.server);
    ASSERT_EQ(small.play(small.url() + "?width=64"), 200);
    ASSERT_EQ(whole.play(), 200);
    EXPECT_NE(whole.sdp(), small.sdp());
    EXPECT_FALSE(small.packet().empty());
    EXPECT_EQ(serving.videos->statistics().encoders, 2);
    EXPECT_EQ(small.ask("DESCRIBE", small.url() + "?width=many").status, 400);
}

TEST(RtspServer, RefusesWhatItDoesNotHave) {
    Serving serving;
    RtspClient client(*serving.server);
    EXPECT_EQ(client.ask("OPTIONS", client.url()).status, 200);
    EXPECT_EQ(client.ask("DESCRIBE", serving.server->url("attic")).status, 404);
    EXPECT_EQ(client.ask("DESCRIBE", serving.server->url("")).status, 404);
    EXPECT_GE(client.ask("ANNOUNCE", client.url(), "Content-Type: application/sdp\r\n").status, 400);
    EXPECT_GE(client.ask("RECORD", client.url()).status, 400);
    // RTP goes only to the address from which the client has connected.
    auto setup = client.ask("SETUP", client.url() + "/stream=0",
                            "Transport: RTP/AVP;unicast;client_port=5000-5001;destination=10.0.0.1\r\n");
    EXPECT_EQ(setup.fields["Transport"].find("10.0.0.1"), std::string::npos) << setup.fields["Transport"];
}

TEST(RtspServer, RefusesACameraWithoutAPicture) {
    const auto camera = std::make_shared<FakeCamera>("door", Shape{1, 48, 64, 3});
    RtspServer server({.listen = net::Address{"127.0.0.1", 0}},
                      {std::make_shared<CameraVideos>(camera, LiveVideoSettings())});
    RtspClient client(server);
    EXPECT_EQ(client.ask("DESCRIBE", client.url()).status, 503);
    camera->show(1);
    EXPECT_EQ(client.play(), 200);
}

TEST(RtspServer, RequiresTheToken) {
    RtspOptions options;
    options.token = token;
    Serving serving(options);
    RtspClient without(*serving.server), wrong(*serving.server, 0, 2), right(*serving.server, 0, 3);
    EXPECT_EQ(without.ask("OPTIONS", without.url()).status, 200);
    for (const auto* method : {"DESCRIBE", "SETUP", "PLAY", "GET_PARAMETER", "TEARDOWN"})
        EXPECT_EQ(without.ask(method, without.url(), "Transport: RTP/AVP/TCP;unicast;interleaved=0-1\r\n").status, 401)
            << method;
    wrong.use_token("not-" + token);
    EXPECT_EQ(wrong.play(), 401);
    right.use_token(token);
    EXPECT_EQ(right.play(), 200);
    EXPECT_FALSE(right.packet().empty());
    EXPECT_EQ(serving.server->statistics().refused, 1);
    EXPECT_EQ(serving.videos->statistics().subscribers, 1);
}

TEST(RtspServer, LocksOutAPeerThatGuesses) {
    RtspOptions options;
    options.token = token;
    Serving serving(options);
    for (int guess = 0; guess < net::Gate::failures_allowed; ++guess) {
        RtspClient client(*serving.server, 0, 2);
        client.use_token("guess-number-" + std::to_string(guess));
        EXPECT_EQ(client.play(), 401);
    }
    RtspClient late(*serving.server, 0, 2), other(*serving.server, 0, 3);
    late.use_token(token);
    EXPECT_EQ(late.play(), 403);
    other.use_token(token);
    EXPECT_EQ(other.play(), 200);
}

TEST(RtspServer, NeedsATokenBeyondLoopback) {
    RtspOptions options;
    options.listen = net::Address{"0.0.0.0", 0};
    EXPECT_THROW(Serving{options}, Error);
    options.open = true;
    EXPECT_NO_THROW(Serving{options});
}

TEST(RtspServer, SaysThatAnAddressIsInUse) {
    Serving serving;
    RtspOptions options;
    options.listen = serving.server->address();
    try {
        const Serving second(options);
        FAIL() << "two servers at one address";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::config);
        EXPECT_NE(std::string(error.what()).find(to_string(*options.listen)), std::string::npos) << error.what();
    }
}

TEST(RtspServer, LimitsSessions) {
    RtspOptions options;
    options.sessions_limit = 2;
    Serving serving(options);
    RtspClient first(*serving.server), third(*serving.server);
    ASSERT_EQ(first.play(), 200);
    {
        RtspClient second(*serving.server);
        ASSERT_EQ(second.play(), 200);
        EXPECT_EQ(third.play(), 503);
    }
    EXPECT_TRUE(kit::eventually([&] { return serving.server->statistics().sessions == 1; }));
    RtspClient fourth(*serving.server);
    EXPECT_EQ(fourth.play(), 200);
}

TEST(RtspServer, ClosesConnectionsThatSetNothingUp) {
    RtspOptions options;
    options.setup_deadline = 1s;
    Serving serving(options);
    RtspClient silent(*serving.server), asking(*serving.server), playing(*serving.server);
    ASSERT_EQ(playing.play(), 200);
    EXPECT_EQ(asking.ask("OPTIONS", asking.url()).status, 200);
    net::Bytes rest;
    EXPECT_TRUE(silent.connection().read_to_the_end(rest, 10s));
    EXPECT_TRUE(asking.connection().read_to_the_end(rest, 10s));
    for (int packet = 0; packet < 30; ++packet) EXPECT_FALSE(playing.packet().empty());
}

// One address cannot use up the connections of others.
TEST(RtspServer, LimitsConnectionsWithoutASession) {
    Serving serving;
    std::vector<std::unique_ptr<RtspClient>> silent;
    for (int number = 0; number < 40; ++number) silent.push_back(std::make_unique<RtspClient>(*serving.server, 0, 2));
    EXPECT_TRUE(kit::eventually([&] { return serving.server->statistics().refused >= 8; }));
    net::Bytes rest;
    EXPECT_TRUE(silent.back()->connection().read_to_the_end(rest, 5s));
    EXPECT_EQ(silent.front()->ask("OPTIONS", silent.front()->url()).status, 200);
    RtspClient other(*serving.server);
    EXPECT_EQ(other.play(), 200);
}

TEST(RtspServer, ContinuesAfterHostileBytes) {
    Serving serving;
    const std::string endless(std::size_t{1} << 20, 'A');
    const std::vector<std::string> texts = {
        "\r\n\r\n\r\n",
        std::string(1000, '\0'),
        "GET / HTTP/1.1\r\nHost: x\r\n\r\n",
        "GET /door HTTP/1.0\r\nx-sessioncookie: a\r\nAccept: application/x-rtsp-tunnelled\r\n\r\n",
        "POST /door HTTP/1.0\r\nx-sessioncookie: b\r\nContent-Length: 32767\r\n\r\n!!!!====\r\n",
        "DESCRIBE rtsp://x/door RTSP/9.9\r\nCSeq: 1\r\n\r\n",
        "DESCRIBE * RTSP/1.0\r\nCSeq: 1\r\n\r\n",
        "DESCRIBE rtsp:/// RTSP/1.0\r\n\r\n",
        "DESCRIBE rtsp://x/../../door/%00 RTSP/1.0\r\nCSeq: 99999999999999999999\r\n\r\n",
        "SETUP rtsp://x/door/stream=0 RTSP/1.0\r\nCSeq: 1\r\nTransport: ,;=,RTP/AVP;client_port=-1-99999999\r\n\r\n",
        "SETUP rtsp://x/door/stream=99 RTSP/1.0\r\nCSeq: 1\r\nTransport: RTP/AVP/TCP;interleaved=0-1\r\n\r\n",
        "SETUP rtsp://x/door/stream=0 RTSP/1.0\r\nCSeq: 1\r\nTransport: RTP/AVP;multicast;destination=8.8.8.8\r\n\r\n",
        "PLAY rtsp://x/door RTSP/1.0\r\nCSeq: 1\r\nSession: 0000\r\nRange: npt=1e999-\r\n\r\n",
        "OPTIONS rtsp://x/door RTSP/1.0\r\nCSeq: 1\r\nContent-Length: 4294967295\r\n\r\n",
        "OPTIONS rtsp://x/door RTSP/1.0\r\nCSeq: 1\r\nContent-Length: -5\r\n\r\nhello",
        "SET_PARAMETER rtsp://x/door RTSP/1.0\r\nCSeq: 1\r\nContent-Length: 2000000\r\n\r\n" + endless,
        "OPTIONS rtsp://x/" + endless + " RTSP/1.0\r\n\r\n",
        "OPTIONS rtsp://x/door RTSP/1.0\r\nAuthorization: Digest " + endless.substr(0, 3000) + "\r\n\r\n",
        "OPTIONS rtsp://x/door RTSP/1.0\r\nAuthorization: Digest username=\"\r\nCSeq: 1\r\n\r\n",
        endless,
        "$" + std::string(3, '\xff') + endless,
        std::string("$\0\0\0$\1\0\4abcd", 12),
    };
    for (const auto& text : texts) {
        RtspClient client(*serving.server);
        client.send(text);
        client.connection().read(4096, 100ms);
        RtspClient cut(*serving.server);
        cut.send(text.substr(0, text.size() / 2));
    }
    RtspClient client(*serving.server);
    EXPECT_EQ(client.play(), 200);
    EXPECT_FALSE(client.packet().empty());
}

// A client that stops reading delays nobody, and is disconnected.
TEST(RtspServer, AClientThatStopsReadingDelaysNobody) {
    LiveVideoSettings settings;
    settings.gop = 1;
    RtspOptions options;
    options.write_deadline = 2s;
    Serving serving(options, settings, std::make_shared<NoisyCamera>("door", Shape{1, 240, 320, 3}));
    RtspClient stuck(*serving.server, 4096), reading(*serving.server);
    ASSERT_EQ(stuck.play(), 200);
    ASSERT_EQ(reading.play(), 200);
    const auto begin = std::chrono::steady_clock::now();
    auto longest = 0ms;
    while (serving.server->statistics().sessions == 2 && std::chrono::steady_clock::now() - begin < 60s) {
        const auto before = std::chrono::steady_clock::now();
        ASSERT_FALSE(reading.packet().empty());
        longest = std::max(
            longest, std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - before));
    }
    EXPECT_EQ(serving.server->statistics().sessions, 1);
    EXPECT_LT(longest, 5s);
    std::printf("disconnected after %.1f s; longest wait of the other client %d ms\n",
                std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(),
                static_cast<int>(longest.count()));
}

// A client that reads all the time, but too slowly, does not fall ever further behind.
TEST(RtspServer, DisconnectsAClientThatIsBehind) {
    LiveVideoSettings settings;
    settings.gop = 1;
    RtspOptions options;
    options.behind_deadline = 2s;
    Serving serving(options, settings, std::make_shared<NoisyCamera>("door", Shape{1, 240, 320, 3}));
    RtspClient slow(*serving.server, 4096), reading(*serving.server);
    ASSERT_EQ(slow.play(), 200);
    ASSERT_EQ(reading.play(), 200);
    const std::jthread other([&](const std::stop_token& stop) {
        while (!stop.stop_requested()) EXPECT_FALSE(reading.packet().empty());
    });
    const auto begin = std::chrono::steady_clock::now();
    while (!slow.connection().read(512, 5s).empty() && std::chrono::steady_clock::now() - begin < 60s)
        std::this_thread::sleep_for(50ms);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 60s);
    EXPECT_TRUE(kit::eventually([&] { return serving.server->statistics().sessions == 1; }));
}

// A client for whom video from before a mask waits is disconnected and gets none of it; one that has read everything
// plays on.
TEST(RtspServer, DropsVideoFromBeforeAMaskThatWaitsForAClient) {
    LiveVideoSettings settings;
    settings.gop = 1;
    const auto camera = std::make_shared<NoisyCamera>("door", Shape{1, 240, 320, 3});
    RtspOptions options;
    options.write_deadline = options.behind_deadline = 60s;
    Serving serving(options, settings, camera);
    RtspClient slow(*serving.server, 4096), reading(*serving.server);
    ASSERT_EQ(slow.play(), 200);
    ASSERT_EQ(reading.play(), 200);
    // About 50 kB per picture, so that the socket buffers of `slow` are full.
    for (const auto begin = serving.videos->statistics().bytes; serving.videos->statistics().bytes < begin + 2'000'000;)
        ASSERT_FALSE(reading.packet().empty());
    // Few pictures come now, so that nothing waits for `reading` however slow this machine is.
    camera->stop_moving();
    constexpr std::size_t most = 1 << 16;
    while (!reading.connection().read(most, 100ms).empty()) {
    }
    camera->show_instead(100);
    std::size_t after = 0;
    for (std::size_t some = 1; some > 0 && after < 200'000; after += some)
        some = reading.connection().read(most, 5s).size();
    EXPECT_GE(after, 200'000U);
    net::Bytes rest;
    EXPECT_TRUE(slow.connection().read_to_the_end(rest, 10s));
    std::printf("the slow client read %zu bytes after the mask\n", rest.size());
    // Its own system had received some; two megabytes waited.
    EXPECT_LT(rest.size(), 100'000u);
    EXPECT_TRUE(kit::eventually([&] { return serving.server->statistics().sessions == 1; }));
}

// A client gets the reply at once, and the next one gets the same.
TEST(RtspServer, RefusesACameraWhoseEncoderFails) {
    LiveVideoSettings settings;
    settings.codec = "h264_no_such_encoder";
    Serving serving({}, settings);
    for (int attempt = 0; attempt < 2; ++attempt) {
        RtspClient client(*serving.server);
        const auto begin = std::chrono::steady_clock::now();
        EXPECT_EQ(client.play(), 503);
        EXPECT_LT(std::chrono::steady_clock::now() - begin, 10s);
        EXPECT_EQ(client.ask("OPTIONS", client.url()).status, 200);
    }
}

// Players take no notice of a new size, so they have to connect again.
TEST(RtspServer, DisconnectsClientsWhenTheSizeChanges) {
    const auto camera = std::make_shared<MovingCamera>("door");
    Serving serving({}, {}, camera);
    RtspClient before(*serving.server);
    ASSERT_EQ(before.play(), 200);
    ASSERT_FALSE(before.packet().empty());
    camera->grow();
    net::Bytes rest;
    EXPECT_TRUE(before.connection().read_to_the_end(rest, 20s));
    RtspClient after(*serving.server);
    ASSERT_EQ(after.play(), 200);
    EXPECT_FALSE(after.packet().empty());
    EXPECT_NE(before.sdp(), after.sdp());
}

// A client that comes while others watch gets a picture at once, although the keyframe with which its stream begins may
// be older than the stream.
TEST(RtspServer, IsNotLateIfTheEncoderRunsAlready) {
    LiveVideoSettings settings;
    settings.gop = 1000;
    Serving serving({}, settings);
    const auto other = serving.videos->variant({});
    const auto subscription = other->subscribe([] {});
    ASSERT_TRUE(subscription->format());
    std::this_thread::sleep_for(300ms);
    RtspClient client(*serving.server);
    ASSERT_EQ(client.play(), 200);
    const auto begin = std::chrono::steady_clock::now();
    for (int packet = 0; packet < 5; ++packet) ASSERT_FALSE(client.packet().empty());
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 1s);
    EXPECT_EQ(serving.videos->statistics().encoders, 1);
}

TEST(RtspServer, DisconnectsClientsWhenItEnds) {
    Serving serving;
    RtspClient client(*serving.server);
    ASSERT_EQ(client.play(), 200);
    ASSERT_FALSE(client.packet().empty());
    serving.camera = nullptr;
    serving.videos = nullptr;
    serving.server = nullptr;
    net::Bytes rest;
    EXPECT_TRUE(client.connection().read_to_the_end(rest));
}

}  // namespace
}  // namespace framewire::service
