// Streams of one shape on the GPU, each in a thread of its own: with launches of their own, and with shared ones.

#include "framewire/core/error.hpp"
#include "framewire/core/time/clock.hpp"
#include "framewire/delta/delta_ref.hpp"
#include "framewire/delta/shared/shared_encoder.hpp"
#include "framewire/pipeline/frames/encoders/stream_encoder.hpp"
#include "framewire/pipeline/frames/frame.hpp"
#include "suites.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <barrier>
#include <chrono>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace framewire::bench {
namespace shared_launches_bench {

constexpr Shape shape{1, 360, 640, 3};
constexpr int threshold = 20;
constexpr int slots = 4;  // under way at once; even, so that each keeps its moment
constexpr int frames_a_second = 30;

// Two moments of a scene, taken in turn, and what changes from each to the other.
struct Moments {
    HostImage images[2]{HostImage(shape), HostImage(shape)};
    delta::HostChanges want[2]{delta::HostChanges(shape), delta::HostChanges(shape)};

    Moments() {
        fill_scene(images[0].view(), 3);
        fill_later(images[0].view(), images[1].view(), 0.02, false, 11);
        HostImage reference(shape);
        copy(images[0].view(), reference.view());
        for (int round = 0; round < 2; ++round)  // the first round leaves the start behind
            for (const int moment : {1, 0})
                delta::encode_reference(threshold, images[moment].view(), reference.view(), want[moment].view());
    }
};

struct Case {
    int streams;
    bool uploads;   // frames come from pinned memory; else they are on the GPU already
    bool live;      // at a camera's rate; else as fast as they go
    int under_way;  // shared launches at once; 0: each stream has its own
    std::string name() const {
        return fmt::format("{} x 640x360{}, {}", streams, live ? " at 30 fps" : "", uploads ? "from pinned" : "on GPU");
    }
    std::string runner() const {
        return under_way == 0 ? "own launches" : fmt::format("shared, {} at once", under_way);
    }
};

struct Measured {
    double us = 0, cpu_us = 0;  // per frame; live: from its start until its changes are there
    double launches = 1;        // of the encoder, per frame
};

double cpu_seconds() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

class Stream {
public:
    Stream(const Case& of, const Moments& moments, std::shared_ptr<delta::SharedEncoder> shared)
        : case_(of),
          moments_(moments),
          executor_(BackendChoice::cuda, 1),
          encoder_({.threshold = threshold}, shape, executor_, std::move(shared)) {
        for (int slot = 0; slot < slots; ++slot) {
            frames_.emplace_back(shape, executor_);
            changes_.push_back(encoder_.make_changes());
            copy(moments.images[slot % 2].view(), frames_.back().host());
            frames_.back().upload();
        }
        for (int round = 0; round < 2 * slots; ++round) {  // leaves the start behind
            start(round);
            wait(round);
        }
    }

    void start(int number) {
        auto& frame = frames_[static_cast<std::size_t>(number % slots)];
        if (case_.uploads) frame.upload();
        encoder_.start(frame, changes_[static_cast<std::size_t>(number % slots)]);
    }
    void wait(int number) { changes_[static_cast<std::size_t>(number % slots)].wait(); }

    // As fast as they go.
    void run(int count) {
        for (int number = 0; number < count + slots; ++number) {
            if (number >= slots) wait(number - slots);
            if (number < count) start(number);
        }
    }
    // At a camera's rate, beginning at any part of a frame's time; gives the sum of their times in microseconds.
    double run_live(int count, double phase) {
        const std::chrono::duration<double> frame_time(1.0 / frames_a_second);
        const auto begin = Clock::now();
        double us = 0;
        for (int number = 0; number < count; ++number) {
            std::this_thread::sleep_until(begin +
                                          std::chrono::duration_cast<Clock::duration>((number + phase) * frame_time));
            const auto start_time = Clock::now();
            start(number);
            wait(number);
            us += 1000 * milliseconds_since(start_time);
        }
        return us;
    }

    void check() const {
        for (int slot = 0; slot < slots; ++slot) {
            const auto& got = changes_[static_cast<std::size_t>(slot)].changes();
            const auto want = moments_.want[slot % 2].view();
            const auto count = want.summaries[0].count;
            if (got.summaries[0].count != count ||
                std::memcmp(got.positions, want.positions, count * sizeof(std::uint32_t)) != 0 ||
                std::memcmp(got.differences, want.differences, count) != 0)
                fail(ErrorCode::internal, "{}, {}: changes are not the reference's; not timed", case_.name(),
                     case_.runner());
        }
    }

private:
    const Case& case_;
    const Moments& moments_;
    Executor executor_;
    StreamEncoder encoder_;
    std::vector<Frame> frames_;
    std::vector<FrameChanges> changes_;
};

Measured measure(const Case& of, const Moments& moments, int frames) {
    const auto shared = of.under_way ? std::make_shared<delta::SharedEncoder>(shape, of.under_way) : nullptr;
    const int each = std::max(slots, frames / of.streams / slots * slots);
    std::vector<std::unique_ptr<Stream>> streams;
    for (int stream = 0; stream < of.streams; ++stream)
        streams.push_back(std::make_unique<Stream>(of, moments, shared));
    const auto before = shared ? shared->counts() : delta::SharedEncoder::Counts{};
    std::barrier together(of.streams + 1);
    std::mutex mutex;
    double live_us = 0;
    std::exception_ptr failure;
    std::vector<std::jthread> threads;
    for (int at = 0; at < of.streams; ++at)
        threads.emplace_back([&, at] {
            auto& stream = *streams[static_cast<std::size_t>(at)];
            together.arrive_and_wait();
            double us = 0;
            std::exception_ptr own;
            try {
                if (of.live)
                    us = stream.run_live(each, static_cast<double>(at * 7 % of.streams) / of.streams);
                else
                    stream.run(each);
            } catch (...) {
                own = std::current_exception();
            }
            const std::lock_guard lock(mutex);
            live_us += us;
            if (own) failure = own;
        });
    const double cpu_before = cpu_seconds();
    const auto begin = Clock::now();
    together.arrive_and_wait();
    threads.clear();
    const double count = static_cast<double>(each) * of.streams;
    Measured measured{(of.live ? live_us : 1000 * milliseconds_since(begin)) / count,
                      1e6 * (cpu_seconds() - cpu_before) / count, 1};
    if (failure) std::rethrow_exception(failure);
    for (const auto& stream : streams) stream->check();
    // Frames that met no other went by themselves.
    if (shared) {
        const auto met = static_cast<double>(shared->counts().frames - before.frames);
        measured.launches = (static_cast<double>(shared->counts().launches - before.launches) + count - met) / count;
    }
    return measured;
}

void bench_launches(Session& session) {
    if (!session.gpu()) return;
    const Moments moments;
    for (const bool live : {false, true})
        for (const bool uploads : {false, true})
            for (const int streams : {1, 4, 16, 64}) {
                const int frames = live              ? streams * frames_a_second * (session.quick() ? 1 : 2)
                                   : session.quick() ? 3200
                                                     : 32000;
                constexpr int ways = 3, turns = 3;
                std::vector<Measured> measured[ways];
                for (int turn = 0; turn < turns; ++turn)
                    for (int way = 0; way < ways; ++way)
                        measured[way].push_back(measure({streams, uploads, live, way}, moments, frames));
                double own_us = 0;
                for (int way = 0; way < ways; ++way) {
                    auto& of_way = measured[way];
                    std::ranges::sort(of_way, {}, &Measured::us);
                    const auto& middle = of_way[turns / 2];
                    if (way == 0) own_us = middle.us;
                    const Case of{streams, uploads, live, way};
                    session.add({"launches",
                                 fmt::format("{}, {:.2f} launches", of.name(), middle.launches),
                                 of.runner(),
                                 {middle.us, of_way.front().us, of_way.back().us},
                                 0,
                                 own_us / middle.us,
                                 middle.cpu_us});
                }
            }
}

const SuiteEntry launches_suite{"operations", "launches", bench_launches};

}  // namespace shared_launches_bench
}  // namespace framewire::bench
