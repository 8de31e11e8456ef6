#include "network/load/checking_viewer.hpp"

#include "framewire/core/error.hpp"
#include "framewire/net/client.hpp"
#include "network/camera/bound_check.hpp"
#include "network/camera/stamp.hpp"

#include <optional>
#include <stdexcept>
#include <thread>

namespace framewire::network {
namespace {

void check(const net::Client& client, const FrameLog& log, BoundCheck& bound, double window_ms, ViewerReport& report) {
    const auto now = Clock::now();
    const auto number = read_stamp(client.picture());
    if (!number) {
        ++report.unstamped;
        return;
    }
    report.came(log.captured(*number), now);
    const auto finding = bound.check(client.picture(), client.threshold(), window_ms, now);
    ++report.checked;
    if (finding.outside > 0) report.failed.push_back(now);
    report.outside += finding.outside;
    report.oldest_age_ms = std::max(report.oldest_age_ms, finding.age_ms);
}

// Connects to the stream; retries for as long as for a lost stream, because a server that restarts a stream has none
// for a moment.
net::Client connected(const LoadOptions& options, const LoadTarget& target, const std::stop_token& stop) {
    net::ClientOptions how;
    how.reconnect = std::chrono::milliseconds(static_cast<std::int64_t>(1e3 * options.reconnect_seconds));
    how.follows_size = options.states != nullptr;
    for (const auto begin = Clock::now();;) {
        try {
            return net::Client(target.address, how, stop);
        } catch (const Error& error) {
            if (error.code() != ErrorCode::no_input || stop.stop_requested() ||
                milliseconds_since(begin) > 1e3 * options.reconnect_seconds)
                throw;
            std::this_thread::sleep_for(how.first_pause);
        }
    }
}

}  // namespace

ViewerReport run_checking_viewer(const LoadOptions& options, const LoadTarget& target, std::stop_token stop) {
    if (!target.log && !options.states)
        throw std::invalid_argument("no camera log is given for checking " + target.url);
    ViewerReport report;
    report.url = target.url;
    report.connections = 1;
    const auto begin = Clock::now();
    net::ClientCounts counts;
    try {
        auto client = connected(options, target, stop);
        std::optional<BoundCheck> bound;
        if (!options.states) {
            bound.emplace(*target.log);
            if (client.info().shape != target.log->shape())
                fail(ErrorCode::usage, "the pictures do not have the camera's size");
        }
        while (milliseconds_since(begin) < 1e3 * options.seconds && client.next()) {
            if (report.states++ == 0) report.first_state_ms.push_back(milliseconds_since(begin));
            counts = client.counts();
            if (bound) {
                check(client, *target.log, *bound, options.window_ms, report);
                continue;
            }
            options.states->add(client.state(), client.picture());
            ++report.checked;
            if (target.log)
                report.came(target.log->captured(static_cast<std::uint32_t>(client.state().frame) + 1), Clock::now());
        }
    } catch (const Error& error) {
        report.errors.push_back(error.what());
    }
    report.connections += counts.reconnections;
    report.pictures = counts.received.keyframes;
    report.skipped = counts.received.skipped;
    report.bytes = counts.bytes;
    return report;
}

}  // namespace framewire::network
