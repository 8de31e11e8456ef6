// Tests that privacy masks take effect immediately in all outputs of the server: snapshots, Motion JPEG, recordings,
// and files of viewers.

#include "e2e/window/display.hpp"
#include "framewire/plan/privacy_masks.hpp"
#include "kit/images.hpp"
#include "network/cases/pictures.hpp"
#include "network/cases/rig.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <memory>
#include <thread>
#include <utility>

namespace framewire::network {
namespace {

using namespace std::chrono_literals;

constexpr double fps = 20;
constexpr int threshold = 20;
constexpr double kept_seconds = 180;  // the log's file only occupies space for the frames that are sent
constexpr Shape shape{1, 112, 160, 3};
// Zones at multiples of 16 pixels, so that no JPEG block straddles a mask's edge.
constexpr Zone privacy{32, 32, 64, 48}, mosaic{112, 32, 48, 64};

// Settings in force after a request, for the frames after `after`.
struct InForce {
    std::uint32_t after = 0;
    bool black = false, cells = false;
    int brightness = 0;
};

// Camera and its server, for a mode and a level. At that level, the masks are within the threshold of black, of gray or
// far from both.
class Masked {
public:
    Masked(std::string mode, int level)
        : mode_(std::move(mode)),
          camera_(folder_, "cam", fmt::format("{}x{}", shape.width, shape.height), fps, {}, 3, kept_seconds,
                  {fmt::format("level={}", level)}),
          served_({"-i", camera_.source(), "--mode", mode_, "--controls", "--record-dir", folder_.path(), "--threads",
                   "1"}),
          log_(camera_.log()) {}

    /// Runs the test. If `relayed`, a viewer also watches the server through a relay and a slow line.
    void run(bool relayed);

private:
    void wait_for_frames(std::uint32_t count) const {
        const auto end = log_.newest() + count;
        for (int look = 0; look < 3000 && log_.newest() < end; ++look) std::this_thread::sleep_for(10ms);
        EXPECT_GE(log_.newest(), end);
    }
    // Starts a recording and waits until it has a frame.
    std::string start_recording() const {
        const auto file = order(served_, "POST", "record", {{"on", true}})["recording"]["file"];
        EXPECT_TRUE(e2e::becomes_true([&] {
            const auto now = net::testing::HttpClient(served_.port()).ask("GET /api/cameras/main");
            return Json::parse(now.body)["recording"]["seconds"] > 0;
        }));
        return file;
    }
    void stop_recording() const { order(served_, "POST", "record", {{"on", false}}); }
    // Makes a control request and immediately checks all outputs.
    void request(bool black, bool cells, int brightness);
    std::string why_not(const Pixels& picture, std::uint32_t stamp, const InForce& now, bool is_jpeg) const;
    void check_now(const std::string& ending, const std::string& file) const;
    void check_later(const Pixels& picture, bool is_jpeg) const;
    void check_recording(const std::string& name, bool begins_hidden) const;

    std::string mode_;
    e2e::TemporaryFolder folder_;
    Camera camera_;
    Served served_;
    FrameLog log_;
    std::vector<InForce> in_force_{{}};
};

// Returns the reason why a picture of this frame differs from what the settings must give; empty if it does not.
std::string Masked::why_not(const Pixels& picture, std::uint32_t stamp, const InForce& now, bool is_jpeg) const {
    const auto* const frame = log_.pixels(stamp);
    if (!frame) return fmt::format("the camera did not send frame {}", stamp);
    Pixels expected(frame, frame + shape.bytes());
    const auto zones = [](bool is_on, const Zone& zone) {
        return is_on ? std::vector<Zone>{zone} : std::vector<Zone>();
    };
    PrivacyMasks(zones(now.cells, mosaic), zones(now.black, privacy), shape).run({expected.data(), shape});
    for (auto& byte : expected) byte = static_cast<std::uint8_t>(std::clamp(byte + now.brightness, 0, 255));
    const auto largest_error = [&](const Zone& zone, int margin_px) {
        int largest = 0;
        for (int y = zone.y + margin_px; y < zone.y + zone.height - margin_px; ++y)
            for (int byte = 3 * (zone.x + margin_px); byte < 3 * (zone.x + zone.width - margin_px); ++byte) {
                const auto at = static_cast<std::size_t>(y * shape.row_bytes() + byte);
                largest = std::max(largest, std::abs(picture[at] - expected[at]));
            }
        return largest;
    };
    // A JPEG preserves uniform blocks except for rounding; the chroma of neighbours extends two pixels into them.
    constexpr int reach_px = 2, rounding = 2;
    if (const int error = now.black ? largest_error(privacy, is_jpeg ? reach_px : 0) : 0;
        error > (is_jpeg ? rounding : 0))
        return fmt::format("the privacy mask differs by {} from {}", error, std::max(now.brightness, 0));
    if (is_jpeg) return "";
    const int allowed = mode_ == "lossless" ? 0 : threshold;
    if (const int error = largest_error({0, 0, shape.width, shape.height}, 0); error > allowed)
        return fmt::format("the picture differs by {} from frame {}", error, stamp);
    if (!now.cells) return "";
    const int side = PrivacyMasks::cell_px(shape);
    for (int y = 0; y < mosaic.height; ++y)
        for (int x = 0; x < mosaic.width; ++x)
            for (int channel = 0; channel < 3; ++channel) {
                const auto at = [&](int row, int column) {
                    return picture[static_cast<std::size_t>((mosaic.y + row) * shape.row_bytes() +
                                                            3 * (mosaic.x + column) + channel)];
                };
                if (at(y, x) != at(y / side * side, x / side * side))
                    return fmt::format("the cell of pixel {},{} is not uniform", mosaic.x + x, mosaic.y + y);
            }
    return "";
}

// Checks a picture that was requested after the response to the control request: only the new settings are in force.
void Masked::check_now(const std::string& ending, const std::string& file) const {
    const auto picture = decoded(file, ending, folder_);
    EXPECT_EQ(why_not(picture, stamp_of(picture, log_), in_force_.back(), ending == "jpg"), "") << ending;
}

// Checks a picture that was already being sent at the time of the request. Its settings are those that were in force
// when its frame was captured, or later ones, because frames may wait in a busy server.
void Masked::check_later(const Pixels& picture, bool is_jpeg) const {
    const auto stamp = stamp_of(picture, log_);
    ASSERT_GT(stamp, 0u) << "the picture has no valid frame number";
    const auto next =
        std::find_if(in_force_.begin(), in_force_.end(), [&](const auto& one) { return one.after >= stamp; });
    EXPECT_TRUE(std::any_of(std::prev(next), in_force_.end(),
                            [&](const auto& settings) { return why_not(picture, stamp, settings, is_jpeg).empty(); }))
        << "frame " << stamp << ": " << why_not(picture, stamp, *std::prev(next), is_jpeg);
}

void Masked::request(bool black, bool cells, int brightness) {
    const auto& before = in_force_.back();
    if (black != before.black || cells != before.cells) {
        auto zones = Json::array();
        const auto add = [&](const char* kind, const Zone& zone) {
            zones.push_back(
                {{"kind", kind}, {"x", zone.x}, {"y", zone.y}, {"width", zone.width}, {"height", zone.height}});
        };
        if (cells) add("mosaic", mosaic);
        if (black) add("privacy", privacy);
        order(served_, "PUT", "zones", {{"zones", zones}});
    } else {
        order(served_, "PUT", "controls", {{"brightness", brightness}});
    }
    in_force_.push_back({log_.newest(), black, cells, brightness});
    SCOPED_TRACE(fmt::format("black {}, cells {}, brightness {}", black, cells, brightness));
    check_now("png", file_over_http(served_.port(), "snapshot.png"));
    check_now("jpg", file_over_http(served_.port(), "snapshot.jpg"));
    check_now("jpg", MjpegClient(served_.port()).next());
    wait_for_frames(3);
    check_now("png", file_over_http(served_.port(), "snapshot.png"));
}

void Masked::check_recording(const std::string& name, bool begins_hidden) const {
    SCOPED_TRACE(name);
    const auto pictures = pictures_of_file(folder_ / name);
    ASSERT_GT(pictures.size(), 3u);
    const auto first = stamp_of(pictures.front(), log_);
    const InForce nothing{}, hidden{.black = true};
    EXPECT_EQ(why_not(pictures.front(), first, begins_hidden ? hidden : nothing, false), "");
    for (const auto& picture : pictures) check_later(picture, false);
}

void Masked::run(bool relayed) {
    wait_for_frames(2);
    const auto link = make_proxy_link();
    std::unique_ptr<Served> relay;
    std::vector<std::unique_ptr<e2e::Program>> viewers;
    const auto view = [&](const std::string& url, const std::string& name) {
        viewers.push_back(
            std::make_unique<e2e::Program>(view_command({url, "-o", folder_ / name, "--progress", "json"})));
    };
    view(served_.url(), "viewer.fwd");
    if (relayed) {
        relay = std::make_unique<Served>(Words{"-i", served_.url()});
        view(fmt::format("tcp://{}/main", link->reach(relay->port())), "relayed.fwd");
    }
    MjpegClient watching(served_.port());
    std::vector<std::string> watched{watching.next()};
    std::atomic<bool> is_over = false;
    std::jthread watch([&] {
        while (!is_over) watched.push_back(watching.next());
    });
    for (const auto& viewer : viewers) EXPECT_TRUE(viewer->wait_for_frames(1));
    // Give the line less bandwidth than the stream needs.
    link->set(line_settings(mode_ == "lossless" ? "queue=50:rate=1M" : "queue=50:rate=200k"));
    const auto running = start_recording();
    request(true, false, 0);
    stop_recording();
    const auto after = start_recording();
    request(true, false, 15);
    request(true, false, -10);
    request(true, false, 0);
    request(true, true, 0);
    request(false, false, 0);
    request(true, true, 0);
    stop_recording();
    is_over = true;
    watch.join();
    for (const auto& viewer : viewers) {
        viewer->signal(SIGTERM);
        viewer->wait();
    }
    check_recording(running, false);
    check_recording(after, true);
    check_recording("viewer.fwd", false);
    if (relayed) check_recording("relayed.fwd", false);
    for (const auto& file : watched) check_later(decoded(file, "jpg", folder_), true);
    tell(fmt::format("pictures of the Motion JPEG stream, {}", mode_), static_cast<double>(watched.size()), "");
}

TEST(Masks, TakeEffectImmediatelyInAllOutputs) {
    constexpr std::array levels{8, 120, 225};  // levels within the threshold of black and far from it
    constexpr std::array modes{"exact", "lossless", "bounded"};
    for (int round = 0; round < scaled(1, 20); ++round) {
        std::vector<std::jthread> cameras;
        for (std::size_t mode = 0; mode < modes.size(); ++mode)
            for (std::size_t level = 0; level < levels.size(); ++level) {
                if (kit::brief() && mode != level) continue;
                cameras.emplace_back([=] {
                    SCOPED_TRACE(fmt::format("{}, level {}", modes[mode], levels[level]));
                    Masked(modes[mode], levels[level]).run(mode == level);
                });
            }
    }
}

}  // namespace
}  // namespace framewire::network
