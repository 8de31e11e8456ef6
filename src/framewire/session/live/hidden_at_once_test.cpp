// Control requests that hide or change parts of the picture must be visible in the next state, exact to the last byte.
#include "framewire/net/client.hpp"
#include "framewire/pipeline/hidden/hidden_zones.hpp"
#include "framewire/session/live/live_testing.hpp"
#include "framewire/session/live/served_camera.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace framewire::session {
namespace hidden_at_once_test {

using namespace std::chrono_literals;

constexpr Shape shape{1, 96, 128, 3};
constexpr LiveZone black{LiveZone::Kind::privacy, {21, 10, 45, 60}};
constexpr LiveZone cells{LiveZone::Kind::mosaic, {70, 5, 40, 33}};

/// Loops over a few raw frames of uniform brightness. `person` differs by less than a threshold of 20.
class HiddenAtOnce : public LiveTest {
protected:
    struct Case {
        const char* name;
        delta::Mode mode;
        std::optional<delta::RateLimits> rate{};
        double refresh_seconds = 0;
    };
    static std::vector<Case> cases() {
        const delta::RateLimits limits{.bits_per_second = 2e6, .threshold_max = 40};
        return {{"exact", delta::Mode::exact},
                {"lossless", delta::Mode::lossless},
                {"bounded", delta::Mode::bounded},
                {"exact with a bitrate", delta::Mode::exact, limits},
                {"bounded with a bitrate", delta::Mode::bounded, limits},
                {"exact, refined", delta::Mode::exact, {}, 0.1},
                {"bounded, refined", delta::Mode::bounded, {}, 0.1}};
    }

    /// Frames of one grey level with a pattern of +-6, and a figure that is 12 darker or lighter and `moves` from frame
    /// to frame.
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
        camera.refresh_seconds = of.refresh_seconds;
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
    static Bytes picture_of(const LiveCamera& camera) {
        const auto picture = camera.picture();
        return picture ? bytes_of(std::as_const(picture->image).view()) : Bytes();
    }
    static Bytes hidden(Bytes bytes, const std::vector<LiveZone>& zones) {
        std::vector<Zone> mosaic, privacy;
        for (const auto& zone : zones) {
            if (zone.kind == LiveZone::Kind::mosaic) mosaic.push_back(zone.area);
            if (zone.kind == LiveZone::Kind::privacy) privacy.push_back(zone.area);
        }
        HiddenZones(mosaic, privacy, shape).run(HostView<std::uint8_t>(bytes.data(), shape));
        return bytes;
    }
    static Bytes brighter(Bytes bytes, int by) {
        for (auto& byte : bytes) byte = static_cast<std::uint8_t>(std::clamp(byte + by, 0, 255));
        return bytes;
    }
};

FRAMEWIRE_ON_EVERY_BACKEND(HiddenAtOnce);

TEST_P(HiddenAtOnce, ZonesAreExactInTheNextState) {
    for (const auto& of : cases())
        for (const int level : {0, 120, 230}) {
            SCOPED_TRACE(fmt::format("{}, level {}", of.name, level));
            const Serving serving(camera_of(level, false, of));
            auto& camera = serving.camera();
            net::Client viewer(serving.address());
            for (int states = 0; states < 3; ++states) ASSERT_TRUE(viewer.next());
            serving.wait_for_frames(3);
            const auto captured = frame(level, 0, false);
            for (const auto& zones : std::vector<std::vector<LiveZone>>{{black}, {black, cells}, {cells}, {}}) {
                camera.set_zones(zones);
                const auto version = camera.picture_version();
                EXPECT_EQ(picture_of(camera), hidden(captured, zones));
                while (viewer.state().version < version) ASSERT_TRUE(viewer.next());
                EXPECT_EQ(bytes_of(viewer.picture()), hidden(captured, zones));
            }
        }
}

// Whatever moves in the zone, it is invisible from the first state with the mask on.
TEST_P(HiddenAtOnce, ZonesStayHiddenInEveryState) {
    for (const auto& of : cases())
        for (const int level : {0, 120, 230}) {
            SCOPED_TRACE(fmt::format("{}, level {}", of.name, level));
            const Serving serving(camera_of(level, true, of));
            auto& camera = serving.camera();
            net::Client viewer(serving.address());
            for (int states = 0; states < 10; ++states) ASSERT_TRUE(viewer.next());
            std::atomic<std::uint64_t> answered = 0;
            const std::jthread order([&] {
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

TEST_P(HiddenAtOnce, ShowsChangesBelowTheThreshold) {
    for (const auto& of : cases()) {
        SCOPED_TRACE(of.name);
        const Serving serving(camera_of(60, false, of));
        auto& camera = serving.camera();
        const net::Client viewer(serving.address());
        // until it is refined, if refinement is on
        serving.wait_for_frames(of.refresh_seconds > 0 ? 40 : 3);
        const auto captured = frame(60, 0, false);
        camera.control(Adjustment{.brightness = 15});
        EXPECT_EQ(picture_of(camera), brighter(captured, 15));
        camera.control(Adjustment{.brightness = 16});
        EXPECT_EQ(picture_of(camera), brighter(captured, 16));
        camera.control(Adjustment{});
        EXPECT_EQ(picture_of(camera), captured);
        camera.set_chain("adjust=brightness=9");
        EXPECT_EQ(picture_of(camera), brighter(captured, 9));
        camera.control(FilterOrder{1, false});
        EXPECT_EQ(picture_of(camera), captured);
        camera.control(FilterOrder{1, true});
        EXPECT_EQ(picture_of(camera), brighter(captured, 9));
    }
}

// `noise` compares a frame with the previous one, in which the zone was not hidden.
TEST_P(HiddenAtOnce, FiltersForgetHiddenPixels) {
    auto served = camera_of(120, false, cases()[0]);
    served.cameras[0].input.filters = "noise=threshold=5";
    const Serving serving(served);
    auto& camera = serving.camera();
    net::Client viewer(serving.address());
    for (int states = 0; states < 5; ++states) ASSERT_TRUE(viewer.next());
    std::atomic<std::uint64_t> answered = 0;
    const std::jthread order([&] {
        camera.set_zones({black});
        answered = camera.picture_version();
    });
    while (answered == 0 || viewer.state().version < answered + 3) {
        ASSERT_TRUE(viewer.next());
        ASSERT_EQ(not_black(viewer.picture()), 0);
    }
}

// A frame that a change of the rate repeats is filtered again.
TEST_P(HiddenAtOnce, HidesZonesInRepeatedFrames) {
    auto served = camera_of(120, false, cases()[0]);
    served.cameras[0].input.filters = "flip=horizontal,flip=horizontal,fps=400";
    const Serving serving(served);
    auto& camera = serving.camera();
    serving.wait_for_frames(4);
    camera.set_zones({black});
    EXPECT_EQ(picture_of(camera), hidden(frame(120, 0, false), {black}));
}

TEST_P(HiddenAtOnce, AnswersAViewerOnceTheRequestIsInForce) {
    const Serving serving(camera_of(60, false, cases()[0]));
    net::Client viewer(serving.address());
    ASSERT_TRUE(viewer.next());
    const auto panel = viewer.remote_control();
    ASSERT_TRUE(panel);
    panel->order("adjust brightness=15");
    // The answer follows the state in which the request is in force.
    while (panel->state().find("\"brightness\":15") == std::string::npos) ASSERT_TRUE(viewer.next());
    EXPECT_EQ(picture_of(serving.camera()), brighter(frame(60, 0, false), 15));
}

// --- random requests ---

class RandomRequests : public HiddenAtOnce {
protected:
    int below(int end) {
        seed_ = seed_ * 6364136223846793005u + 1442695040888963407u;
        return static_cast<int>((seed_ >> 33) % static_cast<std::uint64_t>(end));
    }
    std::uint64_t seed_ = 1;
};

FRAMEWIRE_ON_EVERY_BACKEND(RandomRequests);

// Model-based test: a completed request must be reflected in the settings and in the next state.
TEST_P(RandomRequests, AreInForceWhenAnswered) {
    const Serving serving(camera_of(60, false, cases()[0]));
    auto& camera = serving.camera();
    net::Client viewer(serving.address(), {.reconnect = 60s, .follows_size = true});
    const std::jthread watching([&](const std::stop_token& stop) {
        while (!stop.stop_requested() && viewer.next()) {
        }
    });
    serving.wait_for_frames(1);
    const auto captured = frame(60, 0, false);
    std::vector<LiveZone> zones;
    Adjustment adjustment;
    std::string chain;
    std::array<bool, 2> on{true, true};
    int threshold = 20;
    auto mode = delta::Mode::exact;
    // since the last change of the visible picture
    bool is_exact = false;
    const int requests = kit::at_length() ? 4000 : 40;
    for (int request = 0; request < requests; ++request) {
        SCOPED_TRACE(request);
        switch (below(6)) {
            case 0: {
                zones.clear();
                for (int zone = below(3); zone > 0; --zone)
                    zones.push_back({below(2) ? LiveZone::Kind::privacy : LiveZone::Kind::mosaic,
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
                camera.control(FilterOrder{1, on[0]});
                is_exact = true;
                break;
            case 4:
                if (mode == delta::Mode::lossless) break;
                threshold = below(30);
                // otherwise the stream restarts
                is_exact = is_exact && threshold <= camera.state().threshold_max;
                camera.set_threshold(threshold, {});
                break;
            default: {
                constexpr std::array modes{delta::Mode::exact, delta::Mode::bounded, delta::Mode::lossless};
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
        ASSERT_EQ(state.threshold, mode == delta::Mode::lossless ? 0 : threshold);
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

// Requests for different settings that are made simultaneously must not undo each other.
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
        const std::vector<LiveZone> zones{even ? black : cells};
        {
            std::vector<std::jthread> requests;
            requests.emplace_back([&] { camera.set_threshold(5 + round, {}); });
            requests.emplace_back([&] { camera.set_threshold({}, even ? delta::Mode::bounded : delta::Mode::exact); });
            requests.emplace_back([&] { camera.control(FilterOrder{1, !even}); });
            requests.emplace_back([&] { camera.control(FilterOrder{2, !even}); });
            requests.emplace_back([&] { camera.set_zones(zones); });
            const auto adjust = [&](const auto& change) {
                camera.control_by([&](Adjustment now) -> ControlOrder {
                    change(now);
                    return now;
                });
            };
            requests.emplace_back([=] { adjust([=](Adjustment& now) { now.brightness = round; }); });
            requests.emplace_back([=] { adjust([=](Adjustment& now) { now.contrast = 1 + 0.25 * round; }); });
        }
        const auto state = camera.state();
        EXPECT_EQ(state.threshold, 5 + round);
        EXPECT_EQ(state.mode, even ? delta::Mode::bounded : delta::Mode::exact);
        EXPECT_EQ(state.controls.filters.at(0).on, !even);
        EXPECT_EQ(state.controls.filters.at(1).on, !even);
        EXPECT_EQ(state.zones, zones);
        EXPECT_EQ(state.controls.adjustment.brightness, round);
        EXPECT_EQ(state.controls.adjustment.contrast, 1 + 0.25 * round);
        // Persisted before they were answered.
        const auto kept = read_file(served.live.state_path);
        const std::string text(kept.begin(), kept.end());
        EXPECT_NE(text.find(fmt::format("\"threshold\": {}", 5 + round)), std::string::npos) << text;
    }
}

TEST_P(RandomRequests, RejectInvalidRequests) {
    const Serving serving(camera_of(60, false, cases()[0]));
    auto& camera = serving.camera();
    serving.wait_for_frames(1);
    const auto before = camera.state();
    EXPECT_FALSE(refusal([&] { camera.set_chain("crop=900:900"); }).empty());
    EXPECT_EQ(camera.state().chain, before.chain);
    EXPECT_EQ(camera.state().command, before.command);
}

// The camera has not been available yet.
TEST_P(RandomRequests, RejectRequestsWithoutACamera) {
    auto served = options();
    ServedCamera camera(served.cameras[0], served.live, {}, std::make_shared<Statistics>());
    for (const std::function<void()>& request :
         std::vector<std::function<void()>>{[&] { camera.set_chain("gray"); }, [&] { camera.set_threshold(3, {}); },
                                            [&] { camera.set_threshold({}, delta::Mode::bounded); },
                                            [&] { camera.set_zones({}); }, [&] { camera.control(Adjustment{}); }})
        EXPECT_NE(refusal(request, ErrorCode::config).find("not there yet"), std::string::npos);
    EXPECT_EQ(camera.settings(), LiveSettings{});
}

// A full disk ends the recording. The camera continues to accept requests, and the job reports the error at its end.
TEST_P(RandomRequests, ContinueAfterAFullDisk) {
    auto served = camera_of(60, true, cases()[0]);
    const auto path = folder_ / "full.fwd";
    std::filesystem::create_symlink("/dev/full", path);
    served.cameras[0].record = path;
    served.job.replace = true;
    served.cameras[0].refresh_seconds.reset();
    std::stop_source stop;
    served.job.stop = stop.get_token();
    CamerasJob job(served);
    std::jthread running([&] { EXPECT_EQ(error_of([&] { job.run(); }), ErrorCode::io); });
    auto& camera = *job.live().front();
    Serving::until([&] { return camera.picture_version() > 2; });
    for (const auto mode : {delta::Mode::bounded, delta::Mode::exact}) {
        camera.set_threshold({}, mode);
        EXPECT_EQ(camera.state().mode, mode);
        EXPECT_TRUE(camera.state().up);
    }
    camera.set_chain("scale=64:48");
    EXPECT_EQ(camera.state().shape.width, 64);
    stop.request_stop();
    running.join();
}

}  // namespace hidden_at_once_test
}  // namespace framewire::session
