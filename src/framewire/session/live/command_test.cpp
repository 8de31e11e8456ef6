#include "framewire/session/live/command.hpp"

#include <gtest/gtest.h>

namespace framewire::session {
namespace command_test {

BroadcastOptions camera(const std::string& source) {
    BroadcastOptions options{.input = {.source = source}};
    options.server.stream = "door";
    return options;
}

TEST(ServeCommand, ContainsNonDefaultOptions) {
    EXPECT_EQ(command_of(camera("synth"), ""), "framewire serve -i door=synth");
    auto options = camera("rtsp://me:secret@host/stream");
    options.input.filters = "gray,text='a b'";
    options.input.panel = true;
    options.input.fps = 12.5;
    options.input.start_seconds = 1.5;
    options.input.reconnect = std::chrono::milliseconds(2500);
    options.encoder = {.mode = delta::Mode::bounded, .threshold = 8};
    options.rate = {.bits_per_second = 2e6, .threshold_max = 40};
    options.refresh_seconds = 0;
    options.detector = DetectorOptions{.parameters = {.min_area = 99}, .region = std::vector<Zone>{{1, 2, 3, 4}}};
    const auto command = command_of(options, "my state.json");
    EXPECT_EQ(
        command,
        R"(framewire serve -i 'door=rtsp://***@host/stream' -f 'gray,text='\''a b'\''' --start 1.5 --reconnect 2.5)"
        R"( --panel --threshold 8 --mode bounded --max-bitrate 2000000 --threshold-max 40 --refresh 0)"
        R"( --rate 12.5 --detect --min-area 99 --roi 1,2,3,4 --state 'my state.json')");
}

TEST(ServeCommand, ContainsTheChainInForce) {
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
    options.zones = {{{LiveZone::Kind::privacy, {1, 2, 30, 40}}}, {1, 96, 128, 3}};
    EXPECT_EQ(command_of(options, "state.json"), "framewire serve -i door=synth --state state.json");
    const auto command = command_of(options, "");
    EXPECT_NE(command.find("  # no option sets zones: privacy 1,2,30,40 (of 128x96)"), std::string::npos) << command;
}

}  // namespace command_test
}  // namespace framewire::session
