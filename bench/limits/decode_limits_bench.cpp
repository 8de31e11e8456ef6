// Measures how many frames per second decoders deliver: FFmpeg's on the CPU, NVDEC through FFmpeg, and NVDEC alone
// (cuvid), one decoder and many at once, each of which reads the video for itself. Nothing else is done with the
// frames, which stay where they were decoded. Frames count from the moment when every decoder has delivered 20, because
// opening one on a GPU holds the others up. The first frames are compared with the CPU's before a row counts.

#include "jobs/rig/videos.hpp"
#include "limits/cuvid.hpp"
#include "limits/decoders.hpp"
#include "suites.hpp"

#include "framewire/core/error.hpp"
#include "framewire/media/media.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
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
constexpr int most_threads_of_cuvid = 56;  // beyond, a thread drives ten decoders, which takes half the CPU time
constexpr int shared_thread_decoders = 10;
// Mean difference allowed for codecs whose inverse transform is not defined to the last bit.
constexpr double rounding_levels = 1;

using Samples = std::vector<std::uint8_t>;

// Returns the samples of a picture's planes.
Samples samples_of(const NativeFrame& frame) {
    Samples bytes;
    const auto picture = frame.planes();
    if (!picture) fail(ErrorCode::internal, "the video has no planes");
    for (int plane = 0; plane < picture->info.planes(); ++plane)
        for (int y = 0; y < picture->info.plane_rows(plane); ++y) {
            const auto* row = picture->planes[static_cast<std::size_t>(plane)].row(0, y);
            bytes.insert(bytes.end(), row, row + picture->info.plane_row_bytes(plane));
        }
    return bytes;
}

enum class Way { cpu, cuda, cuvid };

const char* to_string(Way way) { return way == Way::cpu ? "cpu" : way == Way::cuda ? "cuda" : "cuvid"; }

struct Video {
    std::string path, label;  // the label is empty for the bench's own video
    std::string repeated;     // the same video for a long time
    EncodedVideo encoded{};   // only if cuvid decodes it
};

DecodeStep open(const Video& video, Way way, int threads, const std::stop_token& stop) {
    if (way != Way::cuvid)
        return decode_through_source(video.repeated, way == Way::cpu ? DecodeChoice::cpu : DecodeChoice::cuda, threads,
                                     stop);
    return [decoder = std::make_shared<CuvidDecoder>(video.encoded)] { return std::int64_t{decoder->step()}; };
}

// Returns the first frames as framewire's source delivers them.
std::vector<Samples> first_frames(const std::string& path, DecodeChoice choice) {
    const auto source = open_source(path, {.decode = choice});
    HostImage image(source->info().shape);
    std::vector<Samples> frames;
    for (FrameTime time; frames.size() < compared_frames && source->read_own(image.view(), time);) {
        const auto frame = source->native_frame();
        if (!frame || frame->on_gpu().has_value() != (choice == DecodeChoice::cuda))
            fail(ErrorCode::internal, "{} was not decoded as requested", path);
        frames.push_back(samples_of(*frame));
    }
    return frames;
}

std::vector<Samples> first_frames_of_cuvid(const EncodedVideo& video) {
    std::vector<Samples> frames;
    CuvidDecoder decoder(video, [&](const Samples& samples) { frames.push_back(samples); });
    for (std::size_t packet = 0; packet < video.packets.size() && frames.size() < compared_frames; ++packet)
        decoder.step();
    frames.resize(std::min<std::size_t>(frames.size(), compared_frames));
    return frames;
}

double mean_difference(const Samples& one, const Samples& other) {
    double sum = 0;
    for (std::size_t at = 0; at < one.size(); ++at) sum += std::abs(int{one[at]} - int{other[at]});
    return sum / static_cast<double>(one.size());
}

// Throws unless the first frames are those of the CPU's decoder, and were decoded where the bench wants them.
void compare(const Video& video, Way way) {
    const auto want = first_frames(video.path, DecodeChoice::cpu);
    const auto got = way == Way::cuvid  ? first_frames_of_cuvid(video.encoded)
                     : way == Way::cuda ? first_frames(video.path, DecodeChoice::cuda)
                                        : first_frames(video.path, DecodeChoice::cpu);
    if (want.size() < compared_frames || got.size() < compared_frames)
        fail(ErrorCode::internal, "{} has fewer than {} frames", video.path, compared_frames);
    const double allowed = video.encoded.codec == "mjpeg" ? rounding_levels : 0;
    for (std::size_t number = 0; number < compared_frames; ++number)
        if (got[number].size() != want[number].size() || mean_difference(got[number], want[number]) > allowed)
            fail(ErrorCode::internal, "frame {} of {} differs from the CPU's", number, video.path);
}

void bench_count(Session& session, const Video& video, Way way, int count) {
    compare(video, way);
    std::vector<double> us;
    std::int64_t frames = 0;
    const int per_thread = way == Way::cuvid && count > most_threads_of_cuvid ? shared_thread_decoders : 1;
    const auto begin = Clock::now();
    const Decoders decoders(count, per_thread,
                            [&](const std::stop_token& stop) { return open(video, way, count == 1 ? 0 : 1, stop); });
    const double opening_s = milliseconds_since(begin) / 1000;
    const auto counted_since = Clock::now();
    const double cpu_before = process_seconds();
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
    const double cpu_us = 1e6 * (process_seconds() - cpu_before), wall_us = 1000 * milliseconds_since(counted_since);
    decoders.require_all();
    if (us.empty() || frames == 0) {
        if (!session.untimed()) fail(ErrorCode::internal, "no frame was decoded in 0.4 s");
        us = {1};
        frames = 1;
    }
    const auto timing = summarize(us);
    std::map<std::string, std::string> details{
        {"decoders", std::to_string(count)}, {"threads", std::to_string(decoders.threads())}, {"video", video.label}};
    if (!session.untimed()) {
        details["frames_per_second"] = fmt::format("{:.0f}", 1e6 * static_cast<double>(frames) / wall_us);
        details["opening_s"] = fmt::format("{:.2f}", opening_s);
        details["cores"] = fmt::format("{:.2f}", cpu_us / wall_us);
    }
    session.add({.suite = "limits/decode",
                 .operation = fmt::format("{}{}decode, {} at once, {}", video.label, video.label.empty() ? "" : ": ",
                                          count, to_string(way)),
                 .runner = to_string(way),
                 .timing = timing,
                 .to_peer = {},
                 .cpu_us = cpu_us / static_cast<double>(frames),
                 .details = std::move(details)});
}

void bench_video(Session& session, Video& video, bool has_cuvid) {
    if (has_cuvid) video.encoded = read_encoded(video.path);
    std::vector<int> on_cpu{1, session.threads()}, on_gpu{1, 7, 14, 56, 160};
    if (session.threads() == 1 || session.untimed()) on_cpu = {1};
    if (session.quick() || session.untimed()) on_gpu = {1, 7};
    const auto attempt = [&](Way way, int count) {
        const auto name = fmt::format("limits/decode: {}{}{} on {}", video.label, video.label.empty() ? "" : ": ",
                                      count, to_string(way));
        if (session.wants(name)) session.attempt(name, [&] { bench_count(session, video, way, count); });
    };
    for (const int count : on_cpu) attempt(Way::cpu, count);
    if (!session.has_gpu()) return;
    for (const int count : on_gpu) {
        attempt(Way::cuda, count);
        if (has_cuvid) attempt(Way::cuvid, count);
    }
}

void bench_decode_limits(Session& session) {
    if (session.videos().empty() && !has_video("limits/decode")) return;
    const auto flaw = why_no_cuvid();
    if (!flaw.empty()) fmt::print("limits/decode: no rows of cuvid: {}\n", flaw);
    const MemoryFolder folder;
    std::vector<Video> videos;
    for (const auto& path : session.videos()) videos.push_back({path, std::filesystem::path(path).filename()});
    if (videos.empty())
        videos.push_back({input_video(session, folder, session.untimed() ? 2 * compared_frames : made_frames), ""});
    for (auto& video : videos)
        session.attempt("limits/decode: " + video.path, [&] {
            video.repeated = repeated_video(folder, video.path);
            bench_video(session, video, flaw.empty());
        });
}

const SuiteEntry decode_limits_suite{"limits", "decode", bench_decode_limits};

}  // namespace
}  // namespace framewire::bench
