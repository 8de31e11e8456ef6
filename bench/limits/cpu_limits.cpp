// Measures the memory bandwidth of plain loops.

#include "limits/limits.hpp"

#include "framewire/core/thread_pool.hpp"

#include <fmt/format.h>

#include <array>
#include <atomic>
#include <cstring>
#include <memory>
#include <thread>
#include <utility>

namespace framewire::bench {
namespace {

// Number of frames used in turn, more than a last-level cache holds.
constexpr int frames = 24;
constexpr std::int64_t grain = 256 * 1024;

struct Frames {
    HostImage from{bench_frame.with_frames(frames)}, to{bench_frame.with_frames(frames)};
    std::atomic<std::uint64_t> sum{0};  // the result of a loop that only reads, so that the compiler keeps it

    Frames() {
        std::memset(from.view().data(), 1, static_cast<std::size_t>(from.shape().bytes()));
        std::memset(to.view().data(), 2, static_cast<std::size_t>(to.shape().bytes()));
    }
};

using Loop = void (*)(Frames&, int frame, std::int64_t begin, std::int64_t end);

void copy(Frames& at, int frame, std::int64_t begin, std::int64_t end) {
    std::memcpy(at.to.view().row(frame, 0) + begin, at.from.view().row(frame, 0) + begin,
                static_cast<std::size_t>(end - begin));
}

void read(Frames& at, int frame, std::int64_t begin, std::int64_t end) {
    constexpr std::int64_t step = 64;
    const auto* bytes = at.from.view().row(frame, 0);
    std::array<std::uint64_t, step / sizeof(std::uint64_t)> sums{}, words;
    for (auto i = begin; i + step <= end; i += step) {
        std::memcpy(words.data(), bytes + i, step);
        for (std::size_t k = 0; k < sums.size(); ++k) sums[k] += words[k];
    }
    std::uint64_t sum = 0;
    for (const auto one : sums) sum += one;
    at.sum += sum;
}

void write(Frames& at, int frame, std::int64_t begin, std::int64_t end) {
    std::memset(at.to.view().row(frame, 0) + begin, frame, static_cast<std::size_t>(end - begin));
}

Timing measure(Session& session, int threads, Loop loop) {
    const auto at = std::make_unique<Frames>();
    const ThreadPool pool(threads);
    int turn = 0;
    const auto timing = session.time_cpu({[&] {
        pool.for_chunks(bench_frame.bytes(), grain,
                        [&](std::int64_t, std::int64_t begin, std::int64_t end) { loop(*at, turn, begin, end); });
        turn = (turn + 1) % frames;
    }})[0];
    if (loop == copy)
        Session::require_equal(std::as_const(at->to).view().frames(0, 1), std::as_const(at->from).view().frames(0, 1),
                               "cpu copy");
    return timing;
}

}  // namespace

std::vector<Limit> cpu_limits(const Session& session) {
    struct Kind {
        const char* name;
        Loop loop;
        int passes;  // passes over the bytes
    };
    std::vector<Limit> all;
    const auto add = [&](const std::string& name, const Kind& kind, int threads) {
        all.push_back({name,
                       "cpu",
                       static_cast<double>(kind.passes * bench_frame.bytes()),
                       [threads, loop = kind.loop](Session& in) { return measure(in, threads, loop); },
                       {{"threads", std::to_string(threads)}}});
    };
    for (const auto& kind : {Kind{"copy", copy, 2}, Kind{"read", read, 1}, Kind{"write", write, 1}}) {
        add(fmt::format("cpu {}", kind.name), kind, session.threads());
        const auto most = static_cast<int>(std::thread::hardware_concurrency());
        for (int threads = 1; threads <= most; threads *= 2)
            if (threads != session.threads())
                add(fmt::format("cpu {}, {} thread{}", kind.name, threads, threads > 1 ? "s" : ""), kind, threads);
    }
    return all;
}

}  // namespace framewire::bench
