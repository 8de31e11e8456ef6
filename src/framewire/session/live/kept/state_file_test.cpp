#include "framewire/session/live/kept/state_file.hpp"

#include "framewire/core/error.hpp"
#include "framewire/media/media_testing.hpp"

#include <gtest/gtest.h>

#include <string>

namespace framewire::session {
namespace state_file_test {

OrderedOfCameras some_orders() {
    OrderedOfCameras cameras;
    auto& door = cameras["door"];
    door.chain = "gray=channels=3,text='a, \"b\"'";
    door.filters = {{.text = "gray=channels=3", .on = false}, {.text = "text='a, \"b\"'"}};
    door.adjustment = Adjustment{.brightness = -12, .contrast = 1.25, .saturation = 0.5, .gain = 2};
    door.threshold = 7;
    door.mode = delta::Mode::bounded;
    door.zones = {{{LiveZone::Kind::privacy, {1, 2, 3, 4}}, {LiveZone::Kind::detect, {0, 0, 64, 48}}}, {1, 48, 64, 3}};
    cameras["yard"].threshold = 0;
    return cameras;
}

TEST(StateFile, ContainsEverySetting) {
    const auto json = to_json(some_orders());
    EXPECT_EQ(parse_state(json, "x"), some_orders());
    EXPECT_EQ(to_json(parse_state(json, "x")), json);
    EXPECT_TRUE(parse_state(to_json(OrderedOfCameras{}), "x").empty());
    EXPECT_TRUE(parse_state(to_json(OrderedOfCameras{{"door", {}}}), "x").empty()) << "nothing was ordered of it";
}

TEST(StateFile, ParsesItsOwnJson) {
    const testing::TemporaryFolder folder;
    EXPECT_TRUE(read_state(folder / "state.json").empty()) << "there is none yet";
    write_state(folder / "state.json", to_json(some_orders()));
    write_state(folder / "state.json", to_json(OrderedOfCameras{{"yard", some_orders()["yard"]}}));
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
    expect(std::string(500'000, '['), "no JSON");
    expect(std::string(2 << 20, ' '), "1048576 bytes");
    expect(R"({"framewire":"state","version":2,"cameras":{}})", "version: 1 is needed");
    expect(R"({"framewire":"state","version":)" + std::string(10'000, '[') + std::string(10'000, ']') + "}", "version");
    expect(R"({"framewire":"other","version":1,"cameras":{}})", "no state");
    expect(R"({"framewire":"state","version":1})", "'cameras' is missing");
    expect(R"({"framewire":"state","version":1,"cameras":{"../x":{}}})", "../x");
    expect(of_door(R"("colour":1)"), "cameras.door.colour: is not known; allowed are chain");
    expect(of_door(R"("threshold":255)"), "cameras.door.threshold: a whole number from 0 to 254");
    expect(of_door(R"("threshold":1e300)"), "cameras.door.threshold");
    expect(of_door(R"("mode":"best")"), "'best' is no mode");
    expect(of_door(R"("chain":"grey")"), "cameras.door.chain: ");
    expect(of_door(R"("chain":"text=a:font=/dev/stdin")"), "a file of the server's machine");
    expect(of_door(R"("adjust":{"brightness":0,"contrast":9,"saturation":1,"gain":1})"), "cameras.door.adjust: ");
    expect(of_door(R"("filters":[{"text":"gray","on":1}])"), "cameras.door.filters[0].on: true or false");
    const auto zones = [&](const std::string& size, const std::string& zone) {
        return of_door(R"("zones":{"size":)" + size + R"(,"zones":[)" + zone + "]}");
    };
    expect(zones("[64]", ""), "cameras.door.zones.size: a width and a height");
    expect(zones("[0,48]", ""), "cameras.door.zones.size[0]");
    expect(zones("[64,48]", R"({"kind":"secret","x":0,"y":0,"width":1,"height":1})"), "'secret' is no kind");
    expect(zones("[64,48]", R"({"kind":"mosaic","x":60,"y":0,"width":5,"height":1})"), "64x48");
    expect(zones("[64,48]", R"({"kind":"mosaic","x":2147483647,"y":0,"width":2147483647,"height":1})"), "64x48");
}

}  // namespace state_file_test
}  // namespace framewire::session
