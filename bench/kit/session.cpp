#include "kit/session.hpp"

#include "framewire/core/error.hpp"
#include "framewire/core/time/clock.hpp"
#include "framewire/cuda/device/device.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

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
    cpu_copy_bandwidth_ = measure_cpu_copy();
    fmt::print("cpu: {} threads, copy {:.1f} GB/s\n", cpu_.pool().threads(), cpu_copy_bandwidth_ / 1e9);
    if (gpu_) {
        gpu_copy_bandwidth_ = measure_gpu_copy();
        fmt::print("gpu: {}, copy {:.0f} GB/s\n", cuda::devices().front().name, gpu_copy_bandwidth_ / 1e9);
    } else {
        fmt::print("gpu: none ({})\n", cuda::why_no_device());
    }
    fmt::print("\n{:<20} {:<44} {:<18} {:>10} {:>17} {:>8} {:>8} {:>9}\n", "suite", "operation", "runner", "us/frame",
               "10..90 %", "of copy", "x peer", "cpu us");
}

std::vector<Timing> Session::time_cpu(const std::vector<std::function<void()>>& candidates) {
    std::vector<std::vector<double>> samples(candidates.size());
    const double budget_ms = (quick() ? 150.0 : 800.0) * static_cast<double>(candidates.size());
    for (const auto& candidate : candidates) candidate();  // warm-up: pages, caches, thread pools
    const auto begin = Clock::now();
    do {
        for (std::size_t i = 0; i < candidates.size(); ++i) {
            const auto start = Clock::now();
            candidates[i]();
            samples[i].push_back(milliseconds_since(start) * 1000);
        }
    } while (!check_only() && (samples[0].size() < 5 || milliseconds_since(begin) < budget_ms));
    std::vector<Timing> timings;
    for (auto& one : samples) timings.push_back(summarize(std::move(one)));
    return timings;
}

Timing Session::time_gpu(const std::function<void(int turn)>& queue, int frames) {
    const auto& stream = gpu_->stream();
    for (int turn = 0; turn < gpu_rotation; ++turn) queue(turn);
    stream.synchronize();
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
    for (int turn = 0; turn < count + 1; ++turn) {  // the first one warms up
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
    for (int turn = 0; turn < count + 1; ++turn) {
        const auto begin = Clock::now();
        run(turn);
        if (turn > 0) samples.push_back(milliseconds_since(begin) * 1000);
    }
    return summarize(std::move(samples));
}

int Session::repeats(int few, int usual) const { return check_only() ? 1 : quick() ? few : usual; }

void Session::add(Row row) {
    row.group = group_;
    const double bandwidth = row.runner.find("cuda") != row.runner.npos ? gpu_copy_bandwidth_ : cpu_copy_bandwidth_;
    const auto of_copy =
        row.bytes > 0 ? fmt::format("{:.0f} %", row.bytes / (row.timing.median_us * 1e-6) / bandwidth * 100) : "";
    const auto to_peer = row.to_peer ? fmt::format("{:.2f}", *row.to_peer) : "";
    const auto cpu = row.cpu_us > 0 ? fmt::format(" {:>9.0f}", row.cpu_us) : "";
    fmt::print("{:<20} {:<44} {:<18} {:>10.2f} {:>8.2f} {:>8.2f} {:>8} {:>8}{}\n", row.suite, row.operation, row.runner,
               row.timing.median_us, row.timing.low_us, row.timing.high_us, of_copy, to_peer, cpu);
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
    } catch (const std::exception& error) {  // OpenCV's, the standard library's
        failed(error.what(), ErrorCode::internal);
    }
}

void Session::require_equal(HostView<const std::uint8_t> got, HostView<const std::uint8_t> want,
                            const std::string& operation) {
    for (int frame = 0; frame < want.shape().frames; ++frame)
        for (int y = 0; y < want.shape().height; ++y)
            if (std::memcmp(got.row(frame, y), want.row(frame, y),
                            static_cast<std::size_t>(want.shape().row_bytes())) != 0)
                fail(ErrorCode::internal, "{}: row {} of frame {} is not the reference's; not timed", operation, y,
                     frame);
}

void Session::require_near(std::span<const float> got, std::span<const double> want, const std::string& operation) {
    const auto largest = *std::max_element(want.begin(), want.end());
    for (std::size_t i = 0; i < want.size(); ++i)
        if (!(std::abs(got[i] - want[i]) <= 1e-4 * largest))
            fail(ErrorCode::internal, "{}: value {} is {}, not {}; not timed", operation, i, got[i], want[i]);
}

double Session::measure_cpu_copy() {
    // As many frames as a last-level cache does not hold, taken in turn.
    constexpr int frames = 24;
    HostImage from(bench_frame.with_frames(frames)), to(bench_frame.with_frames(frames));
    fill_scene(from.view(), 1);
    int turn = 0;
    const auto timing = time_cpu({[&] {
        const auto in = from.view().row(turn, 0);
        const auto out = to.view().row(turn, 0);
        cpu_.pool().for_chunks(bench_frame.bytes(), 256 * 1024,
                               [&](std::int64_t, std::int64_t begin, std::int64_t end) {
                                   std::memcpy(out + begin, in + begin, static_cast<std::size_t>(end - begin));
                               });
        turn = (turn + 1) % frames;
    }});
    return 2.0 * static_cast<double>(bench_frame.bytes()) / (timing[0].median_us * 1e-6);
}

double Session::measure_gpu_copy() {
    const auto shape = bench_frame.with_frames(gpu_batch);
    std::vector<cuda::DeviceImage> from, to;
    for (int turn = 0; turn < gpu_rotation; ++turn) {
        from.emplace_back(shape);
        to.emplace_back(shape);
        cuda::fill(from.back().view().data(), turn + 1, static_cast<std::size_t>(shape.bytes()), gpu_->stream());
    }
    const auto timing = time_gpu([&](int turn) {
        const auto at = static_cast<std::size_t>(turn);
        cuda::copy(from[at].view(), to[at].view(), gpu_->stream());
    });
    return 2.0 * static_cast<double>(bench_frame.bytes()) / (timing.median_us * 1e-6);
}

std::string Session::json() const {
    nlohmann::json all;
    all["threads"] = cpu_.pool().threads();
    all["cpu_copy_bytes_per_s"] = cpu_copy_bandwidth_;
    if (gpu_) {
        all["gpu"] = cuda::devices().front().name;
        all["gpu_copy_bytes_per_s"] = gpu_copy_bandwidth_;
    }
    for (const auto& row : rows_) {
        nlohmann::json one{{"group", row.group},
                           {"suite", row.suite},
                           {"operation", row.operation},
                           {"runner", row.runner},
                           {"median_us", row.timing.median_us},
                           {"low_us", row.timing.low_us},
                           {"high_us", row.timing.high_us}};
        if (row.bytes > 0) one["bytes"] = row.bytes;
        if (row.to_peer) one["times_peer"] = *row.to_peer;
        if (row.cpu_us > 0) one["cpu_us"] = row.cpu_us;
        if (row.timing.most_us > 0) {
            one["least_us"] = row.timing.least_us;
            one["mean_us"] = row.timing.mean_us;
            one["most_us"] = row.timing.most_us;
        }
        if (row.reported)
            one["reported"] = {
                {"where", row.reported->where}, {"machine", row.reported->machine}, {"us", row.reported->us}};
        for (const auto& [name, value] : row.details) one["details"][name] = value;
        if (!row.note.empty()) one["note"] = row.note;
        all["rows"].push_back(std::move(one));
    }
    return all.dump(2);
}

}  // namespace framewire::bench
