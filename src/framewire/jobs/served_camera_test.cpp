#include "framewire/jobs/served_camera.hpp"
#include "framewire/core/buffer.hpp"
#include "framewire/filters/text.hpp"
#include "framewire/jobs/live_testing_testing.hpp"
#include "framewire/jobs/persisted_state.hpp"
#include "framewire/jobs/run.hpp"
#include "framewire/media/media.hpp"
#include "framewire/net/client.hpp"
#include "framewire/plan/chain.hpp"
#include "framewire/plan/privacy_masks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace framewire::jobs {
namespace {

BroadcastOptions camera(const std::string& source) {
    BroadcastOptions options{.input = {.source = source}};
    options.server.stream = "door";
    return options;
}

TEST(ServeCommand, ContainsNonDefaultOptions) {
    EXPECT_EQ(command_of(camera("synth"), ""), "framewire serve -i door=synth");
    auto options = camera("rtsp://me:secret@host/stream");
    options.input.filters = "gray,text='a b'";
    options.input.accepts_control = true;
    options.input.fps = 12.5;
    options.input.start_seconds = 1.5;
    options.input.reconnect = std::chrono::milliseconds(2500);
    options.encoder = {.mode = codec::Mode::bounded, .threshold = 8};
    options.rate = {.bits_per_second = 2e6, .threshold_max = 40};
    options.refine_seconds = 0;
    options.detector = DetectorOptions{.parameters = {.min_area = 99}, .region = std::vector<Zone>{{1, 2, 3, 4}}};
    const auto command = command_of(options, "my state.json");
    EXPECT_EQ(
        command,
        R"(framewire serve -i 'door=rtsp://***@host/stream' -f 'gray,text='\''a b'\''' --start 1.5 --reconnect 2.5)"
        R"( --controls --threshold 8 --mode bounded --max-bitrate 2000000 --threshold-max 40 --refine 0)"
        R"( --rate 12.5 --detect --min-area 99 --roi 1,2,3,4 --state 'my state.json')");
}

TEST(ServeCommand, ContainsTheBackgroundWithItsOptions) {
    const auto command = [](const BackgroundModel& background) {
        auto options = camera("synth");
        options.detector = DetectorOptions{.parameters = {.background = background}};
        return command_of(options, "");
    };
    const std::string serve = "framewire serve -i door=synth --detect";
    EXPECT_EQ(command(AdaptiveParameters{}), serve);
    EXPECT_EQ(command(AdaptiveParameters{.texture = 3, .keep_seconds = 2.5}),
              serve + " --background adaptive:texture=3 --keep 2.5");
    EXPECT_EQ(command(MixtureParameters{.history = 50}), serve + " --method mixture --background mixture:history=50");
    EXPECT_EQ(command(BackgroundImage{"empty room.png"}), serve + " --method report --background 'empty room.png'");
}

TEST(ServeCommand, ContainsTheCurrentChain) {
    const auto switched = [](bool first, bool second) {
        return std::vector<FilterSwitch>{{.text = "gray", .on = first}, {.text = "adjust=gain=2", .on = second}};
    };
    const std::string chain = "gray , adjust=gain=2";
    EXPECT_EQ(chain_in_force(chain, {}, {}), "gray,adjust=gain=2");
    EXPECT_EQ(chain_in_force(chain, switched(false, true), {}), "adjust=gain=2");
    EXPECT_EQ(chain_in_force(chain, switched(true, false), {}), "gray");
    const Adjustment set{.brightness = 15, .contrast = 1.5};
    EXPECT_EQ(chain_in_force(chain, {}, set), "gray,adjust=brightness=15:contrast=1.5");
    EXPECT_EQ(chain_in_force(chain, {}, Adjustment{}), "gray,adjust");
    EXPECT_EQ(chain_in_force("text='a, b',gray", {}, set), "adjust=brightness=15:contrast=1.5,text='a, b',gray");
    EXPECT_EQ(chain_in_force("gaussian=5,fps=10,gray", {}, Adjustment{.brightness = 3}),
              "gaussian=5,fps=10,adjust=brightness=3,gray");
    EXPECT_EQ(chain_in_force("", {}, set), "adjust=brightness=15:contrast=1.5");
}

TEST(ServeCommand, ListsZonesInAComment) {
    auto options = camera("synth");
    options.zones = {{{service::LiveZone::Kind::privacy, {1, 2, 30, 40}}}, {1, 96, 128, 3}};
    EXPECT_EQ(command_of(options, "state.json"), "framewire serve -i door=synth --state state.json");
    const auto command = command_of(options, "");
    EXPECT_NE(command.find("  # zones have no option: privacy 1,2,30,40 (on 128x96)"), std::string::npos) << command;
}

}  // namespace
}  // namespace framewire::jobs

// Tests that control requests which hide or change parts of the picture are visible in the next state, exact to the
// last byte.

namespace framewire::jobs {
namespace {

using namespace std::chrono_literals;

constexpr Shape shape{1, 96, 128, 3};
constexpr service::LiveZone black{service::LiveZone::Kind::privacy, {21, 10, 45, 60}};
constexpr service::LiveZone cells{service::LiveZone::Kind::mosaic, {70, 5, 40, 33}};

/// Serves a loop of a few raw frames of uniform brightness. The person in them differs from the background by less than
/// a threshold of 20.
class ImmediateMasks : public LiveTest {
protected:
    struct Case {
        const char* name;
        codec::Mode mode;
        std::optional<codec::RateLimits> rate{};
        double refine_seconds = 0;
    };
    static std::vector<Case> cases() {
        const codec::RateLimits limits{.bits_per_second = 2e6, .threshold_max = 40};
        return {{"exact", codec::Mode::exact},
                {"lossless", codec::Mode::lossless},
                {"bounded", codec::Mode::bounded},
                {"exact with a bitrate", codec::Mode::exact, limits},
                {"bounded with a bitrate", codec::Mode::bounded, limits},
                {"exact, refined", codec::Mode::exact, {}, 0.1},
                {"bounded, refined", codec::Mode::bounded, {}, 0.1}};
    }

    /// Returns a frame of one gray level with a pattern of 0 to 6 levels and a person that is 12 levels lighter. If
    /// `moves` is true, the person's position changes from frame to frame.
    static Bytes frame(int level, int number, bool moves) {
        Bytes bytes;
        const int left = 30 + (moves ? 3 * number : 0);
        for (int y = 0; y < shape.height; ++y)
            for (int x = 0; x < shape.width; ++x) {
                const bool person = x >= left && x < left + 20 && y >= 14 && y < 64;
                for (int channel = 0; channel < 3; ++channel)
                    bytes.push_back(
                        static_cast<std::uint8_t>(level + (x * 5 + y * 3 + channel) % 7 + (person ? 12 : 0)));
            }
        return bytes;
    }
    CamerasOptions camera_of(int level, bool moves, const Case& of) const {
        constexpr int frames_there = 8;
        Bytes all;
        for (int number = 0; number < frames_there; ++number) {
            const auto bytes = frame(level, number, moves);
            all.insert(all.end(), bytes.begin(), bytes.end());
        }
        const auto path = folder_ / "scene.bgr";
        write_file(path, all.data(), all.size());
        auto served = options(of.mode, 20);
        auto& camera = served.cameras[0];
        camera.input.source = fmt::format("raw:{}:size={}x{}:fps={}", path, shape.width, shape.height, fps);
        camera.input.loop = true;
        camera.rate = of.rate;
        camera.refine_seconds = of.refine_seconds;
        return served;
    }

    /// Returns how many bytes of the zone are not black.
    static int not_black(const HostView<const std::uint8_t>& picture) {
        int bytes = 0;
        const auto& area = black.area;
        for (int y = area.y; y < area.y + area.height; ++y)
            for (int i = 3 * area.x; i < 3 * (area.x + area.width); ++i) bytes += picture.row(0, y)[i] != 0;
        return bytes;
    }
    static Bytes picture_of(const service::LiveCamera& camera) {
        const auto picture = camera.picture();
        return picture ? bytes_of(std::as_const(picture->image).view()) : Bytes();
    }
    static Bytes hidden(Bytes bytes, const std::vector<service::LiveZone>& zones) {
        std::vector<Zone> mosaic, privacy;
        for (const auto& zone : zones) {
            if (zone.kind == service::LiveZone::Kind::mosaic) mosaic.push_back(zone.area);
            if (zone.kind == service::LiveZone::Kind::privacy) privacy.push_back(zone.area);
        }
        PrivacyMasks(mosaic, privacy, shape).run(HostView<std::uint8_t>(bytes.data(), shape));
        return bytes;
    }
    static Bytes brighter(Bytes bytes, int by) {
        for (auto& byte : bytes) byte = static_cast<std::uint8_t>(std::clamp(byte + by, 0, 255));
        return bytes;
    }
};

FRAMEWIRE_ON_EVERY_BACKEND(ImmediateMasks);

TEST_P(ImmediateMasks, NextPictureHidesExactlyTheZones) {
    for (const auto& of : cases())
        for (const int level : {0, 120, 230}) {
            SCOPED_TRACE(fmt::format("{}, level {}", of.name, level));
            const Serving serving(camera_of(level, false, of));
            auto& camera = serving.camera();
            net::Client viewer(serving.address());
            for (int states = 0; states < 3; ++states) ASSERT_TRUE(viewer.next());
            serving.wait_for_frames(3);
            const auto captured = frame(level, 0, false);
            for (const auto& zones :
                 std::vector<std::vector<service::LiveZone>>{{black}, {black, cells}, {cells}, {}}) {
                camera.set_zones(zones);
                const auto version = camera.picture_version();
                EXPECT_EQ(picture_of(camera), hidden(captured, zones));
                while (viewer.state().version < version) ASSERT_TRUE(viewer.next());
                EXPECT_EQ(bytes_of(viewer.picture()), hidden(captured, zones));
            }
        }
}

// Even if something moves in the zone, it is invisible from the first state with the mask on.
TEST_P(ImmediateMasks, ZonesStayHiddenInEveryState) {
    for (const auto& of : cases())
        for (const int level : {0, 120, 230}) {
            SCOPED_TRACE(fmt::format("{}, level {}", of.name, level));
            const Serving serving(camera_of(level, true, of));
            auto& camera = serving.camera();
            net::Client viewer(serving.address());
            for (int states = 0; states < 10; ++states) ASSERT_TRUE(viewer.next());
            std::atomic<std::uint64_t> answered = 0;
            const std::jthread request([&] {
                camera.set_zones({black});
                answered = camera.picture_version();
            });
            bool is_hidden = false;
            for (int states = 0; states < (kit::at_length() ? 300 : 30);) {
                ASSERT_TRUE(viewer.next());
                if (answered > 0) ++states;
                const int seen = not_black(viewer.picture());
                if (is_hidden || (answered > 0 && viewer.state().version >= answered)) {
                    ASSERT_EQ(seen, 0);
                }
                is_hidden = is_hidden || seen == 0;
            }
            EXPECT_EQ(not_black(std::as_const(camera.picture()->image).view()), 0);
        }
}

TEST_P(ImmediateMasks, ShowsChangesBelowTheThreshold) {
    for (const auto& of : cases()) {
        SCOPED_TRACE(of.name);
        const Serving serving(camera_of(60, false, of));
        auto& camera = serving.camera();
        const net::Client viewer(serving.address());
        // enough frames for the refinement, if it is on
        serving.wait_for_frames(of.refine_seconds > 0 ? 40 : 3);
        const auto captured = frame(60, 0, false);
        camera.control(Adjustment{.brightness = 15});
        EXPECT_EQ(picture_of(camera), brighter(captured, 15));
        camera.control(Adjustment{.brightness = 16});
        EXPECT_EQ(picture_of(camera), brighter(captured, 16));
        camera.control(Adjustment{});
        EXPECT_EQ(picture_of(camera), captured);
        camera.set_chain("adjust=brightness=9");
        EXPECT_EQ(picture_of(camera), brighter(captured, 9));
        camera.control(service::FilterRequest{1, false});
        EXPECT_EQ(picture_of(camera), captured);
        camera.control(service::FilterRequest{1, true});
        EXPECT_EQ(picture_of(camera), brighter(captured, 9));
    }
}

// `noise` compares a frame with the previous one, in which the zone was still visible.
TEST_P(ImmediateMasks, FiltersForgetHiddenPixels) {
    auto served = camera_of(120, false, cases()[0]);
    served.cameras[0].input.filters = "noise=threshold=5";
    const Serving serving(served);
    auto& camera = serving.camera();
    net::Client viewer(serving.address());
    for (int states = 0; states < 5; ++states) ASSERT_TRUE(viewer.next());
    std::atomic<std::uint64_t> answered = 0;
    const std::jthread request([&] {
        camera.set_zones({black});
        answered = camera.picture_version();
    });
    while (answered == 0 || viewer.state().version < answered + 3) {
        ASSERT_TRUE(viewer.next());
        ASSERT_EQ(not_black(viewer.picture()), 0);
    }
}

// A frame that a change of the rate repeats must be filtered again.
TEST_P(ImmediateMasks, HidesZonesInRepeatedFrames) {
    auto served = camera_of(120, false, cases()[0]);
    served.cameras[0].input.filters = "flip=horizontal,flip=horizontal,fps=400";
    const Serving serving(served);
    auto& camera = serving.camera();
    serving.wait_for_frames(4);
    camera.set_zones({black});
    EXPECT_EQ(picture_of(camera), hidden(frame(120, 0, false), {black}));
}

TEST_P(ImmediateMasks, RespondsOnceTheRequestIsInForce) {
    const Serving serving(camera_of(60, false, cases()[0]));
    net::Client viewer(serving.address());
    ASSERT_TRUE(viewer.next());
    const auto camera_controls = viewer.remote_control();
    ASSERT_TRUE(camera_controls);
    camera_controls->request("adjust brightness=15");
    // The answer to the viewer arrives after the state in which the request is in force.
    while (camera_controls->state().find("\"brightness\":15") == std::string::npos) ASSERT_TRUE(viewer.next());
    EXPECT_EQ(picture_of(serving.camera()), brighter(frame(60, 0, false), 15));
}

// --- random requests ---

class RandomRequests : public ImmediateMasks {
protected:
    int below(int end) {
        seed_ = seed_ * 6364136223846793005u + 1442695040888963407u;
        return static_cast<int>((seed_ >> 33) % static_cast<std::uint64_t>(end));
    }
    std::uint64_t seed_ = 1;
};

FRAMEWIRE_ON_EVERY_BACKEND(RandomRequests);

// Model-based test: after each completed request, the settings and the next state must reflect it.
TEST_P(RandomRequests, AreInForceWhenTheResponseArrives) {
    const Serving serving(camera_of(60, false, cases()[0]));
    auto& camera = serving.camera();
    net::Client viewer(serving.address(), {.reconnect = 60s, .follows_size = true});
    const std::jthread watching([&](const std::stop_token& stop) {
        while (!stop.stop_requested() && viewer.next()) {
        }
    });
    serving.wait_for_frames(1);
    const auto captured = frame(60, 0, false);
    std::vector<service::LiveZone> zones;
    Adjustment adjustment;
    std::string chain;
    std::array<bool, 2> on{true, true};
    int threshold = 20;
    auto mode = codec::Mode::exact;
    // true if the picture has been exact since the last change of what it shows
    bool is_exact = false;
    const int requests = kit::at_length() ? 4000 : 40;
    for (int request = 0; request < requests; ++request) {
        SCOPED_TRACE(request);
        switch (below(6)) {
            case 0: {
                zones.clear();
                for (int zone = below(3); zone > 0; --zone)
                    zones.push_back({below(2) ? service::LiveZone::Kind::privacy : service::LiveZone::Kind::mosaic,
                                     {below(60), below(40), 1 + below(60), 1 + below(50)}});
                const bool is_new = camera.state().zones != zones;
                camera.set_zones(zones);
                is_exact = is_exact || is_new;
                break;
            }
            case 1:
                adjustment.brightness = below(30) - 15;
                camera.control(adjustment);
                is_exact = true;
                break;
            case 2:
                chain = below(2) ? "flip=horizontal,flip=vertical" : "";
                camera.set_chain(chain);
                on = {true, true};
                is_exact = true;
                if (!chain.empty())
                    for (std::size_t filter = 0; filter < 2; ++filter)
                        on[filter] = camera.state().controls.filters.at(filter).on;
                break;
            case 3:
                if (chain.empty()) break;
                on[0] = !on[0];
                camera.control(service::FilterRequest{1, on[0]});
                is_exact = true;
                break;
            case 4:
                if (mode == codec::Mode::lossless) break;
                threshold = below(30);
                // otherwise the stream restarts with another bound
                is_exact = is_exact && threshold <= camera.state().threshold_max;
                camera.set_threshold(threshold, {});
                break;
            default: {
                constexpr std::array modes{codec::Mode::exact, codec::Mode::bounded, codec::Mode::lossless};
                mode = modes[static_cast<std::size_t>(below(3))];
                camera.set_threshold({}, mode);
                is_exact = false;
            }
        }
        const auto state = camera.state();
        ASSERT_EQ(state.zones, zones);
        ASSERT_EQ(state.controls.adjustment, adjustment);
        ASSERT_EQ(state.chain, chain);
        if (!chain.empty()) {
            ASSERT_EQ(state.controls.filters.at(0).on, on[0]);
        }
        ASSERT_EQ(state.mode, mode);
        ASSERT_EQ(state.threshold, mode == codec::Mode::lossless ? 0 : threshold);
        auto expected = hidden(captured, zones);
        const auto move = [&](const std::function<std::size_t(int y, int x)>& from) {
            const auto before = expected;
            for (int y = 0; y < shape.height; ++y)
                for (int x = 0; x < shape.width; ++x)
                    for (std::size_t channel = 0; channel < 3; ++channel)
                        expected[3 * static_cast<std::size_t>(y * shape.width + x) + channel] =
                            before[3 * from(y, x) + channel];
        };
        if (!chain.empty() && on[0])
            move([](int y, int x) { return static_cast<std::size_t>(y * shape.width + shape.width - 1 - x); });
        if (!chain.empty() && on[1])
            move([](int y, int x) { return static_cast<std::size_t>((shape.height - 1 - y) * shape.width + x); });
        expected = brighter(std::move(expected), adjustment.brightness);
        const auto seen = picture_of(camera);
        ASSERT_EQ(seen.size(), expected.size());
        int far = 0;
        for (std::size_t at = 0; at < seen.size(); ++at) far = std::max(far, std::abs(seen[at] - expected[at]));
        ASSERT_LE(far, is_exact ? 0 : state.threshold);
    }
}

// Simultaneous requests for different settings must not undo each other.
TEST_P(RandomRequests, SimultaneousRequestsAllTakeEffect) {
    auto served = camera_of(60, false, cases()[0]);
    served.cameras[0].input.filters = "gray=channels=3,flip=horizontal";
    served.live.state_path = folder_ / "state.json";
    const Serving serving(served);
    auto& camera = serving.camera();
    serving.wait_for_frames(1);
    const int rounds = kit::at_length() ? 300 : 6;
    for (int number = 0; number < rounds; ++number) {
        SCOPED_TRACE(number);
        const int round = number % 6;
        const bool even = round % 2 == 0;
        const std::vector<service::LiveZone> zones{even ? black : cells};
        {
            std::vector<std::jthread> requests;
            requests.emplace_back([&] { camera.set_threshold(5 + round, {}); });
            requests.emplace_back([&] { camera.set_threshold({}, even ? codec::Mode::bounded : codec::Mode::exact); });
            requests.emplace_back([&] { camera.control(service::FilterRequest{1, !even}); });
            requests.emplace_back([&] { camera.control(service::FilterRequest{2, !even}); });
            requests.emplace_back([&] { camera.set_zones(zones); });
            const auto adjust = [&](const auto& change) {
                camera.control_by([&](Adjustment now) -> service::ControlRequest {
                    change(now);
                    return now;
                });
            };
            requests.emplace_back([=] { adjust([=](Adjustment& now) { now.brightness = round; }); });
            requests.emplace_back([=] { adjust([=](Adjustment& now) { now.contrast = 1 + 0.25 * round; }); });
        }
        const auto state = camera.state();
        EXPECT_EQ(state.threshold, 5 + round);
        EXPECT_EQ(state.mode, even ? codec::Mode::bounded : codec::Mode::exact);
        EXPECT_EQ(state.controls.filters.at(0).on, !even);
        EXPECT_EQ(state.controls.filters.at(1).on, !even);
        EXPECT_EQ(state.zones, zones);
        EXPECT_EQ(state.controls.adjustment.brightness, round);
        EXPECT_EQ(state.controls.adjustment.contrast, 1 + 0.25 * round);
        // Settings are persisted before the requests are answered.
        const auto kept = read_file(served.live.state_path);
        const std::string text(kept.begin(), kept.end());
        EXPECT_NE(text.find(fmt::format("\"threshold\": {}", 5 + round)), std::string::npos) << text;
    }
}

TEST_P(RandomRequests, InvalidRequestsChangeNothing) {
    const Serving serving(camera_of(60, false, cases()[0]));
    auto& camera = serving.camera();
    serving.wait_for_frames(1);
    const auto before = camera.state();
    EXPECT_FALSE(refusal([&] { camera.set_chain("crop=900:900"); }).empty());
    EXPECT_EQ(camera.state().chain, before.chain);
    EXPECT_EQ(camera.state().command, before.command);
}

// The camera has not yet been available.
TEST_P(RandomRequests, AreRejectedBeforeTheCameraIsAvailable) {
    auto served = options();
    ServedCamera camera(served.cameras[0], served.live, {}, std::make_shared<Statistics>());
    for (const std::function<void()>& request :
         std::vector<std::function<void()>>{[&] { camera.set_chain("gray"); }, [&] { camera.set_threshold(3, {}); },
                                            [&] { camera.set_threshold({}, codec::Mode::bounded); },
                                            [&] { camera.set_zones({}); }, [&] { camera.control(Adjustment{}); }})
        EXPECT_NE(refusal(request, ErrorCode::config).find("not available yet"), std::string::npos);
    EXPECT_EQ(camera.settings(), LiveSettings{});
}

// A full disk ends the recording. The camera still accepts requests, and the job reports the error at its end.
TEST_P(RandomRequests, AreAcceptedAfterAFullDisk) {
    auto served = camera_of(60, true, cases()[0]);
    const auto path = folder_ / "full.fwd";
    std::filesystem::create_symlink("/dev/full", path);
    served.cameras[0].record = path;
    served.job.replace = true;
    served.cameras[0].refine_seconds.reset();
    std::stop_source stop;
    served.job.stop = stop.get_token();
    CamerasJob job(served);
    std::jthread running([&] { EXPECT_EQ(error_of([&] { job.run(); }), ErrorCode::io); });
    auto& camera = *job.live().front();
    Serving::until([&] { return camera.picture_version() > 2; });
    for (const auto mode : {codec::Mode::bounded, codec::Mode::exact}) {
        camera.set_threshold({}, mode);
        EXPECT_EQ(camera.state().mode, mode);
        EXPECT_TRUE(camera.state().up);
    }
    camera.set_chain("scale=64:48");
    EXPECT_EQ(camera.state().shape.width, 64);
    stop.request_stop();
    running.join();
}

using namespace std::chrono_literals;
using Live = LiveTest;

FRAMEWIRE_ON_EVERY_BACKEND(Live);

bool is_gray(HostView<const std::uint8_t> picture) {
    const auto* bytes = picture.data();
    for (std::int64_t at = 0; at < picture.shape().bytes(); at += 3)
        if (bytes[at] != bytes[at + 1] || bytes[at] != bytes[at + 2]) return false;
    return true;
}

TEST_P(Live, ChangesTheChainWithoutDisconnectingViewers) {
    const Serving serving(options());
    auto& camera = serving.camera();
    net::Client viewer(serving.address());
    for (int frame = 0; frame < 5; ++frame) ASSERT_TRUE(viewer.next());
    EXPECT_FALSE(is_gray(viewer.picture()));
    camera.set_chain("gray=channels=3, gaussian=3");
    while (!is_gray(viewer.picture())) ASSERT_TRUE(viewer.next());
    EXPECT_EQ(viewer.counts().reconnections, 0);
    const auto state = camera.state();
    EXPECT_EQ(state.chain, "gray=channels=3, gaussian=3");
    ASSERT_EQ(state.controls.filters.size(), 2u);
    EXPECT_TRUE(state.up);
    EXPECT_TRUE(state.may_be_set);
    EXPECT_EQ(state.source_shape, (Shape{1, 96, 128, 3}));
    EXPECT_EQ(state.rate, fps);

    // A filter that was off stays off if the new chain contains it too.
    camera.control(service::FilterRequest{1, false});
    camera.set_chain("median=3,gray=channels=3");
    while (is_gray(viewer.picture())) ASSERT_TRUE(viewer.next());
    EXPECT_TRUE(camera.state().controls.filters[0].on);
    EXPECT_FALSE(camera.state().controls.filters[1].on);
    EXPECT_NE(camera.state().command.find("-f median=3 "), std::string::npos) << camera.state().command;

    EXPECT_NE(refusal([&] { camera.set_chain("grey"); }).find("did you mean 'gray'?"), std::string::npos);
    EXPECT_NE(refusal([&] { camera.set_chain("crop=900:900"); }).find("crop"), std::string::npos);
    for (const auto* font : {"/etc/passwd", "./a", "secret.ttf", "Secret.OTF"}) {
        const auto chain = fmt::format("gray,text=a:font={}", font);
        EXPECT_NE(refusal([&] { camera.set_chain(chain); }).find("a font family"), std::string::npos) << chain;
    }
    EXPECT_EQ(camera.state().chain, "median=3,gray=channels=3") << "nothing changed";
}

// Returns the steps of the plan that viewers are shown, such as "gray [BGR]".
std::vector<std::string> steps_of(const service::LiveCameraState& state) {
    if (!state.plan) return {"no plan"};
    std::vector<std::string> steps;
    for (const auto& [operation, format, reason] : state.plan->steps)
        steps.push_back(fmt::format("{} [{}]{}", operation, format, reason.empty() ? "" : " " + reason));
    return steps;
}

// The source has planes, so that the format of a filter depends on the chain and on the masks.
TEST_P(Live, ShowsThePlanInForce) {
    using Steps = std::vector<std::string>;
    const auto clip = folder_ / "clip.y4m";
    RunJob({.job = job(), .input = {.source = camera()}, .output = clip + ":pixels=yuv420p:range=limited"}).run();
    auto served = options();
    served.cameras[0].input.source = clip;
    served.cameras[0].input.loop = true;
    served.cameras[0].input.fps = fps;
    served.cameras[0].input.filters = "gaussian=5";
    const Serving serving(served);
    auto& camera = serving.camera();
    serving.wait_for_frames(1);
    const Steps on_planes{"gaussian=5 [4:2:0]", "convert [4:2:0 to BGR] the output takes images"};
    ASSERT_EQ(steps_of(camera.state()), on_planes);
    EXPECT_EQ(camera.state().plan->backend, GetParam() == Backend::cuda ? "cuda" : "cpu");

    camera.set_chain("gaussian=5,median=3");
    const Steps with_median{"gaussian=5 [4:2:0]", "convert [4:2:0 to BGR] median needs colours", "median=3 [BGR]"};
    EXPECT_EQ(steps_of(camera.state()), with_median);
    camera.control(service::FilterRequest{2, false});
    EXPECT_EQ(steps_of(camera.state()), on_planes);

    const service::LiveZone mask{service::LiveZone::Kind::privacy, {10, 10, 20, 20}};
    camera.set_zones({mask});
    EXPECT_EQ(steps_of(camera.state()),
              (Steps{"convert [4:2:0 to BGR] privacy masks need colours", "gaussian=5 [BGR]"}));
    // Another size needs another job, which begins with the mask.
    camera.set_chain("scale=64:48");
    EXPECT_EQ(steps_of(camera.state()),
              (Steps{"convert [4:2:0 to BGR] privacy masks need colours", "scale=64:48 [BGR]"}));
    camera.set_zones({});
    EXPECT_EQ(steps_of(camera.state()),
              (Steps{"scale=64:48 [4:2:0]", "convert [4:2:0 to BGR] the output takes images"}));

    camera.set_chain("");
    EXPECT_EQ(steps_of(camera.state()), Steps{});
}

TEST_P(Live, RejectsAChainThatExceedsThePixelLimit) {
    auto limited = options();
    limited.cameras[0].input.max_pixels = 1'000'000;
    const Serving serving(limited);
    auto& camera = serving.camera();
    serving.wait_for_frames(1);
    for (const auto* chain : {"scale=16384:16384", "scale=16384:62,scale=128:96", "pad=4000:4000",
                              "gray=channels=1,scale=1001:1000,scale=128:96"}) {
        const auto words = refusal([&] { camera.set_chain(chain); });
        EXPECT_NE(words.find("--max-pixels allows 1000000"), std::string::npos) << chain << ": " << words;
    }
    EXPECT_EQ(camera.state().chain, "") << "nothing changed";
    EXPECT_TRUE(camera.state().up);
    camera.set_chain("scale=1000:1000,scale=128:96");
    EXPECT_EQ(camera.state().chain, "scale=1000:1000,scale=128:96");
}

TEST_P(Live, RejectsAChainThatNeedsTooMuchMemoryOrTime) {
    auto limited = options();
    limited.cameras[0].input.max_memory_bytes = 200'000'000;
    {
        const Serving serving(limited);
        serving.wait_for_frames(1);
        const auto words = refusal([&] { serving.camera().set_chain("scale=2000:1000"); });
        EXPECT_NE(words.find("MB of memory; --max-memory allows 200 MB"), std::string::npos) << words;
        EXPECT_EQ(serving.camera().state().chain, "");
    }
    limited.cameras[0].input.max_memory_bytes = 1'000'000'000'000;
    std::string many = "scale=4000:3000";
    for (int filter = 0; filter < 60; ++filter) many += ",median=255";
    const Serving serving(limited);
    serving.wait_for_frames(1);
    EXPECT_NE(refusal([&] { serving.camera().set_chain(many); }).find("s per frame"), std::string::npos);
}

TEST_P(Live, RejectsACameraThatExceedsALimit) {
    auto limited = options();
    limited.cameras[0].input.filters = "scale=2000:1000";
    limited.cameras[0].input.max_memory_bytes = 200'000'000;
    EXPECT_NE(refusal([&] { CamerasJob job(limited); }).find("MB of memory"), std::string::npos);
    limited.cameras[0].input.max_memory_bytes.reset();
    limited.cameras[0].input.filters = "scale=8193:8192";
    EXPECT_NE(refusal([&] { CamerasJob job(limited); }).find("--max-pixels allows 67108864"), std::string::npos);
    limited.cameras[0].input.filters.clear();
    limited.cameras[0].input.max_pixels = 128 * 96 - 1;
    EXPECT_THROW(CamerasJob{limited}, Error) << "the source itself";
}

// Requested chains are searched for parameters that name files. There is exactly one such parameter.
TEST(RequestedChains, OnlyTheFontParameterCanNameAFile) {
    for (const auto& filter : filter_registry())
        for (const auto& parameter : filter.parameters)
            if (parameter.type == ParameterInfo::Type::text && parameter.help.find("file") != parameter.help.npos) {
                EXPECT_EQ(parameter.name, "font") << filter.name;
            }
    EXPECT_TRUE(names_font_file("fonts/a"));
    EXPECT_TRUE(names_font_file("A.Ttf"));
    EXPECT_FALSE(names_font_file("DejaVu Sans:bold"));
    EXPECT_FALSE(names_font_file(""));
}

TEST_P(Live, ReconnectsViewersAfterAFrameSizeChange) {
    const Serving serving(options());
    auto& camera = serving.camera();
    net::Client viewer(serving.address(), {.reconnect = 60s, .follows_size = true});
    ASSERT_TRUE(viewer.next());
    camera.control(Adjustment{.brightness = 30});
    const auto version = camera.picture_version();
    camera.set_chain("scale=64:48,fps=25");
    while (viewer.info().shape != Shape{1, 48, 64, 3}) ASSERT_TRUE(viewer.next());
    Serving::until([&] { return camera.state().shape == Shape{1, 48, 64, 3} && camera.picture_version() > version; });
    const auto picture = camera.picture();
    ASSERT_TRUE(picture);
    EXPECT_EQ(picture->image.shape(), (Shape{1, 48, 64, 3}));
    EXPECT_GT(picture->version, version);
    EXPECT_EQ(camera.state().rate, 25);
    EXPECT_EQ(camera.state().controls.adjustment.brightness, 30);
    EXPECT_GE(camera.viewers().viewers_total, 2) << "those of the stream before are counted";
    camera.set_chain("");
    Serving::until([&] { return camera.state().shape == Shape{1, 96, 128, 3}; });
}

// Whatever threshold is requested, no byte is off by more than the threshold signalled with its picture.
TEST_P(Live, AppliesThresholdsFromTheNextFrame) {
    const auto camera_source = open_source(source());
    HostImage captured(camera_source->info().shape);
    FrameTime captured_time{.index = -1};
    const Serving serving(options(codec::Mode::exact, 20));
    auto& camera = serving.camera();
    net::Client viewer(serving.address(), {.reconnect = 60s, .follows_size = true});
    const auto see_until = [&](int threshold) {
        do {
            ASSERT_TRUE(viewer.next());
            const auto frame = static_cast<std::int64_t>(viewer.state().frame);
            while (captured_time.index < frame) ASSERT_TRUE(camera_source->read(captured.view(), captured_time));
            const auto seen = bytes_of(viewer.picture());
            int far = 0;
            for (std::size_t at = 0; at < seen.size(); ++at)
                far = std::max(far, std::abs(seen[at] - captured.view().data()[at]));
            ASSERT_LE(far, viewer.threshold());
        } while (viewer.threshold() != threshold);
    };
    see_until(20);
    camera.set_threshold(5, {});
    see_until(5);
    EXPECT_EQ(viewer.info().threshold, 20) << "its last message stays in force";
    EXPECT_EQ(viewer.counts().reconnections, 0);
    camera.set_threshold(12, {});
    see_until(12);
    EXPECT_EQ(viewer.counts().reconnections, 0);
    camera.set_threshold(40, {});
    see_until(40);
    EXPECT_EQ(viewer.info().threshold, 40) << "a stream of its own says so";
    camera.set_threshold({}, codec::Mode::bounded);
    while (viewer.info().mode != codec::Mode::bounded) ASSERT_TRUE(viewer.next());
    see_until(40);
    EXPECT_NE(refusal([&] { camera.set_threshold(255, {}); }).find("254"), std::string::npos);
    EXPECT_NE(refusal([&] { camera.set_threshold(3, codec::Mode::lossless); }).find("lossless"), std::string::npos);
    EXPECT_EQ(camera.state().threshold, 40);
    EXPECT_EQ(camera.state().mode, codec::Mode::bounded);
}

TEST_P(Live, HidesZonesInEveryOutput) {
    auto hidden = options();
    // `compare` shows the original frame as well
    hidden.cameras[0].input.filters = "compare";
    const Serving serving(hidden);
    auto& camera = serving.camera();
    serving.wait_for_frames(2);
    const std::vector<service::LiveZone> zones{{service::LiveZone::Kind::privacy, {10, 20, 30, 16}},
                                               {service::LiveZone::Kind::mosaic, {64, 0, 16, 16}},
                                               {service::LiveZone::Kind::detect, {0, 0, 5, 5}}};
    camera.set_zones(zones);
    EXPECT_EQ(camera.state().zones, zones);
    serving.wait_for_frames(20);
    const auto across = camera.state().shape.width;
    const auto picture = camera.picture();
    ASSERT_TRUE(picture);
    const auto view = std::as_const(picture->image).view();
    for (int x = 0; x < across; x += 128) {
        for (int y = 20; y < 36; ++y)
            EXPECT_TRUE(std::all_of(view.row(0, y) + 3 * (x + 10), view.row(0, y) + 3 * (x + 40),
                                    [](auto byte) { return byte == 0; }))
                << x << " " << y;
        for (int byte = 0; byte < 3 * 16; ++byte)
            EXPECT_EQ(view.row(0, 7)[3 * (x + 64) + byte], view.row(0, 0)[3 * (x + 64) + byte % 3]);
    }
    EXPECT_EQ(serving.camera().state().source_shape.width, 128);

    const auto refused = [&](const service::LiveZone& zone) { return refusal([&] { camera.set_zones({zone}); }); };
    EXPECT_NE(refused({service::LiveZone::Kind::privacy, {120, 0, 9, 9}}).find("128x96"), std::string::npos);
    refused({service::LiveZone::Kind::mosaic, {0, 0, 0, 9}});
    refused({service::LiveZone::Kind::detect, {-1, 0, 4, 9}});
    refusal([&] { camera.set_zones(std::vector<service::LiveZone>(65, zones[0])); });
    EXPECT_EQ(camera.state().zones, zones) << "nothing changed";
}

TEST_P(Live, CountsObjectsThatTouchAZone) {
    auto detecting = options();
    detecting.cameras[0].detector = DetectorOptions{.parameters = {.background = FirstFrame{}, .min_area = 20}};
    const Serving serving(detecting);
    auto& camera = serving.camera();
    net::Client viewer(serving.address());
    const Zone left{0, 0, 64, 96};
    const auto is_left = [&](const Component& object) { return object.x < left.width; };
    while (std::ranges::all_of(viewer.objects(), is_left)) ASSERT_TRUE(viewer.next());
    EXPECT_TRUE(camera.state().detects);
    camera.set_zones({{service::LiveZone::Kind::detect, left}});
    // frames that were in flight
    for (int frame = 0; frame < 10; ++frame) ASSERT_TRUE(viewer.next());
    int seen = 0;
    for (int frame = 0; frame < 100; ++frame) {
        ASSERT_TRUE(viewer.next());
        EXPECT_TRUE(std::ranges::all_of(viewer.objects(), is_left));
        seen += static_cast<int>(viewer.objects().size());
    }
    EXPECT_GT(seen, 0);
}

// Collects the events in zones of a camera.
class ZoneEventsSeen final : public service::SeenObjects {
public:
    void seen(const service::SeenFrame& frame) noexcept override {
        const std::lock_guard lock(mutex_);
        const auto overlap = [](const Component& object, const auto& box) {
            return object.x < box.x + box.width && box.x < object.x + object.width && object.y < box.y + box.height &&
                   box.y < object.y + object.height;
        };
        for (const auto& event : frame.events) {
            all_.push_back(event);
            const auto is_there = [&](const Component& object) { return overlap(object, event); };
            misplaced_ += event.type == ZoneEvent::Type::enter && std::ranges::none_of(frame.objects, is_there) ? 1 : 0;
        }
        for (const auto& track : frame.tracks) {
            if (track.object < 0) continue;
            const auto object = static_cast<std::size_t>(track.object);
            misplaced_ += object >= frame.objects.size() || !overlap(frame.objects[object], track) ? 1 : 0;
            tracks_.insert(track.id);
        }
    }
    void zones_changed(const ZoneSet& zones, std::span<const int> inside) noexcept override {
        const std::lock_guard lock(mutex_);
        std::string now;
        for (std::size_t zone = 0; zone < inside.size(); ++zone)
            now += zones.zones()[zone]->name + (inside[zone] > 0 ? "+" : "-");
        changes_.push_back(now);
    }
    std::vector<ZoneEvent> all() const {
        const std::lock_guard lock(mutex_);
        return all_;
    }
    // Returns the zones at each change, with + if they are occupied and - otherwise.
    const std::vector<std::string>& changes() const { return changes_; }

    // Returns the number of objects that entered a zone where viewers see no object, and of tracks that are elsewhere
    // than their objects.
    int misplaced() const { return misplaced_; }
    // Returns the tracks that had an object.
    const std::set<std::int64_t>& tracks() const { return tracks_; }

private:
    mutable std::mutex mutex_;
    std::vector<ZoneEvent> all_;
    std::vector<std::string> changes_;
    std::set<std::int64_t> tracks_;
    int misplaced_ = 0;
};

const ZoneSet& whole_picture(const char* name) {
    static std::map<std::string, ZoneSet> sets;
    const EventZone zone{.name = name, .points = {{0, 0}, {1, 0}, {1, 1}, {0, 1}}, .enter = true, .leave = true};
    return sets.try_emplace(name, std::span(&zone, 1)).first->second;
}

// Zones that a request replaces are left, and so are all zones at the end, so that each enter has its leave.
TEST(BroadcastZones, EachEnterHasItsLeave) {
    ZoneEventsSeen seen;
    BroadcastOptions options{.input = {.source = "synth:size=128x96:fps=100:frames=200:noise=3:objects=4:seed=7"}};
    options.server.listen = {"127.0.0.1", 0};
    options.detector = DetectorOptions{.parameters = {.background = FirstFrame{}, .min_area = 20}};
    options.input.filters = "scale=w=512:h=384";
    options.seen = &seen;
    options.event_zones = whole_picture("first");
    BroadcastJob job(options);
    std::jthread changes([&] {
        if (kit::eventually([&] { return !seen.all().empty(); })) job.set_event_zones(whole_picture("second"));
    });
    job.run();
    changes.join();
    std::map<std::pair<std::string, std::int64_t>, int> inside;
    for (const auto& event : seen.all()) {
        const int now = inside[{event.zone->name, event.track}] += event.type == ZoneEvent::Type::enter ? 1 : -1;
        EXPECT_TRUE(now == 0 || now == 1);
    }
    std::set<std::string> names;
    for (const auto& [key, count] : inside) {
        EXPECT_EQ(count, 0) << key.first << " " << key.second;
        EXPECT_TRUE(seen.tracks().contains(key.second)) << "zones have the tracks of the frames";
        names.insert(key.first);
    }
    EXPECT_EQ(names, (std::set<std::string>{"first", "second"}));
    const auto& reported = seen.changes();
    ASSERT_GE(reported.size(), 4u);
    EXPECT_EQ(reported[0], "first-");
    EXPECT_EQ(reported[1], "first+");
    EXPECT_EQ(reported.back(), "second-");
    EXPECT_EQ(std::ranges::adjacent_find(reported), reported.end()) << "only changes are reported";
    EXPECT_EQ(seen.misplaced(), 0) << "boxes are in pixels of the frames that viewers get";
}

TEST_P(Live, EventZonesAreReplacedAndShown) {
    auto detecting = options();
    detecting.cameras[0].detector = DetectorOptions{.parameters = {.background = FirstFrame{}, .min_area = 20}};
    detecting.cameras[0].event_zones = whole_picture("asked");
    detecting.cameras[0].event_zones_path = "zones.json";
    const Serving serving(detecting);
    auto& camera = serving.camera();
    serving.wait_for_frames(1);
    EXPECT_EQ(camera.state().event_zones, whole_picture("asked"));
    EXPECT_NE(camera.state().command.find(" --zones zones.json"), std::string::npos);
    camera.set_event_zones(whole_picture("other"));
    EXPECT_EQ(camera.state().event_zones, whole_picture("other"));
    EXPECT_EQ(camera.state().command.find(" --zones zones.json"), std::string::npos);
    EXPECT_NE(camera.state().command.find("other"), std::string::npos) << camera.state().command;
    camera.set_event_zones({});
    EXPECT_TRUE(camera.state().event_zones.empty());
}

TEST_P(Live, EventZonesNeedADetector) {
    const Serving serving(options());
    serving.wait_for_frames(1);
    const auto words = refusal([&] { serving.camera().set_event_zones(whole_picture("asked")); }, ErrorCode::config);
    EXPECT_NE(words.find("--detect"), std::string::npos) << words;
    EXPECT_TRUE(serving.camera().state().event_zones.empty());
}

TEST_P(Live, EventZonesArePersisted) {
    auto kept = options();
    kept.cameras[0].detector = DetectorOptions{};
    kept.live.state_path = folder_ / "state.json";
    {
        const Serving serving(kept);
        serving.wait_for_frames(1);
        serving.camera().set_event_zones(whole_picture("kept"));
        EXPECT_EQ(read_state(kept.live.state_path).at("door").event_zones, whole_picture("kept"));
    }
    const Serving serving(kept);
    serving.wait_for_frames(1);
    EXPECT_EQ(serving.camera().state().event_zones, whole_picture("kept"));
}

// Each frame of the file is within the threshold of consecutive camera frames, although static regions are refined for
// viewers before and after the recording.
TEST_P(Live, RecordsCompleteFramesWhileServing) {
    const auto captured = read_video(source() + ":frames=900").frames;
    for (const auto mode : {codec::Mode::lossless, codec::Mode::exact, codec::Mode::bounded}) {
        SCOPED_TRACE(to_string(mode));
        auto recorded = options(mode, 9);
        if (mode != codec::Mode::lossless) recorded.cameras[0].refine_seconds = 0.1;
        const Serving serving(recorded);
        auto& camera = serving.camera();
        std::optional<net::Client> viewer(serving.address());
        for (int frame = 0; frame < 20; ++frame) ASSERT_TRUE(viewer->next());
        const auto name = camera.start_recording();
        EXPECT_TRUE(name.starts_with("door-2")) << name;
        EXPECT_TRUE(name.ends_with(".fwd")) << name;
        EXPECT_NE(refusal([&] { camera.start_recording(); }).find("already"), std::string::npos);
        for (int frame = 0; frame < 40; ++frame) ASSERT_TRUE(viewer->next());
        const auto recording = camera.state().recording;
        ASSERT_TRUE(recording);
        EXPECT_EQ(recording->file, name);
        EXPECT_GT(recording->seconds, 0.2);
        camera.stop_recording();
        EXPECT_FALSE(camera.state().recording);
        for (int frame = 0; frame < 20; ++frame) ASSERT_TRUE(viewer->next()) << "the stream goes on";
        refusal([&] { camera.stop_recording(); });

        const auto file = read_video(folder_ / name).frames;
        ASSERT_GT(file.size(), 10u);
        const int within = mode == codec::Mode::lossless ? 0 : 9;
        const auto is_near = [&](const Bytes& a, const Bytes& b) {
            return std::ranges::equal(a, b, [&](int x, int y) { return std::abs(x - y) <= within; });
        };
        const auto begins_at = [&](std::size_t first) {
            for (std::size_t at = 0; at < file.size(); ++at)
                if (first + at >= captured.size() || !is_near(file[at], captured[first + at])) return false;
            return true;
        };
        bool found = false;
        for (std::size_t first = 0; first < captured.size() && !found; ++first) found = begins_at(first);
        EXPECT_TRUE(found);
    }
}

TEST_P(Live, SavesSnapshotsOfWhatViewersSee) {
    const Serving serving(options());
    auto& camera = serving.camera();
    serving.wait_for_frames(1);
    const std::set<std::string> names{camera.save_snapshot(), camera.save_snapshot()};
    EXPECT_EQ(names.size(), 2u) << "none is written over";
    const auto captured = read_video(source() + ":frames=200").frames;
    for (const auto& name : names) {
        const auto picture = read_video(folder_ / name).frames;
        ASSERT_EQ(picture.size(), 1u);
        EXPECT_NE(std::ranges::find(captured, picture[0]), captured.end());
    }
}

TEST_P(Live, ExplainsWhyARequestIsRefused) {
    auto fixed = options();
    fixed.cameras[0].input.accepts_control = false;
    fixed.live.record_folder.clear();
    const Serving serving(fixed);
    auto& camera = serving.camera();
    EXPECT_FALSE(camera.state().may_be_set);
    for (const std::function<void()>& request : std::vector<std::function<void()>>{
             [&] { camera.set_chain("gray"); }, [&] { camera.set_threshold(3, {}); }, [&] { camera.set_zones({}); },
             [&] { camera.control(Adjustment{}); }, [&] { camera.start_recording(); }, [&] { camera.save_snapshot(); }})
        EXPECT_NE(refusal(request, ErrorCode::config).find("--controls"), std::string::npos);
    fixed.cameras[0].input.accepts_control = true;
    const Serving without_folder(fixed);
    without_folder.wait_for_frames(1);
    EXPECT_NE(refusal([&] { without_folder.camera().start_recording(); }, ErrorCode::config).find("--record-dir"),
              std::string::npos);
}

TEST_P(Live, ReportsFileErrorsWithoutTheFolder) {
    auto lost = options();
    lost.live.record_folder = folder_ / "my films";
    std::filesystem::create_directory(lost.live.record_folder);
    const Serving serving(lost);
    serving.wait_for_frames(1);
    std::filesystem::remove(lost.live.record_folder);
    for (const std::function<void()>& request : std::vector<std::function<void()>>{
             [&] { serving.camera().start_recording(); }, [&] { serving.camera().save_snapshot(); }}) {
        const auto words = refusal(request, ErrorCode::io);
        EXPECT_EQ(words.find("films"), std::string::npos) << words;
        EXPECT_NE(words.find(" door-2"), std::string::npos) << words;
    }
}

TEST_P(Live, RejectsRequestsToRelays) {
    const Serving server(options());
    auto relay = options();
    relay.cameras[0].input.source = to_string(server.address());
    const Serving serving(relay);
    auto& camera = serving.camera();
    serving.wait_for_frames(2);
    const auto state = camera.state();
    EXPECT_TRUE(state.up);
    EXPECT_FALSE(state.may_be_set);
    EXPECT_EQ(state.shape, (Shape{1, 96, 128, 3}));
    EXPECT_EQ(state.mode, codec::Mode::lossless);
    EXPECT_FALSE(state.plan) << "the other server filters";
    ASSERT_TRUE(camera.picture());
    EXPECT_NE(refusal([&] { camera.set_chain("gray"); }, ErrorCode::config).find("forwarded"), std::string::npos);
}

}  // namespace
}  // namespace framewire::jobs
