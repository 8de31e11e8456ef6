#include "e2e/live/network_camera.hpp"
#include "e2e/program.hpp"

#include "framewire/core/buffer.hpp"
#include "framewire/media/media.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <chrono>
#include <csignal>
#include <fstream>
#include <string>
#include <vector>

namespace framewire::e2e {
namespace {

using namespace std::chrono_literals;
using Json = nlohmann::json;

std::vector<std::string> serve(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"serve", "--backend", "cpu", "--listen", "127.0.0.1:0"});
    return framewire(std::move(arguments));
}

// Returns the address of the stream `name` of a running server.
std::string address(Program& serving, const std::string& name) {
    EXPECT_TRUE(serving.wait_for_err("/" + name + "\n")) << serving.err();
    const auto words = serving.err();
    const auto end = words.find("/" + name + "\n") + 1 + name.size();
    const auto begin = words.rfind("tcp://", end);
    return words.substr(begin, end - begin);
}

std::vector<std::string> view(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"view", "--no-window"});
    return framewire(std::move(arguments));
}

Shape shape_of(const std::string& path) { return open_source(path)->info().shape; }

TEST(Cameras, TwoCamerasAreServedOverOnePort) {
    const TemporaryFolder folder;
    Program serving(
        serve({"-i", "door=synth:size=64x48:fps=20:frames=20", "-i", "yard=synth:size=96x64:fps=20:frames=20", "-f",
               "gray", "-f", "yard=scale=48:32", "--mode", "lossless", "--wait", "1", "--record", folder / "{name}.fwd",
               "--stats", folder / "stats.json"}));
    Program door(view({address(serving, "door"), "-o", folder / "door.mkv", "--stats", folder / "door.json"}));
    Program yard(view({address(serving, "yard"), "-o", folder / "yard.mkv"}));
    EXPECT_EQ(door.wait().code, 0) << door.err();
    EXPECT_EQ(yard.wait().code, 0) << yard.err();
    const auto served = serving.wait();
    EXPECT_EQ(served.code, 0) << served.err;
    EXPECT_NE(served.err.find("door: 20 frames"), std::string::npos) << served.err;
    EXPECT_NE(served.err.find("yard: 20 frames"), std::string::npos) << served.err;

    EXPECT_EQ(shape_of(folder / "door.mkv"), (Shape{1, 48, 64, 3}));
    EXPECT_EQ(shape_of(folder / "yard.mkv"), (Shape{1, 32, 48, 3}));
    EXPECT_EQ(shape_of(folder / "yard.fwd"), (Shape{1, 32, 48, 3}));
    const auto seen = Json::parse(contents(folder / "door.json"));
    EXPECT_GT(seen["frames"].get<int>(), 0);
    EXPECT_LE(seen["frames"].get<int>() + seen["skipped"].get<int>(), 20)
        << "a late viewer may skip frames, but must not count frames before its first";
    const auto figures = Json::parse(contents(folder / "stats.json"));
    EXPECT_EQ(figures["frames"], 40);
    EXPECT_EQ(figures["viewers_total"], 2);
    EXPECT_EQ(figures["cameras"]["door"]["size"]["width"], 64);
    EXPECT_EQ(figures["cameras"]["yard"]["size"]["width"], 48);
}

TEST(Cameras, AreConfiguredFromAFile) {
    const TemporaryFolder folder;
    std::ofstream(folder / "cams.yaml") << "defaults:\n  rate: max\n  wait: 1\n"
                                           "cameras:\n"
                                           "  door:\n    source: synth:size=64x48:frames=5\n"
                                           "  yard:\n    source: synth:size=96x64:frames=5\n    filters: [gray]\n";
    const auto checked = run_framewire({"check", folder / "cams.yaml"});
    EXPECT_EQ(checked.code, 0) << checked.err;
    EXPECT_NE(checked.out.find("valid; cameras at"), std::string::npos) << checked.out;
    Program serving(serve({"--config", folder / "cams.yaml", "--stats", folder / "stats.json"}));
    Program door(view({address(serving, "door")}));
    Program yard(view({address(serving, "yard")}));
    EXPECT_EQ(door.wait().code, 0) << door.err();
    EXPECT_EQ(yard.wait().code, 0) << yard.err();
    EXPECT_EQ(serving.wait().code, 0) << serving.err();
    EXPECT_EQ(Json::parse(contents(folder / "stats.json"))["cameras"]["yard"]["frames"], 5);

    std::ofstream(folder / "wrong.yaml")
        << "cameras:\n  door:\n    source: synth\n    treshold: 3\n    filters: grey\n";
    const auto wrong = run_framewire({"check", folder / "wrong.yaml"});
    EXPECT_EQ(wrong.code, 78);
    EXPECT_NE(wrong.out.find("wrong.yaml:4:5: unknown key 'treshold'; did you mean 'threshold'?\n"), std::string::npos)
        << wrong.out;
    EXPECT_NE(wrong.out.find("wrong.yaml:5:14: "), std::string::npos) << wrong.out;
    EXPECT_EQ(Program(serve({"--config", folder / "wrong.yaml"})).wait().code, 78);
}

// The cameras share launches on a GPU, if present; each sends the same bytes as it does alone on the CPU.
TEST(Cameras, CamerasOfTheSameSizeSendTheSameBytesAsAlone) {
    const TemporaryFolder folder;
    const auto source = [](int number) { return fmt::format("synth:size=160x120:seed={}:frames=30", number); };
    std::ofstream file(folder / "cams.yaml");
    file << fmt::format("defaults:\n  rate: max\n  record: '{}'\ncameras:\n", folder / "{name}.fwd");
    constexpr int count = 6;
    for (int number = 0; number < count; ++number)
        file << fmt::format("  c{0}:\n    source: {1}\n    threshold: {2}\n", number, source(number), 7 * number);
    file.close();
    const auto served = run_framewire({"serve", "--listen", "127.0.0.1:0", "--config", folder / "cams.yaml"});
    EXPECT_EQ(served.code, 0) << served.err;
    for (int number = 0; number < count; ++number) {
        const auto alone = folder / fmt::format("alone-{}.fwd", number);
        Program serving(serve(
            {"-i", source(number), "--rate", "max", "--threshold", fmt::format("{}", 7 * number), "--record", alone}));
        const auto result = serving.wait();
        EXPECT_EQ(result.code, 0) << result.err;
        EXPECT_TRUE(contents(folder / fmt::format("c{}.fwd", number)) == contents(alone)) << number;
    }
}

struct Wrong {
    std::vector<std::string> arguments;
    int code;
    std::string words;
};

TEST(Cameras, RejectsInvalidConfigurations) {
    const Wrong all[] = {
        {{}, 2, "--input or a --config with cameras is required"},
        {{"-i", "synth", "-i", "a=synth"}, 2, "-i NAME=synth"},
        {{"-i", "rtsp://me:geheim@host/", "-i", "a=synth"}, 2, "-i NAME=rtsp://***@host/"},
        {{"-i", "a=synth", "-i", "a=synth"}, 2, "two cameras are named 'a'"},
        {{"-i", "a=synth", "--name", "b"}, 2, "--name is for a single camera without a name"},
        {{"-i", "a=synth", "-i", "b=synth", "--record", "x.fwd"}, 2, "are the same file"},
        {{"-i", "a=synth", "-i", "b=synth", "-f", "b=grey"}, 2, "camera 'b'"},
        {{"-i", "a=synth", "-i", "b=/no/such/file.mkv"}, 66, "camera 'b': /no/such/file.mkv"},
        {{"-i", "a=synth", "--config", "x.yaml"}, 2, "--input cannot be combined with --config"},
        {{"--threshold", "3", "--config", "x.yaml"}, 2, "--threshold cannot be combined with --config"},
        {{"--blur", "3", "--config", "x.yaml"}, 2, "--blur cannot be combined with --config"},
        {{"--config", "/no/such/file.yaml"}, 66, "/no/such/file.yaml"},
    };
    for (const auto& wrong : all) {
        auto arguments = wrong.arguments;
        arguments.insert(arguments.begin(), {"serve", "--listen", "127.0.0.1:0"});
        const auto result = run_framewire(arguments);
        EXPECT_EQ(result.code, wrong.code) << result.err;
        EXPECT_NE(result.err.find(wrong.words), std::string::npos) << result.err;
    }
}

// One camera is killed, its picture shows that, and it returns with another size; the other camera's viewer is not
// affected.
TEST(Cameras, AKilledCameraMayReturnWithAnotherSize) {
    const TemporaryFolder folder;
    const int port = free_port();
    auto camera = network_camera(port, "white", "160x120");
    Program serving(serve({"-i", fmt::format("door=tcp://127.0.0.1:{}?tcp_nodelay=1", port), "-i",
                           "yard=lavfi:testsrc2=size=64x48:rate=20", "--mode", "lossless", "--record",
                           "door=" + folder / "door.fwd", "--stats", folder / "stats.json"}));
    const auto door_at = address(serving, "door"), yard_at = address(serving, "yard");
    Program yard(view({yard_at, "--stats", folder / "yard.json"}));
    Program door(view({door_at, "--progress", "json", "--stats", folder / "door.json", "-o", folder / "seen.mkv"}));
    ASSERT_TRUE(door.wait_for_frames(5)) << door.err();
    ASSERT_TRUE(yard.wait_for_err("viewing ")) << yard.err();
    camera.reset();  // SIGKILL
    ASSERT_TRUE(serving.wait_for_err("reconnection attempt 3")) << serving.err();
    camera = network_camera(port, "blue", "80x96");
    ASSERT_TRUE(serving.wait_for_err("the frame size changed from 160x120", 60s)) << serving.err();
    Program late(view({door_at, "-o", folder / "late.mkv", "--frames", "5"}));
    EXPECT_EQ(late.wait().code, 0) << late.err();
    serving.signal(SIGINT);
    const auto served = serving.wait();
    EXPECT_EQ(served.code, 130) << served.err;
    EXPECT_EQ(yard.wait().code, 0) << yard.err();
    EXPECT_EQ(Json::parse(contents(folder / "yard.json"))["reconnections"], 0);
    door.wait();

    EXPECT_EQ(shape_of(folder / "seen.mkv"), (Shape{1, 120, 160, 3}));
    EXPECT_EQ(shape_of(folder / "late.mkv"), (Shape{1, 96, 80, 3}));
    EXPECT_EQ(shape_of(folder / "door.fwd"), (Shape{1, 120, 160, 3}));
    EXPECT_EQ(shape_of(folder / "door-2.fwd"), (Shape{1, 96, 80, 3}));
    // The picture is white but darkened, and nowhere black.
    const auto source = open_source(folder / "door.fwd");
    HostImage image(source->info().shape);
    FrameTime time;
    bool dark = false;
    while (source->read(image.view(), time)) {
        const auto corner = *image.view().row(0, 0);
        dark |= corner > 60 && corner < 110;
    }
    EXPECT_TRUE(dark) << "no picture shows the message about the missing signal";
    EXPECT_EQ(Json::parse(contents(folder / "stats.json"))["cameras"]["door"]["size"]["width"], 80);
}

// One of several cameras is missing at the start and connects later.
TEST(Cameras, AMissingCameraConnectsLater) {
    const int port = free_port();
    Program serving(serve({"-i", fmt::format("door=tcp://127.0.0.1:{}?tcp_nodelay=1", port), "-i",
                           "yard=lavfi:testsrc2=size=64x48:rate=20"}));
    const auto yard_at = address(serving, "yard");
    const auto door_at = yard_at.substr(0, yard_at.rfind('/')) + "/door";
    const auto early = run_framewire({"view", "--no-window", door_at});
    EXPECT_EQ(early.code, 66);
    EXPECT_NE(early.err.find("available: 'yard'"), std::string::npos) << early.err;
    const auto camera = network_camera(port, "white", "160x120");
    EXPECT_EQ(address(serving, "door"), door_at);
    const auto seen = run_framewire({"view", "--no-window", door_at, "--frames", "3"});
    EXPECT_EQ(seen.code, 0) << seen.err;
    serving.signal(SIGTERM);
    EXPECT_EQ(serving.wait().code, 143) << serving.err();
}

}  // namespace
}  // namespace framewire::e2e
