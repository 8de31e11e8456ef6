// Measures how many frames per second decoders deliver: FFmpeg's on the CPU, and NVDEC through FFmpeg, one alone and
// many at once, each with a thread and a file of its own. Nothing else is done with the frames, which stay where they
// were decoded. Frames count from the moment when every decoder has delivered 20, because opening one on a GPU holds
// the others up. The first frames are compared with the CPU's before a row counts.

#include "jobs/rig/videos.hpp"
#include "suites.hpp"

#include "framewire/core/error.hpp"
#include "framewire/media/media.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <exception>
#include <latch>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace framewire::bench {
namespace {

using namespace std::chrono_literals;

constexpr int made_frames = 300, compared_frames = 12;
constexpr std::int64_t frames_before = 20;  // of each decoder

// Returns the CPU time of this process so far, in microseconds.
double process_us() {
    rusage use{};
    getrusage(RUSAGE_SELF, &use);
    const auto us = [](const timeval& time) {
        return 1e6 * static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec);
    };
    return us(use.ru_utime) + us(use.ru_stime);
}

// Returns the samples of a picture's planes.
std::vector<std::uint8_t> samples(const NativeFrame& frame) {
    std::vector<std::uint8_t> bytes;
    const auto picture = frame.planes();
    if (!picture) fail(ErrorCode::internal, "the video has no planes");
    for (int plane = 0; plane < picture->info.planes(); ++plane)
        for (int y = 0; y < picture->info.plane_rows(plane); ++y) {
            const auto* row = picture->planes[static_cast<std::size_t>(plane)].row(0, y);
            bytes.insert(bytes.end(), row, row + picture->info.plane_row_bytes(plane));
        }
    return bytes;
}

// Throws unless the first frames are those of the CPU's decoder, and were decoded where the bench wants them.
void compare(const std::string& video, DecodeChoice choice) {
    const auto want = open_source(video), got = open_source(video, {.decode = choice});
    HostImage image(want->info().shape);
    FrameTime time;
    for (int number = 0; number < compared_frames; ++number) {
        if (!want->read_own(image.view(), time) || !got->read_own(image.view(), time))
            fail(ErrorCode::internal, "{} has fewer than {} frames", video, compared_frames);
        const auto frame = got->native_frame();
        if (!frame || frame->on_gpu().has_value() != (choice == DecodeChoice::cuda))
            fail(ErrorCode::internal, "{} was not decoded as requested", video);
        if (samples(*frame) != samples(*want->native_frame()))
            fail(ErrorCode::internal, "frame {} of {} differs from the CPU's", number, video);
    }
}

// Decoders that run until this object is destroyed, each on its thread.
class Decoders {
public:
    // Returns when each decoder has delivered its first frames.
    Decoders(int count, const std::string& video, DecodeChoice choice) : ready_(count) {
        for (int number = 0; number < count; ++number)
            threads_.emplace_back([this, video, choice, alone = count == 1](const std::stop_token& stop) {
                run(video, {.stop = stop, .loop = true, .decode = choice, .decoder_threads = alone ? 0 : 1});
            });
        ready_.wait();
        const auto failed = failed_.load();
        if (failed > 0) fail(ErrorCode::config, "{} of {} decoders could not be opened", failed, count);
    }

    std::int64_t frames() const { return frames_.load(); }

private:
    void run(const std::string& video, const SourceOptions& options) {
        std::int64_t own = 0;
        try {
            const auto source = open_source(video, options);
            HostImage image(source->info().shape);
            for (FrameTime time; source->read_own(image.view(), time); ++frames_)
                if (++own == frames_before) ready_.count_down();
        } catch (const std::exception&) {
            ++failed_;
        }
        if (own < frames_before) ready_.count_down();
    }

    std::latch ready_;
    std::atomic<std::int64_t> frames_{0}, failed_{0};
    std::vector<std::jthread> threads_;  // last member: joined first
};

void bench_count(Session& session, const std::string& video, DecodeChoice choice, int count) {
    compare(video, choice);
    std::vector<double> us;
    double cpu_us = 0;
    std::int64_t frames = 0;
    const auto begin = Clock::now();
    const Decoders decoders(count, video, choice);
    const double opening_s = milliseconds_since(begin) / 1000;
    const double cpu_before = process_us();
    const auto first = decoders.frames();
    const int windows = session.untimed() ? 1 : session.quick() ? 3 : 7;
    for (int window = 0; window < windows; ++window) {
        const auto before = decoders.frames();
        const auto start = Clock::now();
        std::this_thread::sleep_for(session.untimed() ? 1ms : 400ms);
        const auto now = decoders.frames();
        if (now > before) us.push_back(1000 * milliseconds_since(start) / static_cast<double>(now - before));
        frames = now - first;
    }
    if (us.empty() || frames == 0) {
        if (!session.untimed()) fail(ErrorCode::internal, "no frame was decoded in 0.4 s");
        us = {1};
        frames = 1;
    }
    cpu_us = (process_us() - cpu_before) / static_cast<double>(frames);
    const auto timing = summarize(us);
    std::map<std::string, std::string> details{{"decoders", std::to_string(count)}};
    if (!session.untimed()) {
        details["frames_per_second"] = fmt::format("{:.0f}", 1e6 / timing.median_us);
        details["opening_s"] = fmt::format("{:.2f}", opening_s);
    }
    session.add({.suite = "limits/decode",
                 .operation = fmt::format("decode, {} at once, {}", count, to_string(choice)),
                 .runner = std::string(to_string(choice)),
                 .timing = timing,
                 .to_peer = {},
                 .cpu_us = cpu_us,
                 .details = std::move(details)});
}

void bench_decode_limits(Session& session) {
    if (session.video().empty() && !has_video("limits/decode")) return;
    const MemoryFolder folder;
    const auto video = input_video(session, folder, session.untimed() ? 2 * compared_frames : made_frames);
    std::vector<int> on_cpu{1, session.threads()}, on_gpu{1, 7, 14, 56, 160};
    if (session.threads() == 1 || session.untimed()) on_cpu = {1};
    if (session.quick() || session.untimed()) on_gpu = {1, 7};
    if (!session.has_gpu()) on_gpu.clear();
    const auto attempt = [&](DecodeChoice choice, int count) {
        const auto name = fmt::format("limits/decode: {} on {}", count, to_string(choice));
        if (session.wants(name)) session.attempt(name, [&] { bench_count(session, video, choice, count); });
    };
    for (const int count : on_cpu) attempt(DecodeChoice::cpu, count);
    for (const int count : on_gpu) attempt(DecodeChoice::cuda, count);
}

const SuiteEntry decode_limits_suite{"limits", "decode", bench_decode_limits};

}  // namespace
}  // namespace framewire::bench
