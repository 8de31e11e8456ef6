// Tests pictures over HTTP and in recordings, with slow lines and stalled readers: each picture must equal one camera
// frame.

#include "network/cases/pictures.hpp"
#include "e2e/window/display.hpp"
#include "framewire/media/image_formats.hpp"
#include "kit/images.hpp"
#include "network/cases/rig.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <memory>
#include <thread>
#include <utility>

namespace framewire::network {
namespace {

using namespace std::chrono_literals;
using Milliseconds = std::chrono::duration<double, std::milli>;

constexpr double fps = 15;
const std::vector<std::string> modes{"exact", "lossless", "bounded"};

int threshold_of(const std::string& mode) { return mode == "lossless" ? 0 : 12; }

// Camera and its server in one mode, and the folder for their files.
struct Station {
    Station(const std::string& mode_, const std::string& size, double kept_seconds, bool records = false)
        : mode(mode_),
          // The noise exceeds the threshold, so that there is something to send in every mode.
          camera(folder, "cam", size, fps, {}, 16, kept_seconds),
          served(words(records)) {
        EXPECT_TRUE(e2e::becomes_true(
            [&] { return net::testing::HttpClient(served.port()).ask("GET /readyz").status == 200; }));
    }

    Words words(bool records) const {
        Words all{"-i", camera.source(), "--mode", mode, "--controls", "--record-dir", folder.path(), "--threads", "1"};
        if (mode != "lossless") all.insert(all.end(), {"--threshold", std::to_string(threshold_of(mode))});
        if (records) all.insert(all.end(), {"--record", folder / "server.fwd"});
        return all;
    }
    static std::uint16_t reached(Link& link, const Served& server) {
        const auto address = link.reach(server.port());
        return static_cast<std::uint16_t>(std::stoi(address.substr(address.rfind(':') + 1)));
    }

    std::string mode;
    e2e::TemporaryFolder folder;
    Camera camera;
    Served served;
};

// Files that a client received, each with its extension.
using Files = std::vector<std::pair<std::string, std::string>>;

// Returns the files of a client that takes everything that a line delivers.
Files seen_on_a_line(std::uint16_t port, Clock::time_point end) {
    Files files;
    for (MjpegClient stream(port); Clock::now() < end;) files.emplace_back("jpg", stream.next());
    return files;
}

Files snapshots_on_a_line(std::uint16_t port, Clock::time_point end) {
    Files files;
    while (Clock::now() < end)
        for (const std::string ending : {"png", "jpg"})
            files.emplace_back(ending, file_over_http(port, "snapshot." + ending));
    return files;
}

// Returns the files of a client that repeatedly stops reading for two seconds.
Files seen_with_stalls(std::uint16_t port, Clock::time_point end) {
    Files files;
    MjpegClient stream(port);
    while (Clock::now() < end) {
        std::this_thread::sleep_for(2s);
        // The first pictures come from the kernel's buffers, the rest are new.
        for (int picture = 0; picture < 15; ++picture) files.emplace_back("jpg", stream.next());
    }
    return files;
}

// Returns the largest gap between the numbers of consecutive pictures.
std::uint32_t widest_gap(const std::vector<std::uint32_t>& stamps) {
    std::uint32_t gap = 0;
    for (std::size_t at = 1; at < stamps.size(); ++at)
        if (stamps[at] > stamps[at - 1]) gap = std::max(gap, stamps[at] - stamps[at - 1]);
    return gap;
}

// Checks the files and returns the numbers of their frames.
std::vector<std::uint32_t> check_files(const Files& files, const Station& station) {
    const FrameLog log(station.camera.log());
    const int threshold = threshold_of(station.mode);
    std::vector<std::uint32_t> stamps;
    for (const auto& [ending, file] : files) {
        const auto picture = decoded(file, ending, station.folder);
        const auto stamp = stamp_of(picture, log);
        if (ending == "png") {
            EXPECT_EQ(outside_bound(picture, log, threshold), "");
        } else {
            EXPECT_EQ(outside_jpeg_bound(picture, log, threshold), "");
            if (station.mode == "lossless" && stamp > 0) {
                EXPECT_TRUE(file == encode_jpeg({log.pixels(stamp), log.shape()})) << "frame " << stamp;
            }
            stamps.push_back(stamp);
        }
    }
    return stamps;
}

// Files that all clients of a station receive until `end`.
struct Seen {
    Files slowly, with_stalls, snapshots;
};

Seen look(const Station& station, Clock::time_point end) {
    const auto slow = make_proxy_link(), snapshots = make_proxy_link();
    const auto hold_to = [](Link& link, double bits_per_second) {
        link.set(line_settings(fmt::format("delay=5:rate={:.0f}:queue=50", bits_per_second)));
    };
    const auto port = station.served.port();
    const auto bits_of = [&](const std::string& name) {
        return 8 * static_cast<double>(file_over_http(port, name).size());
    };
    hold_to(*slow, bits_of("snapshot.jpg") * fps / 2);
    constexpr double snapshot_seconds = 0.5;
    hold_to(*snapshots, bits_of("snapshot.png") / snapshot_seconds);
    Seen seen;
    const std::jthread first([&] { seen.slowly = seen_on_a_line(Station::reached(*slow, station.served), end); });
    const std::jthread second(
        [&] { seen.snapshots = snapshots_on_a_line(Station::reached(*snapshots, station.served), end); });
    seen.with_stalls = seen_with_stalls(port, end);
    return seen;
}

// Under a sanitizer the server may produce so few frames that a slow line delivers all of them.
const bool makes_few_frames = kit::brief();

TEST(Pictures, EachHttpPictureIsOneFrameForSlowAndStalledReaders) {
    const auto seconds = scaled(4.0, 60.0);
    std::vector<std::jthread> stations;
    for (const auto& mode : modes)
        stations.emplace_back([=] {
            SCOPED_TRACE(mode);
            const Station station(mode, "320x240", seconds + 60);
            const auto seen =
                look(station, Clock::now() + std::chrono::duration_cast<Clock::duration>(Milliseconds(1e3 * seconds)));
            check_files(seen.snapshots, station);
            const auto gap = widest_gap(check_files(seen.slowly, station)),
                       stall = widest_gap(check_files(seen.with_stalls, station));
            if (!makes_few_frames) {
                EXPECT_GT(gap, 1u) << "the slow line delivered every frame";
                EXPECT_GT(stall, 5u) << "no frames were skipped during a stall";
            }
            for (const auto* files : {&seen.slowly, &seen.with_stalls, &seen.snapshots}) EXPECT_GT(files->size(), 5u);
            tell("pictures on a slow line, " + mode, static_cast<double>(seen.slowly.size()), "");
            tell("pictures between stalls, " + mode, static_cast<double>(seen.with_stalls.size()), "");
            tell("snapshots on a slow line, " + mode, static_cast<double>(seen.snapshots.size()), "");
        });
}

// --- recordings ---

// Checks that each picture of a recording is the frame whose number it bears, and that they are in order.
std::size_t check_recording(const std::string& path, const Station& station) {
    SCOPED_TRACE(path);
    const FrameLog log(station.camera.log());
    const auto pictures = pictures_of_file(path);
    std::uint32_t before = 0;
    for (const auto& picture : pictures) {
        const auto stamp = stamp_of(picture, log);
        EXPECT_EQ(outside_bound(picture, log, threshold_of(station.mode)), "");
        EXPECT_GT(stamp, before);
        before = stamp;
    }
    return pictures.size();
}

// Runs viewers on a line with half the rate that they need, and one that is stopped for half of `seconds`; all of them
// record, and so does the server, from its start and on request.
void record_beside_slow_viewers(Station& station, double seconds) {
    const auto asked = [&](const std::string& path) {
        return Json::parse(net::testing::HttpClient(station.served.port()).ask("GET /api/" + path).body);
    };
    const auto link = make_proxy_link();
    const auto slow_url = fmt::format("tcp://127.0.0.1:{}/main", Station::reached(*link, station.served));
    const auto view = [&](const std::string& url, const std::string& name) {
        return std::make_unique<e2e::Program>(view_command({url, "-o", station.folder / name, "--progress", "json"}));
    };
    const auto slow = view(slow_url, "slow.fwd"), also_slow = view(slow_url, "slow.mkv"),
               stopped = view(station.served.url(), "stopped.fwd");
    for (const auto* viewer : {&slow, &also_slow, &stopped}) EXPECT_TRUE((*viewer)->wait_for_frames(1));
    Json rate;
    ASSERT_TRUE(e2e::becomes_true([&] {
        rate = asked("stats")["cameras"]["main"]["rate"]["bits_per_second"]["mean"];
        return rate.is_number();
    }));
    const double bits_per_second = rate;
    link->set(line_settings(fmt::format("delay=5:rate={:.0f}:queue=50", 2 * bits_per_second / 2)));
    stopped->signal(SIGSTOP);
    const std::string live = order(station.served, "POST", "record", {{"on", true}})["recording"]["file"];
    const auto record_until = [&](double recorded_seconds) {
        return e2e::becomes_true([&] { return asked("cameras/main")["recording"]["seconds"] >= recorded_seconds; });
    };
    EXPECT_TRUE(record_until(seconds / 2));
    stopped->signal(SIGCONT);
    EXPECT_TRUE(record_until(seconds));
    order(station.served, "POST", "record", {{"on", false}});
    for (const auto* program : {slow.get(), also_slow.get(), stopped.get(), &station.served.program()})
        program->signal(SIGTERM);
    for (auto* program : {slow.get(), also_slow.get(), stopped.get(), &station.served.program()}) program->wait();

    const auto reported = [&](const std::string& name) {
        const auto pictures = check_recording(station.folder / name, station);
        EXPECT_GT(pictures, 3u) << name;
        tell(fmt::format("pictures of {}, {}", name == live ? "a requested recording" : name, station.mode),
             static_cast<double>(pictures), "");
        return pictures;
    };
    const auto all = reported("server.fwd");
    reported(live);
    for (const auto* name : {"slow.fwd", "slow.mkv", "stopped.fwd"}) {
        const auto pictures = reported(name);
        if (!makes_few_frames) {
            EXPECT_LT(pictures, all) << name << ": no frames were skipped";
        }
    }
}

TEST(Pictures, EachRecordedPictureIsOneFrameWithSlowViewers) {
    const auto seconds = scaled(2.0, 60.0);
    std::vector<std::jthread> stations;
    for (const auto& mode : modes)
        stations.emplace_back([=] {
            SCOPED_TRACE(mode);
            Station station(mode, "192x144", seconds + 60, true);
            record_beside_slow_viewers(station, seconds);
        });
}

}  // namespace
}  // namespace framewire::network
