#include "peers/gpu/gpu_setting.hpp"

#include "framewire/core/error.hpp"
#include "framewire/core/time.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

namespace framewire::bench {
namespace gpu_setting {

constexpr std::int64_t rotation_bytes = 512 << 20;  // size of all inputs or outputs; L2 caches have 50 to 60 MB

// Records several turns as one launch; runs them one by one if they cannot be recorded, for example because a library
// waits.
std::function<void()> recorded(const cuda::Stream& stream, int turns, const std::function<void(int turn)>& queue) {
    const auto all = [=] {
        for (int turn = 0; turn < turns; ++turn) queue(turn);
    };
    try {
        const auto graph = std::make_shared<cuda::Graph>(stream, all);
        return [graph, &stream] { graph->launch(stream); };
    } catch (const Error&) {
        return all;
    }
}

}  // namespace gpu_setting

std::vector<Timing> time_by_turns(Session& session, int turns, int frames,
                                  const std::vector<std::function<void(int turn)>>& candidates) {
    if (candidates.empty()) return {};
    constexpr std::size_t fewest_rounds = 3;
    const double budget_ms = session.quick() ? 120 : 600;
    const auto& stream = session.gpu()->stream();
    constexpr double sample_ms = 20;  // fewer turns of slow operations are timed together
    cuda::Event begin, end;
    const auto time_us = [&](const std::function<void()>& launch) {
        begin.record(stream);
        launch();
        end.record(stream);
        end.synchronize();
        return static_cast<double>(end.milliseconds_since(begin)) * 1000;
    };
    std::vector<std::function<void()>> launches;
    std::vector<int> turns_of;
    for (const auto& candidate : candidates) {
        const double one_us = time_us([&] { candidate(0); });
        turns_of.push_back(std::clamp(static_cast<int>(1000 * sample_ms / std::max(one_us, 1.0)), 1, turns));
        launches.push_back(gpu_setting::recorded(stream, turns_of.back(), candidate));
        time_us(launches.back());  // warm-up
    }
    std::vector<std::vector<double>> samples(candidates.size());
    const auto start = Clock::now();
    do {
        for (std::size_t index = 0; index < launches.size(); ++index)
            samples[index].push_back(time_us(launches[index]) / turns_of[index] / frames);
    } while (!session.check_only() &&
             (samples.front().size() < fewest_rounds || milliseconds_since(start) < budget_ms));
    std::vector<Timing> timings;
    for (auto& one : samples) timings.push_back(summarize(std::move(one)));
    return timings;
}

GpuSetting::GpuSetting(Session& session, const ContentFrames& from, int frames, bool is_cold, bool has_transfers)
    : pictures(&from), batch(frames), cold(is_cold), transfers(has_transfers) {
    const auto& stream = session.gpu()->stream();
    const auto count = cold ? std::clamp<std::int64_t>(gpu_setting::rotation_bytes / shape().bytes(), 2, 48) : 1;
    for (std::int64_t index = 0; index < count; ++index) {
        batches.emplace_back(shape());
        for (int frame = 0; frame < batch; ++frame)
            cuda::upload(from.frames.view().frames(static_cast<int>((index * batch + frame) % from.count()), 1),
                         batches.back().view().frames(frame, 1), stream);
    }
    if (transfers) {
        pinned = HostImage(shape(), cuda::pinned_memory());
        cuda::download(batches.front().view(), pinned.view(), stream);
    }
    stream.synchronize();
}

int GpuSetting::turns() const {
    constexpr int hot_turns = 8, cold_turns = 6;
    if (transfers) return 1;
    return cold ? std::max(cold_turns, static_cast<int>(batches.size())) : hot_turns;
}

void GpuSetting::describe(Row& row) const {
    row.details.insert({{"content", to_string(pictures->content)},
                        {"cache", cold ? "cold" : "hot"},
                        {"batch", fmt::to_string(batch)},
                        {"transfers", transfers ? "up and down" : "none"}});
}

}  // namespace framewire::bench
