// The window on a display without a screen, led by keys as xdotool types them.
#include "e2e/program.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <thread>

namespace framewire::e2e {
namespace show_test {

using namespace std::chrono_literals;

const std::string clip = "synth:size=160x120:fps=5:frames=20:objects=3";

class Show : public testing::Test {
protected:
    Show() {
        EXPECT_TRUE(display_.wait_for_err("\n")) << display_.err();
        variable_ = "DISPLAY=:" + std::to_string(std::atoi(display_.err().c_str()));
    }

    std::unique_ptr<Program> start(std::vector<std::string> arguments) {
        arguments.insert(arguments.begin(), {"env", variable_, "SDL_VIDEODRIVER=x11", FRAMEWIRE_PROGRAM, "show",
                                             "--backend", "cpu", "--snapshots", folder_.path()});
        return std::make_unique<Program>(std::move(arguments));
    }
    std::unique_ptr<Program> show(std::vector<std::string> arguments) {
        auto program = start(std::move(arguments));
        EXPECT_TRUE(has_window("framewire")) << program->err();
        return program;
    }
    // Waits for a window whose title has this.
    // One search may fail on a window that goes while it looks.
    bool has_window(const std::string& title) {
        for (const auto end = std::chrono::steady_clock::now() + 20s; std::chrono::steady_clock::now() < end;) {
            if (Program({"env", variable_, "xdotool", "search", "--name", title}).wait().code == 0) return true;
            std::this_thread::sleep_for(50ms);
        }
        return false;
    }
    // Without a window manager nothing has the focus: keys go to where the pointer is.
    void press(const std::string& key) {
        EXPECT_EQ(Program({"env", variable_, "xdotool", "mousemove", "320", "240", "key", key}).wait().code, 0) << key;
    }
    // The picture that the key s saves next.
    std::string saved() {
        const auto path = folder_ / ("framewire-shot000" + std::to_string(++shots_) + ".png");
        press("s");
        for (int attempt = 0; attempt < 200 && !std::filesystem::exists(path); ++attempt)
            std::this_thread::sleep_for(50ms);
        return pixels(path);
    }
    std::string pixels(const std::string& path) {
        EXPECT_EQ(run_framewire({"run", "-y", "-i", path, "-o", folder_ / "pixels.bgr"}).code, 0) << path;
        return contents(folder_ / "pixels.bgr");
    }
    // Frame `number` of the clip.
    std::string frame(int number) {
        EXPECT_EQ(run_framewire({"run", "-y", "-i", clip, "--start", std::to_string(number / 5.0), "--frames", "1",
                                 "-o", folder_ / "pixels.bgr"})
                      .code,
                  0);
        return contents(folder_ / "pixels.bgr");
    }
    // How many pixels of the screen are the red behind alarming words.
    int red_pixels() {
        const auto path = folder_ / "screen.rgb";
        EXPECT_EQ(Program({"env", variable_, "import", "-window", "root", "-depth", "8", path}).wait().code, 0);
        const auto bytes = contents(path);
        const auto byte = [&](std::size_t at) { return int{static_cast<std::uint8_t>(bytes[at])}; };
        int count = 0;
        for (std::size_t at = 0; at + 2 < bytes.size(); at += 3)
            count += byte(at) > 130 && byte(at + 1) < 85 && byte(at + 2) < 85 ? 1 : 0;
        return count;
    }

    TemporaryFolder folder_;
    // Not reset when its last client goes: a program that comes just then would be refused.
    Program display_{{"Xvfb", "-displayfd", "2", "-screen", "0", "640x480x24", "-nolisten", "tcp", "-noreset"}};
    std::string variable_;
    int shots_ = 0;
};

TEST_F(Show, IsLedByKeys) {
    const auto program = show({"--paused", clip});
    ASSERT_TRUE(has_window("paused"));
    std::this_thread::sleep_for(500ms);
    EXPECT_EQ(saved(), frame(0));
    press("period");
    std::this_thread::sleep_for(500ms);
    EXPECT_EQ(saved(), frame(1));
    press("period");
    press("comma");
    press("comma");
    std::this_thread::sleep_for(500ms);
    EXPECT_EQ(saved(), frame(0));
    press("Right");  // five seconds, and the clip has four
    std::this_thread::sleep_for(500ms);
    EXPECT_EQ(saved(), frame(19));
    press("q");
    const auto result = program->wait();
    EXPECT_EQ(result.code, 0) << result.err;
}

TEST_F(Show, ALostSourceSaysSoInThePicture) {
    const auto path = folder_ / "cut.bgr";
    ASSERT_EQ(run_framewire({"run", "-i", clip, "-o", path}).code, 0);
    std::filesystem::resize_file(path, 160 * 120 * 3 * 4 + 1000);
    const auto program = show({"raw:" + path + ":size=160x120:fps=20"});
    ASSERT_TRUE(has_window("lost")) << program->err();
    std::this_thread::sleep_for(500ms);
    EXPECT_GT(red_pixels(), 1000) << "words on red";
    EXPECT_EQ(saved().size(), std::size_t{160 * 120 * 3}) << "the last picture is still there";
    press("q");
    const auto result = program->wait();
    EXPECT_EQ(result.code, 69) << result.err;
    EXPECT_NE(result.err.find("cut off in frame 4"), std::string::npos) << result.err;
}

TEST_F(Show, EndsAfterSoManyFramesAndOnASignal) {
    EXPECT_EQ(start({"--frames", "3", "synth:size=160x120:fps=5", "synth:size=64x48:fps=5"})->wait().code, 0);
    const auto endless = show({"synth:size=160x120"});
    endless->signal(SIGINT);
    EXPECT_EQ(endless->wait().code, 130);
}

TEST(ShowRefusal, SaysWhy) {
    EXPECT_EQ(run_framewire({"show"}).code, 2);
    const auto many = run_framewire({"show", "--stats", "a.json", "synth", "synth"});
    EXPECT_EQ(many.code, 2);
    EXPECT_NE(many.err.find("--stats is of one source"), std::string::npos) << many.err;
    EXPECT_EQ(run_framewire({"show", "/no/such/file.mp4"}).code, 66);
    EXPECT_EQ(run_framewire({"show", "--start", "1:60", "synth"}).code, 2);
    EXPECT_EQ(run_framewire({"show", "--snapshots", "/no/such/folder", "synth"}).code, 2);
}

}  // namespace show_test
}  // namespace framewire::e2e
