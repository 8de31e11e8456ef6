#include "network/load/report.hpp"

#include <algorithm>
#include <cmath>

namespace framewire::network {
namespace {

using Json = nlohmann::json;

Json spread(const std::vector<double>& values) {
    return {{"count", values.size()},
            {"p50", percentile(values, 0.5)},
            {"p95", percentile(values, 0.95)},
            {"p99", percentile(values, 0.99)},
            {"max", percentile(values, 1)}};
}

double since_epoch_ms(Clock::time_point time) {
    return std::chrono::duration<double, std::milli>(time.time_since_epoch()).count();
}

Json viewer_json(const ViewerReport& report, bool each_arrival) {
    std::vector<double> latencies;
    Json arrivals = Json::array();
    for (const auto& arrival : report.arrivals) {
        latencies.push_back(arrival.latency_ms);
        if (each_arrival) arrivals.push_back({since_epoch_ms(arrival.at), arrival.latency_ms});
    }
    Json failed = Json::array();
    for (const auto& at : report.failed) failed.push_back(since_epoch_ms(at));
    Json json{{"url", report.url},
              {"connections", report.connections},
              {"states", report.states},
              {"pictures", report.pictures},
              {"skipped", report.skipped},
              {"bytes", report.bytes},
              {"errors", report.errors},
              {"latency_ms", spread(latencies)},
              {"first_state_ms", spread(report.first_state_ms)},
              {"checked", report.checked},
              {"failed", failed},
              {"outside", report.outside},
              {"unstamped", report.unstamped},
              {"oldest_age_ms", report.oldest_age_ms}};
    if (each_arrival) json["arrivals"] = std::move(arrivals);
    return json;
}

}  // namespace

void ViewerReport::came(std::optional<Clock::time_point> captured, Clock::time_point now) {
    if (captured) arrivals.push_back({now, milliseconds(*captured, now)});
}

double percentile(std::vector<double> values, double share) {
    if (values.empty()) return 0;
    const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(values.size())));
    const auto at = values.begin() + static_cast<std::ptrdiff_t>(std::max<std::size_t>(rank, 1) - 1);
    std::nth_element(values.begin(), at, values.end());
    return *at;
}

Json to_json(const std::vector<ViewerReport>& reports, bool each_arrival) {
    ViewerReport all;
    Json viewers = Json::array();
    std::vector<double> p99s;
    for (const auto& report : reports) {
        viewers.push_back(viewer_json(report, each_arrival));
        p99s.push_back(viewers.back()["latency_ms"]["p99"]);
        all.connections += report.connections;
        all.states += report.states, all.pictures += report.pictures, all.skipped += report.skipped;
        all.bytes += report.bytes, all.checked += report.checked;
        all.failed.insert(all.failed.end(), report.failed.begin(), report.failed.end());
        all.outside += report.outside, all.unstamped += report.unstamped;
        all.oldest_age_ms = std::max(all.oldest_age_ms, report.oldest_age_ms);
        all.first_state_ms.insert(all.first_state_ms.end(), report.first_state_ms.begin(), report.first_state_ms.end());
        all.arrivals.insert(all.arrivals.end(), report.arrivals.begin(), report.arrivals.end());
        all.errors.insert(all.errors.end(), report.errors.begin(), report.errors.end());
    }
    auto total = viewer_json(all, false);
    total.erase("url");
    total["p99_of_viewers_ms"] = spread(p99s);
    return {{"viewers", std::move(viewers)}, {"all", std::move(total)}};
}

}  // namespace framewire::network
