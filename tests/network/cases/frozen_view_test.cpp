// Tests that the window of `view`, repeatedly stopped and continued, always shows one frame of the camera.

#include "e2e/window/display.hpp"
#include "network/cases/pictures.hpp"
#include "network/cases/rig.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <csignal>
#include <set>
#include <thread>

namespace framewire::network {
namespace {

using namespace std::chrono_literals;

constexpr int width = 320, height = 240, threshold = 12;

// Returns the pixels of the picture, which is in the middle of the screen at its own size.
Pixels shown_on(const e2e::Display& display) {
    const auto bytes = display.screenshot().part_as_bgr((e2e::Screenshot::width - width) / 2,
                                                        (e2e::Screenshot::height - height) / 2, width, height);
    return {bytes.begin(), bytes.end()};
}

// Stops and continues the window. After the first picture, the line is limited to `rate`.
void freeze_and_look(const std::string& mode, const std::string& rate) {
    const e2e::TemporaryFolder folder;
    const Camera camera(folder, "cam", fmt::format("{}x{}", width, height), 20, {}, 16, scaled(60.0, 120.0));
    const FrameLog log(camera.log());
    Words words{"-i", camera.source(), "--mode", mode};
    if (mode != "lossless") words.insert(words.end(), {"--threshold", std::to_string(threshold)});
    const Served served(words);
    const auto link = make_proxy_link();
    const e2e::Display display;
    const e2e::Program view(display.framewire({"view", fmt::format("tcp://{}/main", link->reach(served.port()))}));
    ASSERT_TRUE(display.shows([&](const e2e::Screenshot&) { return stamp_of(shown_on(display), log) > 0; }))
        << view.err();
    link->set(line_settings("delay=5:queue=50:rate=" + rate));
    std::set<std::uint32_t> seen;
    const auto look = [&] {
        const auto picture = shown_on(display);
        EXPECT_EQ(outside_bound(picture, log, mode == "lossless" ? 0 : threshold), "");
        seen.insert(stamp_of(picture, log));
    };
    const int rounds = scaled(3, 30);
    for (int round = 0; round < rounds; ++round) {
        view.signal(SIGSTOP);
        std::this_thread::sleep_for(700ms);
        view.signal(SIGCONT);
        for (int look_number = 0; look_number < 4; ++look_number) look();
    }
    // On a busy machine the viewer may need longer for its next frames.
    for (const auto end = Clock::now() + 20s; seen.size() <= 2 && Clock::now() < end;) look();
    EXPECT_GT(seen.size(), 2u) << "the picture does not change";
    tell("distinct frames on the screen, " + mode, static_cast<double>(seen.size()), "");
}

TEST(FrozenView, ShowsOneFrameAtATime) {
    std::vector<std::jthread> modes;
    for (const auto& [mode, rate] : {std::pair{"exact", "5M"}, {"lossless", "20M"}})
        modes.emplace_back([=] {
            SCOPED_TRACE(mode);
            freeze_and_look(mode, rate);
        });
}

}  // namespace
}  // namespace framewire::network
