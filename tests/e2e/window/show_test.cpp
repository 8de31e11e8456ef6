// Tests the window on a display without a physical screen, controlled by keys that xdotool types.
#include "e2e/program.hpp"
#include "e2e/window/display.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <thread>

namespace framewire::e2e {
namespace {

using namespace std::chrono_literals;

const std::string clip = "synth:size=160x120:fps=5:frames=20:objects=3";

class Show : public testing::Test {
protected:
    std::unique_ptr<Program> start(std::vector<std::string> arguments) {
        arguments.insert(arguments.begin(), {"show", "--backend", "cpu", "--snapshots", folder_.path()});
        return std::make_unique<Program>(display_.framewire(std::move(arguments)));
    }
    std::unique_ptr<Program> show(std::vector<std::string> arguments) {
        auto program = start(std::move(arguments));
        EXPECT_TRUE(display_.has_window("framewire")) << program->err();
        return program;
    }
    // Presses the key s and returns the saved picture.
    std::string saved() {
        const auto before = folder_.names();
        display_.press("s");
        std::string name;
        EXPECT_TRUE(becomes_true([&] {
            for (const auto& one : folder_.names())
                if (one.ends_with(".png") && std::ranges::find(before, one) == before.end()) name = one;
            return !name.empty();
        }));
        return pixels(folder_ / name);
    }
    // Returns true if the window saves these pixels, immediately or once earlier key presses have taken effect.
    bool saves(const std::string& wanted) {
        return becomes_true([&] { return saved() == wanted; });
    }
    std::string pixels(const std::string& path) {
        EXPECT_EQ(run_framewire({"run", "-y", "-i", path, "-o", folder_ / "pixels.bgr"}).code, 0) << path;
        return contents(folder_ / "pixels.bgr");
    }
    // Returns frame `number` of the clip.
    std::string frame(int number) {
        EXPECT_EQ(run_framewire({"run", "-y", "-i", clip, "--start", std::to_string(number / 5.0), "--frames", "1",
                                 "-o", folder_ / "pixels.bgr"})
                      .code,
                  0);
        return contents(folder_ / "pixels.bgr");
    }

    TemporaryFolder folder_;
    Display display_;
};

TEST_F(Show, RespondsToKeys) {
    const auto program = show({"--paused", clip});
    ASSERT_TRUE(display_.has_window("paused"));
    EXPECT_TRUE(saves(frame(0)));
    display_.press("period");
    EXPECT_TRUE(saves(frame(1)));
    display_.press("period");
    display_.press("comma");
    display_.press("comma");
    EXPECT_TRUE(saves(frame(0)));
    display_.press("Right");  // seeks by five seconds, but the clip has only four
    EXPECT_TRUE(saves(frame(19)));
    display_.press("q");
    const auto result = program->wait();
    EXPECT_EQ(result.code, 0) << result.err;
}

TEST_F(Show, ReportsALostSourceInThePicture) {
    const auto path = folder_ / "cut.bgr";
    ASSERT_EQ(run_framewire({"run", "-i", clip, "-o", path}).code, 0);
    std::filesystem::resize_file(path, 160 * 120 * 3 * 4 + 1000);
    const auto program = show({"raw:" + path + ":size=160x120:fps=20"});
    ASSERT_TRUE(display_.has_window("lost")) << program->err();
    EXPECT_TRUE(display_.shows([](const Screenshot& screen) { return screen.red_pixels() > 1000; })) << "words on red";
    EXPECT_EQ(saved().size(), std::size_t{160 * 120 * 3}) << "the last picture is no longer shown";
    display_.press("q");
    const auto result = program->wait();
    EXPECT_EQ(result.code, 69) << result.err;
    EXPECT_NE(result.err.find("truncated in frame 4"), std::string::npos) << result.err;
}

TEST_F(Show, StopsAfterTheGivenFramesAndOnASignal) {
    EXPECT_EQ(start({"--frames", "3", "synth:size=160x120:fps=5", "synth:size=64x48:fps=5"})->wait().code, 0);
    const auto endless = show({"synth:size=160x120"});
    endless->signal(SIGINT);
    EXPECT_EQ(endless->wait().code, 130);
}

TEST(ShowRefusal, ReportsTheReason) {
    EXPECT_EQ(run_framewire({"show"}).code, 2);
    const auto many = run_framewire({"show", "--stats", "a.json", "synth", "synth"});
    EXPECT_EQ(many.code, 2);
    EXPECT_NE(many.err.find("--stats requires a single source"), std::string::npos) << many.err;
    EXPECT_EQ(run_framewire({"show", "/no/such/file.mp4"}).code, 66);
    EXPECT_EQ(run_framewire({"show", "--start", "1:60", "synth"}).code, 2);
    EXPECT_EQ(run_framewire({"show", "--snapshots", "/no/such/folder", "synth"}).code, 2);
}

}  // namespace
}  // namespace framewire::e2e
