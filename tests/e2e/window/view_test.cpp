// Tests streams in a window on a display without a physical screen.
#include "e2e/program.hpp"
#include "e2e/window/display.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace framewire::e2e {
namespace {

using Pixel = Screenshot::Pixel;

const std::string still = "synth:size=320x240:fps=10:objects=0:noise=0";
constexpr Pixel white{255, 255, 255}, gray{128, 128, 128}, black{0, 0, 0};

// Server of the still room; `chain` may turn the picture into a single colour.
class Server {
public:
    explicit Server(const std::string& chain, const std::string& listen = "127.0.0.1:0",
                    const std::string& source = still)
        : program_(framewire(arguments(chain, listen, source))) {
        EXPECT_TRUE(program_.wait_for_err("serving ")) << program_.err();
        const auto words = program_.err();
        const auto begin = words.find("tcp://");
        url_ = words.substr(begin, words.find('\n', begin) - begin);
    }

    const std::string& url() const { return url_; }
    std::string listen() const {
        const auto host = url_.substr(6);
        return host.substr(0, host.find('/'));
    }
    void kill() {
        program_.signal(SIGKILL);
        program_.wait();
    }

private:
    static std::vector<std::string> arguments(const std::string& chain, const std::string& listen,
                                              const std::string& source) {
        std::vector<std::string> all{"serve",    "--backend", "cpu",  "--threads", "1",   "--mode",
                                     "lossless", "-i",        source, "--listen",  listen};
        if (!chain.empty()) all.insert(all.end(), {"-f", chain});
        return all;
    }

    Program program_;
    std::string url_;
};

class ViewWindow : public testing::Test {
protected:
    std::unique_ptr<Program> view(std::vector<std::string> arguments) {
        arguments.insert(arguments.begin(), {"view", "--snapshots", folder_.path()});
        auto program = std::make_unique<Program>(display_.framewire(std::move(arguments)));
        EXPECT_TRUE(display_.has_window("framewire")) << program->err();
        return program;
    }
    std::string still_picture() const {
        EXPECT_EQ(run_framewire({"run", "-y", "-i", still, "--frames", "1", "-o", folder_ / "still.bgr"}).code, 0);
        return contents(folder_ / "still.bgr");
    }
    std::vector<std::string> saved(const std::string& ending) const {
        std::vector<std::string> names;
        for (const auto& name : folder_.names())
            if (name.ends_with(ending)) names.push_back(name);
        return names;
    }

    TemporaryFolder folder_;
    Display display_;
};

TEST_F(ViewWindow, ShowsTheExactPixelsOfTheStream) {
    const Server server("");
    const auto picture = still_picture();
    const auto program = view({server.url()});
    // The picture is in the middle of the screen, at its own size.
    EXPECT_TRUE(
        display_.shows([&](const Screenshot& screen) { return screen.part_as_bgr(160, 120, 320, 240) == picture; }));
    display_.press("i");
    EXPECT_TRUE(
        display_.shows([&](const Screenshot& screen) { return screen.part_as_bgr(160, 120, 320, 240) != picture; }));
    display_.press("Tab");
    EXPECT_TRUE(display_.shows([&](const Screenshot& screen) {
        return screen.part_as_bgr(160, 120, 320, 240) == picture;
    })) << "the statistics are still visible";
    display_.press("q");
    const auto result = program->wait();
    EXPECT_EQ(result.code, 0) << result.err;
}

TEST_F(ViewWindow, SavesAndRecordsTheShownPicture) {
    constexpr int least_frames = 5;
    const Server server("");
    const auto picture = still_picture();
    const auto program = view({server.url(), "--progress", "json"});
    const auto see_frames = [&](int more) { return program->wait_for_frames(program->frames_reported() + more); };
    ASSERT_TRUE(
        display_.shows([&](const Screenshot& screen) { return screen.part_as_bgr(160, 120, 320, 240) == picture; }));
    display_.press("s");
    ASSERT_TRUE(becomes_true([&] { return saved(".png").size() == 1; }));
    display_.press("r");
    ASSERT_TRUE(display_.shows([](const Screenshot& screen) { return screen.red_pixels() > 300; })) << "REC";
    ASSERT_TRUE(see_frames(least_frames + 1)) << program->err();
    display_.press("r");
    ASSERT_TRUE(becomes_true([&] { return saved(".mkv").size() == 1; })) << program->err();
    display_.press("r");  // starts another recording, which is completed when the program ends
    ASSERT_TRUE(display_.shows([](const Screenshot& screen) { return screen.red_pixels() > 300; }));
    ASSERT_TRUE(see_frames(2)) << program->err();
    display_.press("q");
    EXPECT_EQ(program->wait().code, 0);
    ASSERT_EQ(saved(".mkv").size(), 2U);
    for (const auto& name : {saved(".png").front(), saved(".mkv").front(), saved(".mkv").back()}) {
        const auto result =
            run_framewire({"run", "-y", "-i", folder_ / name, "--frames", "1", "-o", folder_ / "seen.bgr"});
        ASSERT_EQ(result.code, 0) << result.err;
        EXPECT_EQ(contents(folder_ / "seen.bgr"), picture) << name;
    }
    EXPECT_GE(frames_in(folder_ / saved(".mkv").front()), least_frames);
}

// The window covers 576x324 pixels of the screen, starting at (32, 78), with two columns and two rows of cameras.
constexpr int first_x = 176, second_x = 464, upper_y = 159, lower_y = 321;

bool shows_all(const Screenshot& screen) {
    return screen.at(first_x, upper_y) == white && screen.at(second_x, upper_y) == black &&
           screen.at(first_x, lower_y) == gray;
}

bool shows_only(const Screenshot& screen, const Pixel& colour) {
    return screen.at(first_x, upper_y) == colour && screen.at(second_x, upper_y) == colour &&
           screen.at(first_x, lower_y) == colour && screen.at(second_x, lower_y) == colour;
}

TEST_F(ViewWindow, ShowsAllCamerasOrASingleOne) {
    const Server lit("adjust=brightness=255"), dark("adjust=brightness=-255"), plain("adjust=contrast=0");
    const auto program = view({lit.url(), dark.url(), plain.url()});
    ASSERT_TRUE(display_.shows(shows_all)) << program->err();
    display_.press("3");
    EXPECT_TRUE(display_.shows([](const Screenshot& screen) { return shows_only(screen, gray); }));
    display_.press("1");
    EXPECT_TRUE(display_.shows([](const Screenshot& screen) { return shows_only(screen, white); }));
    display_.press("Escape");
    EXPECT_TRUE(display_.shows(shows_all));
    display_.click(second_x, upper_y);
    EXPECT_TRUE(display_.shows([](const Screenshot& screen) { return shows_only(screen, black); }));
    display_.press("0");
    EXPECT_TRUE(display_.shows(shows_all));
    display_.press("Return", first_x, lower_y);
    EXPECT_TRUE(display_.shows([](const Screenshot& screen) { return shows_only(screen, gray); }));
    display_.press("Return");
    EXPECT_TRUE(display_.shows(shows_all));
    display_.press("Escape");
    EXPECT_EQ(program->wait().code, 0);
}

TEST_F(ViewWindow, ALostCameraIsReportedAndMayReturnWithAnotherSize) {
    const Server lit("adjust=brightness=255");
    auto dark = std::make_unique<Server>("adjust=brightness=-255");
    const auto listen = dark->listen();
    const auto program = view({lit.url(), dark->url(), "--reconnect", "1", "--log-level", "debug"});
    // Two cameras are side by side in the left and the right half of the window.
    const auto both = [](const Screenshot& screen) {
        return screen.at(first_x, 240) == white && screen.at(second_x, 240) == black;
    };
    ASSERT_TRUE(display_.shows(both)) << program->err();
    dark->kill();
    EXPECT_TRUE(display_.shows([&](const Screenshot& screen) { return both(screen) && screen.red_pixels() > 1000; }))
        << "expected its last picture and a red message";
    ASSERT_TRUE(program->wait_for_err("reconnecting")) << "a single stream would have given up by now";
    const Server again("adjust=contrast=0", listen, "synth:size=160x120:fps=10");
    EXPECT_TRUE(display_.shows([](const Screenshot& screen) {
        return screen.at(first_x, 240) == white && screen.at(second_x, 240) == gray && screen.red_pixels() == 0;
    })) << program->err();
    display_.press("q");
    EXPECT_EQ(program->wait().code, 0);
}

TEST_F(ViewWindow, WaitsForMissingCameras) {
    std::string listen;
    {
        Server gone("");
        listen = gone.listen();
    }
    const Server lit("adjust=brightness=255");
    const auto program = view({"tcp://" + listen, lit.url()});
    EXPECT_TRUE(display_.shows([](const Screenshot& screen) { return screen.at(second_x, 240) == white; }));
    EXPECT_GT(display_.screenshot().red_pixels(), 1000);
    const Server dark("adjust=brightness=-255", listen);
    EXPECT_TRUE(display_.shows([](const Screenshot& screen) { return screen.red_pixels() == 0; }));
    program->signal(SIGINT);
    EXPECT_EQ(program->wait().code, 130);
}

TEST(ViewWindowRefusal, ReportsTheReason) {
    const auto both = run_framewire({"view", "--no-window", "tcp://127.0.0.1:1", "tcp://127.0.0.1:2"});
    EXPECT_EQ(both.code, 2);
    EXPECT_NE(both.err.find("require a single stream, but 2 were given"), std::string::npos) << both.err;
    EXPECT_EQ(run_framewire({"view", "tcp://127.0.0.1:1", "nonsense"}).code, 2);
    EXPECT_EQ(run_framewire({"view", "--record-as", "exe", "tcp://127.0.0.1:1"}).code, 2);
    std::vector<std::string> many{"view"};
    many.resize(18, "tcp://127.0.0.1:1");
    EXPECT_EQ(run_framewire(many).code, 2);
}

}  // namespace
}  // namespace framewire::e2e
