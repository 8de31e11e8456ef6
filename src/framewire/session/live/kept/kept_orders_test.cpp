// Persisted settings are in force after a restart.
#include "framewire/core/error.hpp"
#include "framewire/session/live/kept/state_file.hpp"
#include "framewire/session/live/live_testing.hpp"

#include <algorithm>
#include <optional>

namespace framewire::session {
namespace kept_orders_test {

using KeptOrders = LiveTest;

FRAMEWIRE_ON_EVERY_BACKEND(KeptOrders);

TEST_P(KeptOrders, AreInForceFromTheFirstFrame) {
    auto kept = options(delta::Mode::exact, 20);
    kept.live.state_path = folder_ / "state.json";
    const std::vector<LiveZone> zones{{LiveZone::Kind::privacy, {10, 20, 30, 16}}};
    {
        const Serving serving(kept);
        auto& camera = serving.camera();
        serving.wait_for_frames(1);
        camera.set_chain("median=3,gray=channels=3");
        camera.control(FilterOrder{2, false});
        camera.control(Adjustment{.brightness = 40});
        camera.set_threshold(3, {});
        camera.set_zones(zones);
        Serving::until([&] { return read_state(kept.live.state_path).contains("door"); });
    }
    const auto state = read_state(kept.live.state_path).at("door");
    EXPECT_EQ(state.chain, "median=3,gray=channels=3");
    EXPECT_EQ(state.threshold, 3);
    EXPECT_FALSE(state.mode);

    kept.cameras[0].wait_for_viewers = 1;
    const Serving serving(kept);
    auto& camera = serving.camera();
    EXPECT_EQ(camera.state().chain, "median=3,gray=channels=3");
    EXPECT_EQ(camera.state().zones, zones);
    EXPECT_EQ(camera.state().threshold, 3);
    EXPECT_EQ(camera.state().controls.adjustment.brightness, 40);
    ASSERT_EQ(camera.state().controls.filters.size(), 2u);
    EXPECT_FALSE(camera.state().controls.filters[1].on);
    net::Client viewer(serving.address());
    ASSERT_TRUE(viewer.next());
    EXPECT_EQ(viewer.state().frame, 0);
    EXPECT_EQ(viewer.info().threshold, 3);
    for (int y = 21; y < 35; ++y) {
        const auto* row = viewer.picture().row(0, y);
        EXPECT_TRUE(std::all_of(row + 3 * 11, row + 3 * 39, [](auto byte) { return byte == 40; })) << y;
    }
    EXPECT_NE(camera.state().command.find("--state"), std::string::npos);
}

// Settings of a camera that is not served now are preserved; those that do not fit a served one are dropped.
TEST_P(KeptOrders, DropInvalidSettings) {
    auto kept = options(delta::Mode::exact, 20);
    kept.live.state_path = folder_ / "state.json";
    OrderedOfCameras before;
    before["yard"].threshold = 9;
    before["door"].chain = "crop=900:900";
    before["door"].mode = delta::Mode::lossless;
    before["door"].zones = {{{LiveZone::Kind::privacy, {0, 0, 640, 240}}}, {1, 480, 640, 3}};
    write_state(kept.live.state_path, to_json(before));
    kept.cameras[0].rate = {.bits_per_second = 1e9, .threshold_max = 30};
    {
        const Serving serving(kept);
        auto& camera = serving.camera();
        serving.wait_for_frames(2);
        const auto state = camera.state();
        EXPECT_EQ(state.chain, "");
        EXPECT_EQ(state.mode, delta::Mode::exact);
        const std::vector<LiveZone> scaled{{LiveZone::Kind::privacy, {0, 0, 128, 48}}};
        EXPECT_EQ(state.zones, scaled) << "the upper half, whatever the size";
        EXPECT_NE(refusal([&] { camera.set_threshold(31, {}); }).find("greatest threshold"), std::string::npos);
        EXPECT_NE(refusal([&] { camera.set_threshold({}, delta::Mode::lossless); }).find("bitrate"), std::string::npos);
        camera.set_threshold(25, {});
        EXPECT_EQ(camera.state().threshold_max, 30);
    }
    const auto after = read_state(kept.live.state_path);
    EXPECT_EQ(after.at("yard").threshold, 9);
    EXPECT_FALSE(after.at("door").chain);
    EXPECT_EQ(after.at("door").threshold, 25);
    EXPECT_EQ(after.at("door").zones, before["door"].zones);
}

TEST_P(KeptOrders, RejectAMissingFolderOrAnInvalidFile) {
    auto kept = options();
    kept.live.state_path = folder_ / "state.json";
    testing::write_file(kept.live.state_path, "{", 1);
    EXPECT_NE(refusal([&] { CamerasJob job(kept); }, ErrorCode::config).find("line 1"), std::string::npos);
    kept.live.state_path.clear();
    kept.live.record_folder = folder_ / "missing";
    EXPECT_NE(refusal([&] { CamerasJob job(kept); }, ErrorCode::config).find("missing"), std::string::npos);
}

}  // namespace kept_orders_test
}  // namespace framewire::session
