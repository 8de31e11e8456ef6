#include "jobs/rig/fleet.hpp"

#include "framewire/core/error.hpp"
#include "framewire/net/address.hpp"
#include "jobs/rig/served.hpp"
#include "limits/decoders.hpp"
#include "network/load/crowd.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
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
constexpr double spare_seconds = 300;  // viewers are stopped long before

// Returns true if the options of the server say how far a stream may be from its frames.
bool bounds_itself(const Fleet& fleet) {
    return std::ranges::any_of(fleet.options, [](const auto& option) {
        return option.starts_with("--threshold") || option.starts_with("--mode") || option.starts_with("--max-bitrate");
    });
}

// Viewers on their own thread, from construction until their reports are requested.
class Crowd {
public:
    Crowd(const Served& server, const Fleet& fleet) {
        options_.viewers = fleet.viewers;
        options_.seconds = fleet.settling_seconds + fleet.seconds + spare_seconds;
        for (int camera = 0; camera < fleet.cameras; ++camera) {
            auto url = server.address(fmt::format("c{}", camera));
            auto address = net::parse_stream_address(url);
            options_.targets.push_back({std::move(url), std::move(address), nullptr, fleet.fps});
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

// Returns the time that all processes have used, on all cores.
double machine_seconds() {
    std::ifstream file("/proc/stat");
    std::string name;
    double user = 0, nice = 0, system = 0, idle = 0, waiting = 0, interrupts = 0, soft_interrupts = 0, stolen = 0;
    file >> name >> user >> nice >> system >> idle >> waiting >> interrupts >> soft_interrupts >> stolen;
    return (user + nice + system + interrupts + soft_interrupts + stolen) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

// CPU times at one moment.
struct Times {
    double server = 0, viewers = 0, machine = 0;
};

Times times_at(const Served::Mark& mark) { return {mark.cpu_seconds, process_seconds(), machine_seconds()}; }

// Returns the arguments of the server.
std::vector<std::string> arguments_of(const Fleet& fleet) {
    std::vector<std::string> arguments = fleet.options;
    const auto add = [&](const std::vector<std::string>& more) {
        arguments.insert(arguments.end(), more.begin(), more.end());
    };
    if (!fleet.backend.empty()) add({"--backend", fleet.backend});
    if (!bounds_itself(fleet)) add({"--threshold", std::to_string(threshold)});
    if (!fleet.video.empty()) add({"--loop", "--rate", fleet.fps > 0 ? fmt::format("{}", fleet.fps) : "max"});
    for (int camera = 0; camera < fleet.cameras; ++camera)
        add({"-i", fmt::format("c{}={}", camera,
                               fleet.video.empty()
                                   ? fmt::format("synth:size={}:fps={}:seed={}", fleet.size, fleet.fps, camera + 1)
                                   : fleet.video)});
    return arguments;
}

// Returns the mean time of the steps between reading and sending that --times has measured.
double steps_ms(const nlohmann::json& statistics) {
    double sum = 0;
    if (statistics.contains("steps"))
        for (const auto& step : statistics.at("steps"))
            if (step.at("step") != "read" && step.at("step") != "send") sum += step.at("mean_ms").get<double>();
    return sum;
}

// Returns how much later than the fastest frame 99 % of the frames arrived that were received since `begin`.
double late_p99_ms(const std::vector<network::ViewerReport>& reports, Clock::time_point begin) {
    std::vector<double> late_ms;
    for (const auto& report : reports)
        for (const auto& arrival : report.arrivals)
            if (arrival.at >= begin) late_ms.push_back(arrival.latency_ms);
    return network::percentile(std::move(late_ms), 0.99);
}

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

// Waits until `is_there` is true for every camera, and returns the progress report that shows it. Throws
// Error{internal} if that takes too long.
template <class IsThere>
Served::Mark wait_for_all(Served& server, int cameras, const char* what, IsThere&& is_there) {
    const auto since = Clock::now();
    for (;;) {
        auto mark = server.next_mark();
        const auto there =
            std::ranges::count_if(mark.cameras, [&](const auto& camera) { return is_there(camera.second); });
        if (there == cameras) return mark;
        if (milliseconds(since, mark.at) > 1000 * longest_seconds_to_come)
            fail(ErrorCode::internal, "only {} of {} cameras {} within {} s", there, cameras, what,
                 longest_seconds_to_come);
    }
}

}  // namespace fleet

FleetStatistics run_fleet(const Fleet& fleet) {
    const MemoryFolder folder;
    Served server(folder, fleet::arguments_of(fleet));
    const auto started = Clock::now();
    FleetStatistics figures;
    // A viewer of a camera that is not open yet would be refused.
    auto before =
        fleet::wait_for_all(server, fleet.cameras, "delivered a frame", [](const auto& c) { return c.frames > 0; });
    figures.opening_seconds = milliseconds(started, before.at) / 1000;
    std::optional<fleet::Crowd> crowd;
    const auto watched_since = Clock::now();
    if (fleet.viewers > 0) {
        crowd.emplace(server, fleet);
        if (fleet.viewers >= fleet.cameras)
            before = fleet::wait_for_all(server, fleet.cameras, "sent a picture",
                                         [](const auto& c) { return c.sent_bytes > 0; });
    }
    while (milliseconds(watched_since, before.at) < 1000 * fleet.settling_seconds) before = server.next_mark();
    const auto times_before = fleet::times_at(before);
    const double memory_before_mib = server.memory_mib();
    auto after = server.next_mark();
    while (milliseconds(before.at, after.at) < 1000 * fleet.seconds) after = server.next_mark();
    const auto times = fleet::times_at(after);

    figures.memory_mib = server.memory_mib();
    figures.memory_growth_mib = figures.memory_mib - memory_before_mib;
    figures.threads = server.threads();
    const double watched_seconds = milliseconds_since(watched_since) / 1000;
    if (crowd) {
        const auto reports = crowd->reports();
        figures.viewer_fps = static_cast<double>(fleet::check(reports)) / watched_seconds;
        figures.late_p99_ms = fleet::late_p99_ms(reports, before.at);
    }
    const auto statistics = server.stop();
    if (const int error = largest_error(statistics); error > fleet::threshold && !fleet::bounds_itself(fleet))
        fail(ErrorCode::internal, "a byte of a stream was off by {}; at most {} is allowed", error, fleet::threshold);
    figures.steps_ms = fleet::steps_ms(statistics);

    const double seconds = milliseconds(before.at, after.at) / 1000;
    std::int64_t all = 0, fewest = std::numeric_limits<std::int64_t>::max(), bytes = 0;
    for (const auto& [name, camera] : after.cameras) {
        const auto& earlier = before.cameras.at(name);
        const auto made = camera.frames - earlier.frames;
        all += made;
        bytes += camera.sent_bytes - earlier.sent_bytes;
        fewest = std::min(fewest, made);
    }
    if (all == 0) fail(ErrorCode::internal, "no camera produced a frame within {:.1f} s", seconds);
    figures.slowest_fps = static_cast<double>(fewest) / seconds;
    figures.held = static_cast<double>(fewest) >= 0.99 * fleet.fps * seconds - 1;
    figures.frames_per_second = static_cast<double>(all) / seconds;
    figures.bytes_per_frame = static_cast<double>(bytes) / static_cast<double>(all);
    const double busy_seconds = times.server - times_before.server;
    figures.cpu_us_per_frame = 1e6 * busy_seconds / static_cast<double>(all);
    figures.cores = busy_seconds / seconds;
    figures.viewer_cores = (times.viewers - times_before.viewers) / seconds;
    figures.other_cores =
        std::max(0.0, (times.machine - times_before.machine) / seconds - figures.cores - figures.viewer_cores);
    return figures;
}

double free_mib() {
    std::ifstream file("/proc/meminfo");
    std::string name;
    for (double kib = 0; file >> name; file.ignore(80, '\n'))
        if (name == "MemAvailable:" && file >> kib) return kib / 1024;
    fail(ErrorCode::internal, "/proc/meminfo has no line MemAvailable");
}

}  // namespace framewire::bench
