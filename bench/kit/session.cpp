#include "kit/session.hpp"

#include "framewire/core/error.hpp"
#include "framewire/core/time.hpp"
#include "framewire/cuda/device.hpp"
#include "kit/machine.hpp"
#include "limits/limits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

namespace framewire::bench {

Timing summarize(std::vector<double> samples_us) {
    std::sort(samples_us.begin(), samples_us.end());
    const auto at = [&](double share) {
        return samples_us[static_cast<std::size_t>(share * static_cast<double>(samples_us.size() - 1) + 0.5)];
    };
    const double sum = std::accumulate(samples_us.begin(), samples_us.end(), 0.0);
    return {at(0.5),          at(0.1), at(0.9), samples_us.front(), sum / static_cast<double>(samples_us.size()),
            samples_us.back()};
}

Session::Session(const SessionOptions& options) : options_(options), cpu_(BackendChoice::cpu, options.threads) {
    if (!cuda::devices().empty()) gpu_.emplace(BackendChoice::cuda, options.threads);
    fmt::print("cpu: {}, {} threads\n", this_machine().cpu, threads());
    fmt::print("gpu: {}\n", gpu_ ? cuda::devices().front().name : fmt::format("none ({})", cuda::why_no_device()));
    if (untimed()) return;
    print_copy("cpu copy");
    if (gpu_) print_copy("cuda copy");
    fmt::print("\n{:<20} {:<44} {:<18} {:>10} {:>17} {:>8} {:>8} {:>9}\n", "suite", "operation", "runner", "us/frame",
               "10..90 %", "of limit", "x peer", "cpu us");
}

void Session::print_copy(const std::string& name) {
    const auto& copy = measured_limit(name);
    fmt::print("{}: {:.1f} GB/s\n", name, copy.bytes / copy.timing.median_us * 1e-3);
}

std::vector<Timing> Session::time_cpu(const std::vector<std::function<void()>>& candidates) {
    std::vector<std::vector<double>> samples(candidates.size());
    const double all_ms = budget_ms() * static_cast<double>(candidates.size());
    for (const auto& candidate : candidates) candidate();  // warm-up: pages, caches, thread pools
    const auto begin = Clock::now();
    do {
        for (std::size_t i = 0; i < candidates.size(); ++i) {
            const auto start = Clock::now();
            candidates[i]();
            samples[i].push_back(milliseconds_since(start) * 1000);
        }
    } while (!untimed() && (samples[0].size() < least_samples() || milliseconds_since(begin) < all_ms));
    std::vector<Timing> timings;
    for (auto& one : samples) timings.push_back(summarize(std::move(one)));
    return timings;
}

Timing Session::time_gpu(const std::function<void(int turn)>& queue, int frames) {
    const auto& stream = gpu_->stream();
    const int turns = options_.once ? 1 : gpu_rotation;
    for (int turn = 0; turn < turns; ++turn) queue(turn);
    stream.synchronize();
    if (options_.once) return {};
    const cuda::Graph graph(stream, [&] {
        for (int turn = 0; turn < gpu_rotation; ++turn) queue(turn);
    });
    graph.launch(stream);
    cuda::Event begin, end;
    std::vector<double> samples;
    for (int repeat = 0; repeat < repeats(10, 40); ++repeat) {
        begin.record(stream);
        graph.launch(stream);
        end.record(stream);
        end.synchronize();
        samples.push_back(static_cast<double>(end.milliseconds_since(begin)) * 1000 / gpu_rotation / frames);
    }
    return summarize(std::move(samples));
}

Timing Session::time_launches(const std::function<void(int turn)>& queue, const std::function<void(int turn)>& before) {
    const auto& stream = gpu_->stream();
    cuda::Event begin, end;
    std::vector<double> samples;
    const int count = repeats(20, 100);
    const auto start = Clock::now();
    for (int turn = 0; turn < count + 1 && !is_enough(samples.size(), start); ++turn) {  // the first one is a warm-up
        before(turn);
        begin.record(stream);
        queue(turn);
        end.record(stream);
        end.synchronize();
        if (turn > 0) samples.push_back(static_cast<double>(end.milliseconds_since(begin)) * 1000);
    }
    return summarize(std::move(samples));
}

Timing Session::time_host(const std::function<void(int turn)>& run) {
    std::vector<double> samples;
    const int count = repeats(20, 100);
    const auto start = Clock::now();
    for (int turn = 0; turn < count + 1 && !is_enough(samples.size(), start); ++turn) {
        const auto begin = Clock::now();
        run(turn);
        if (turn > 0) samples.push_back(milliseconds_since(begin) * 1000);
    }
    return summarize(std::move(samples));
}

double Session::budget_ms() const { return quick() ? 30 : 800; }
std::size_t Session::least_samples() const { return quick() ? 3 : 5; }

bool Session::is_enough(std::size_t samples, Clock::time_point start) const {
    return samples >= least_samples() && milliseconds_since(start) > budget_ms();
}

int Session::repeats(int few, int usual) const { return untimed() ? 1 : quick() ? few : usual; }

const MeasuredLimit& Session::measured_limit(const std::string& name) {
    if (const auto known = measured_limits_.find(name); known != measured_limits_.end()) return known->second;
    const auto all = limits(*this);
    const auto limit = std::ranges::find(all, name, &Limit::name);
    if (limit == all.end()) fail(ErrorCode::internal, "there is no limit named '{}'", name);
    return measured_limits_[name] = {limit->bytes, limit->measure(*this)};
}

void Session::compare_with_limit(Row& row) {
    if (untimed() || (row.limit.empty() && row.bytes <= 0)) return;
    if (row.limit.empty()) row.limit = row.runner.find("cuda") != row.runner.npos && gpu_ ? "cuda copy" : "cpu copy";
    const auto& limit = measured_limit(row.limit);
    const bool by_bytes = row.bytes > 0 && limit.bytes > 0;
    row.of_limit = limit.timing.median_us * (by_bytes ? row.bytes / limit.bytes : 1) / row.timing.median_us;
}

void Session::add(Row row) {
    row.group = group_;
    compare_with_limit(row);
    const auto name = fmt::format("{:<20} {:<44} {:<18}", row.suite, row.operation, row.runner);
    std::string details;
    for (const auto& [key, value] : row.details)
        if (!value.empty()) details += fmt::format(" {}={}", key, value);
    if (untimed()) {
        fmt::print("{} right{}\n", name, details);
    } else {
        const auto of_limit = row.of_limit ? fmt::format("{:.0f} %", *row.of_limit * 100) : "";
        const auto to_peer = row.to_peer ? fmt::format("{:.2f}", *row.to_peer) : "";
        const auto cpu = row.cpu_us > 0 ? fmt::format("{:.0f}", row.cpu_us) : "";
        const auto times = row.timing.median_us > 0 ? fmt::format("{:>10.2f} {:>8.2f} {:>8.2f}", row.timing.median_us,
                                                                  row.timing.low_us, row.timing.high_us)
                                                    : "";
        fmt::print("{} {:>28} {:>8} {:>8} {:>9}{}\n", name, times, of_limit, to_peer, cpu, details);
    }
    std::fflush(stdout);
    rows_.push_back(std::move(row));
}

void Session::attempt(const std::string& what, const std::function<void()>& part) {
    const auto failed = [&](const char* text, ErrorCode code) {
        if (failures_.empty()) first_failure_ = code;
        failures_.push_back(fmt::format("{}: {}", what, text));
        fmt::print("FAILED {}\n", failures_.back());
        std::fflush(stdout);
    };
    try {
        part();
    } catch (const Error& error) {
        failed(error.what(), error.code());
    } catch (const std::exception& error) {  // thrown by OpenCV or the standard library
        failed(error.what(), ErrorCode::internal);
    }
}

void Session::require_equal(HostView<const std::uint8_t> got, HostView<const std::uint8_t> want,
                            const std::string& operation) {
    for (int frame = 0; frame < want.shape().frames; ++frame)
        for (int y = 0; y < want.shape().height; ++y)
            if (std::memcmp(got.row(frame, y), want.row(frame, y),
                            static_cast<std::size_t>(want.shape().row_bytes())) != 0)
                fail(ErrorCode::internal, "{}: row {} of frame {} differs from the reference; not timed", operation, y,
                     frame);
}

void Session::require_near(std::span<const float> got, std::span<const double> want, const std::string& operation) {
    const auto largest = *std::max_element(want.begin(), want.end());
    for (std::size_t i = 0; i < want.size(); ++i)
        if (!(std::abs(got[i] - want[i]) <= 1e-4 * largest))
            fail(ErrorCode::internal, "{}: value {} is {} instead of {}; not timed", operation, i, got[i], want[i]);
}

}  // namespace framewire::bench
