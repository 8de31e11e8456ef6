#include "framewire/jobs/persisted_state.hpp"
#include "framewire/core/error.hpp"
#include "framewire/jobs/live_testing_testing.hpp"
#include "framewire/media/media_testing.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>

// Tests that persisted settings are in force after a restart.

namespace framewire::jobs {
namespace {

using PersistedRequests = LiveTest;

FRAMEWIRE_ON_EVERY_BACKEND(PersistedRequests);

TEST_P(PersistedRequests, AreInForceFromTheFirstFrame) {
    auto kept = options(codec::Mode::exact, 20);
    kept.live.state_path = folder_ / "state.json";
    const std::vector<service::LiveZone> zones{{service::LiveZone::Kind::privacy, {10, 20, 30, 16}}};
    {
        const Serving serving(kept);
        auto& camera = serving.camera();
        serving.wait_for_frames(1);
        camera.set_chain("median=3,gray=channels=3");
        camera.control(service::FilterRequest{2, false});
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

// Settings of a camera that is not being served are preserved. Settings that do not fit a served camera are dropped.
TEST_P(PersistedRequests, InvalidSettingsAreDropped) {
    auto kept = options(codec::Mode::exact, 20);
    kept.live.state_path = folder_ / "state.json";
    PersistedSettings before;
    before["yard"].threshold = 9;
    before["door"].chain = "crop=900:900";
    before["door"].mode = codec::Mode::lossless;
    before["door"].zones = {{{service::LiveZone::Kind::privacy, {0, 0, 640, 240}}}, {1, 480, 640, 3}};
    write_state(kept.live.state_path, to_json(before));
    kept.cameras[0].rate = {.bits_per_second = 1e9, .threshold_max = 30};
    {
        const Serving serving(kept);
        auto& camera = serving.camera();
        serving.wait_for_frames(2);
        const auto state = camera.state();
        EXPECT_EQ(state.chain, "");
        EXPECT_EQ(state.mode, codec::Mode::exact);
        const std::vector<service::LiveZone> scaled{{service::LiveZone::Kind::privacy, {0, 0, 128, 48}}};
        EXPECT_EQ(state.zones, scaled) << "the upper half, whatever the size";
        EXPECT_NE(refusal([&] { camera.set_threshold(31, {}); }).find("maximum threshold"), std::string::npos);
        EXPECT_NE(refusal([&] { camera.set_threshold({}, codec::Mode::lossless); }).find("bitrate"), std::string::npos);
        camera.set_threshold(25, {});
        EXPECT_EQ(camera.state().threshold_max, 30);
    }
    const auto after = read_state(kept.live.state_path);
    EXPECT_EQ(after.at("yard").threshold, 9);
    EXPECT_FALSE(after.at("door").chain);
    EXPECT_EQ(after.at("door").threshold, 25);
    EXPECT_EQ(after.at("door").zones, before["door"].zones);
}

TEST_P(PersistedRequests, MissingFoldersAndInvalidFilesAreRejected) {
    auto kept = options();
    kept.live.state_path = folder_ / "state.json";
    testing::write_file(kept.live.state_path, "{", 1);
    EXPECT_NE(refusal([&] { CamerasJob job(kept); }, ErrorCode::config).find("line 1"), std::string::npos);
    kept.live.state_path.clear();
    kept.live.record_folder = folder_ / "missing";
    EXPECT_NE(refusal([&] { CamerasJob job(kept); }, ErrorCode::config).find("missing"), std::string::npos);
}

PersistedSettings some_settings() {
    PersistedSettings cameras;
    auto& door = cameras["door"];
    door.chain = "gray=channels=3,text='a, \"b\"'";
    door.filters = {{.text = "gray=channels=3", .on = false}, {.text = "text='a, \"b\"'"}};
    door.adjustment = Adjustment{.brightness = -12, .contrast = 1.25, .saturation = 0.5, .gain = 2};
    door.threshold = 7;
    door.mode = codec::Mode::bounded;
    door.zones = {{{service::LiveZone::Kind::privacy, {1, 2, 3, 4}}, {service::LiveZone::Kind::detect, {0, 0, 64, 48}}},
                  {1, 48, 64, 3}};
    cameras["yard"].threshold = 0;
    return cameras;
}

TEST(StateFile, ContainsEverySetting) {
    const auto json = to_json(some_settings());
    EXPECT_EQ(parse_state(json, "x"), some_settings());
    EXPECT_EQ(to_json(parse_state(json, "x")), json);
    EXPECT_TRUE(parse_state(to_json(PersistedSettings{}), "x").empty());
    EXPECT_TRUE(parse_state(to_json(PersistedSettings{{"door", {}}}), "x").empty()) << "nothing was requested of it";
}

TEST(StateFile, RoundTripsThroughJson) {
    const testing::TemporaryFolder folder;
    EXPECT_TRUE(read_state(folder / "state.json").empty()) << "there is none yet";
    write_state(folder / "state.json", to_json(some_settings()));
    write_state(folder / "state.json", to_json(PersistedSettings{{"yard", some_settings()["yard"]}}));
    EXPECT_EQ(read_state(folder / "state.json").size(), 1u) << "the later one";
    EXPECT_EQ(testing::error_of([&] { read_state(folder / "no/state.json"); }), ErrorCode::config);
}

TEST(StateFile, ReportsThePositionOfErrors) {
    const auto expect = [](const std::string& json, const std::string& words) {
        std::string message;
        EXPECT_EQ(testing::error_of([&] { parse_state(json, "kept.json"); }, &message), ErrorCode::config) << json;
        EXPECT_TRUE(message.starts_with("kept.json: ")) << message;
        EXPECT_NE(message.find(words), std::string::npos) << message;
    };
    const auto of_door = [](const std::string& settings) {
        return R"({"framewire":"state","version":1,"cameras":{"door":{)" + settings + "}}}";
    };
    EXPECT_EQ(parse_state(of_door(R"("threshold":3)"), "x").at("door").threshold, 3);
    expect("{\n \"framewire\": oh}", "line 2");
    expect("[]", "an object");
    expect(std::string(500'000, '['), "invalid JSON");
    expect(std::string(2 << 20, ' '), "1048576 bytes");
    expect(R"({"framewire":"state","version":2,"cameras":{}})", "version: expected 1");
    expect(R"({"framewire":"state","version":)" + std::string(10'000, '[') + std::string(10'000, ']') + "}", "version");
    expect(R"({"framewire":"other","version":1,"cameras":{}})", "not a camera state file");
    expect(R"({"framewire":"state","version":1})", "'cameras' is missing");
    expect(R"({"framewire":"state","version":1,"cameras":{"../x":{}}})", "../x");
    expect(of_door(R"("colour":1)"), "cameras.door.colour: is unknown; allowed: chain");
    expect(of_door(R"("threshold":255)"), "cameras.door.threshold: expected a whole number from 0 to 254");
    expect(of_door(R"("threshold":1e300)"), "cameras.door.threshold");
    expect(of_door(R"("mode":"best")"), "'best' is not a mode");
    expect(of_door(R"("chain":"grey")"), "cameras.door.chain: ");
    expect(of_door(R"("chain":"text=a:font=/dev/stdin")"), "font files on the server");
    expect(of_door(R"("adjust":{"brightness":0,"contrast":9,"saturation":1,"gain":1})"), "cameras.door.adjust: ");
    expect(of_door(R"("filters":[{"text":"gray","on":1}])"), "cameras.door.filters[0].on: expected true or false");
    const auto zones = [&](const std::string& size, const std::string& zone) {
        return of_door(R"("zones":{"size":)" + size + R"(,"zones":[)" + zone + "]}");
    };
    expect(zones("[64]", ""), "cameras.door.zones.size: expected a width and a height");
    expect(zones("[0,48]", ""), "cameras.door.zones.size[0]");
    expect(zones("[64,48]", R"({"kind":"secret","x":0,"y":0,"width":1,"height":1})"), "unknown zone kind 'secret'");
    expect(zones("[64,48]", R"({"kind":"mosaic","x":60,"y":0,"width":5,"height":1})"), "64x48");
    expect(zones("[64,48]", R"({"kind":"mosaic","x":2147483647,"y":0,"width":2147483647,"height":1})"), "64x48");
}

}  // namespace
}  // namespace framewire::jobs
