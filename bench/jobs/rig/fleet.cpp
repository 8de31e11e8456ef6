#include "jobs/rig/fleet.hpp"

#include "framewire/core/error.hpp"
#include "framewire/net/address.hpp"
#include "jobs/rig/served.hpp"
#include "network/load/crowd.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <limits>
#include <optional>
#include <stop_token>
#include <utility>
#include <vector>

namespace framewire::bench {
namespace fleet {

constexpr int threshold = 20;
constexpr double longest_seconds_to_come = 60;
constexpr double longest_seconds = 600;  // time limit of the viewers, which are stopped long before

// Viewers on their own thread, from construction until their reports are requested.
class Crowd {
public:
    Crowd(const Served& server, const Fleet& fleet) {
        options_.viewers = fleet.viewers;
        options_.seconds = longest_seconds;
        for (int camera = 0; camera < fleet.cameras; ++camera) {
            auto url = server.address(fmt::format("c{}", camera));
            auto address = net::parse_stream_address(url);
            options_.targets.push_back({std::move(url), std::move(address), nullptr});
        }
        reports_ = std::async(std::launch::async, [this] { return network::run_crowd(options_, stop_.get_token()); });
    }
    ~Crowd() { stop_.request_stop(); }

    std::vector<network::ViewerReport> reports() {
        stop_.request_stop();
        return reports_.get();
    }

private:
    network::LoadOptions options_;
    std::stop_source stop_;
    std::future<std::vector<network::ViewerReport>> reports_;
};

// Checks all reports; returns the smallest number of states that a viewer received.
std::int64_t check(const std::vector<network::ViewerReport>& reports) {
    auto fewest = std::numeric_limits<std::int64_t>::max();
    for (const auto& report : reports) {
        if (!report.errors.empty()) fail(ErrorCode::internal, "{}: {}", report.url, report.errors.front());
        if (report.states == 0) fail(ErrorCode::internal, "{}: a viewer received no picture", report.url);
        fewest = std::min(fewest, report.states);
    }
    return fewest;
}

// Returns true if every camera has sent something. Throws Error{internal} if that takes too long.
bool all_are_seen(const Served::Mark& mark, Clock::time_point since) {
    if (milliseconds(since, mark.at) > 1000 * longest_seconds_to_come)
        fail(ErrorCode::internal, "the viewers received no pictures within {} s", longest_seconds_to_come);
    return std::ranges::all_of(mark.cameras, [](const auto& camera) { return camera.second.sent_bytes > 0; });
}

}  // namespace fleet

FleetStatistics run_fleet(const Fleet& fleet) {
    const MemoryFolder folder;
    std::vector<std::string> arguments{"--backend", fleet.backend, "--threshold", std::to_string(fleet::threshold)};
    for (int camera = 0; camera < fleet.cameras; ++camera)
        arguments.insert(arguments.end(), {"-i", fmt::format("c{0}=synth:size={1}:fps={2}:seed={3}", camera, fleet.size,
                                                             fleet.fps, camera + 1)});
    Served server(folder, arguments);
    const auto started = Clock::now();
    std::optional<fleet::Crowd> crowd;
    if (fleet.viewers > 0) crowd.emplace(server, fleet);
    auto before = server.next_mark();
    while (milliseconds(started, before.at) < 1000 * fleet.settling_seconds ||
           (crowd && !fleet::all_are_seen(before, started)))
        before = server.next_mark();
    auto after = server.next_mark();
    while (milliseconds(before.at, after.at) < 1000 * fleet.seconds) after = server.next_mark();

    FleetStatistics figures;
    figures.memory_mib = server.memory_mib();
    figures.threads = server.threads();
    const double watched_seconds = milliseconds_since(started) / 1000;
    if (crowd) figures.viewer_fps = static_cast<double>(fleet::check(crowd->reports())) / watched_seconds;
    if (const int error = largest_error(server.stop()); error > fleet::threshold)
        fail(ErrorCode::internal, "a byte of a stream was off by {}; at most {} is allowed", error, fleet::threshold);

    const double seconds = milliseconds(before.at, after.at) / 1000;
    std::int64_t all = 0, fewest = std::numeric_limits<std::int64_t>::max();
    for (const auto& [name, camera] : after.cameras) {
        const auto made = camera.frames - before.cameras.at(name).frames;
        all += made;
        fewest = std::min(fewest, made);
    }
    if (all == 0) fail(ErrorCode::internal, "no camera produced a frame within {:.1f} s", seconds);
    figures.slowest_fps = static_cast<double>(fewest) / seconds;
    figures.held = static_cast<double>(fewest) >= 0.99 * fleet.fps * seconds - 1;
    const double busy_seconds = after.cpu_seconds - before.cpu_seconds;
    figures.cpu_us_per_frame = 1e6 * busy_seconds / static_cast<double>(all);
    figures.cores = busy_seconds / seconds;
    return figures;
}

}  // namespace framewire::bench
