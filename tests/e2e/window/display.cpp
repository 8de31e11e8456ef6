#include "e2e/window/display.hpp"
#include "e2e/places.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <utility>

#include <unistd.h>

namespace framewire::e2e {

Screenshot::Pixel Screenshot::at(int x, int y) const {
    const auto begin = std::size_t{3} * static_cast<std::size_t>(y * width + x);
    const auto byte = [&](std::size_t offset) { return int{static_cast<std::uint8_t>(bytes.at(begin + offset))}; };
    return {byte(0), byte(1), byte(2)};
}

std::string Screenshot::part_as_bgr(int x, int y, int part_width, int part_height) const {
    std::string part;
    for (int row = y; row < y + part_height; ++row)
        for (int column = x; column < x + part_width; ++column) {
            const auto pixel = at(column, row);
            for (const int value : {pixel.blue, pixel.green, pixel.red}) part += static_cast<char>(value);
        }
    return part;
}

int Screenshot::drawn_pixels() const {
    int count = 0;
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x) {
            const auto pixel = at(x, y);
            count += pixel.red + pixel.green + pixel.blue > 30 ? 1 : 0;
        }
    return count;
}

int Screenshot::red_pixels() const {
    int count = 0;
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x) {
            const auto pixel = at(x, y);
            count += pixel.red > 130 && pixel.green < 85 && pixel.blue < 85 ? 1 : 0;
        }
    return count;
}

std::vector<std::string> display_server(const std::string& screen) {
    // A killed server may still be shutting down, so each display gets a new number.
    static std::atomic<int> servers = 0;  // some tests have two at once
    const int number = 1000 + 8 * (static_cast<int>(getpid()) % 5000) + servers++ % 8;
    // With -noreset, the server does not reset when its last client disconnects: during a reset it would refuse new
    // connections.
    return {"Xvfb",    ":" + std::to_string(number), "-displayfd", "2", "-screen", "0", screen, "-nolisten", "tcp",
            "-noreset"};
}

Display::Display() {
    EXPECT_TRUE(server_.wait_for_err("\n")) << server_.err();
    variable_ = "DISPLAY=:" + std::to_string(std::atoi(server_.err().c_str()));
}

// Makes SDL use its software renderer, so that screenshots do not depend on the machine's Mesa, which also leaks when
// it is unloaded.
std::vector<std::string> Display::framewire(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"env", variable_, "SDL_VIDEODRIVER=x11", "SDL_RENDER_DRIVER=software",
                                         "SDL_FRAMEBUFFER_ACCELERATION=0", program_path});
    return arguments;
}

Result Display::run(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"env", variable_});
    return Program(std::move(arguments)).wait();
}

// Polls, because a search may fail on a window that disappears meanwhile.
bool Display::has_window(const std::string& title) const {
    return becomes_true([&] {
               return run({"xdotool", "search", "--onlyvisible", "--name", title}).code == 0;
           }) &&
           shows([](const Screenshot& screen) {
               return screen.drawn_pixels() > 0;
           });  // a window receives keys only after it has drawn
}

void Display::press(const std::string& key, int x, int y) const {
    const auto result = run({"xdotool", "mousemove", std::to_string(x), std::to_string(y), "key", key});
    EXPECT_EQ(result.code, 0) << key << ": " << result.err;
}

void Display::click(int x, int y) const {
    const auto result = run({"xdotool", "mousemove", std::to_string(x), std::to_string(y), "click", "1"});
    EXPECT_EQ(result.code, 0) << result.err;
}

void Display::drag(int from_x, int from_y, int to_x, int to_y) const {
    const auto result = run({"xdotool", "mousemove", std::to_string(from_x), std::to_string(from_y), "mousedown", "1",
                             "mousemove", std::to_string(to_x), std::to_string(to_y), "mouseup", "1"});
    EXPECT_EQ(result.code, 0) << result.err;
}

Screenshot Display::screenshot() const {
    const auto path = folder_ / "screen.rgb";
    const auto result = run({"import", "-window", "root", "-depth", "8", path});
    EXPECT_EQ(result.code, 0) << result.err;
    return {contents(path)};
}

Screenshot Display::settled(const std::function<bool(const Screenshot&)>& wanted) const {
    Screenshot before, now;
    EXPECT_TRUE(becomes_true([&] {
        before = std::exchange(now, screenshot());
        return now.bytes == before.bytes && wanted(now);
    }));
    return now;
}

bool Display::shows(const std::function<bool(const Screenshot&)>& wanted) const {
    return becomes_true([&] { return wanted(screenshot()); });
}

}  // namespace framewire::e2e
