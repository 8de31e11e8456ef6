// Detection in compressed video, from a file to records, compared with FFmpeg decoding the same file without output:
// the target is 1.25 times FFmpeg's time. The cost of detection hardly depends on the video, so there are two videos:
// one that is decoded fast, and one that takes about as long as the video for which the target was set, 6.2 ms per
// frame on two cores of a Zen 4. Records are compared with those of the same frames read raw before a row counts.

#include "framewire/core/error.hpp"
#include "jobs/rig/videos.hpp"
#include "suites.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

namespace framewire::bench {
namespace {

constexpr int turns = 5, quick_turns = 3;
constexpr int compared_frames = 12;
constexpr int usual_frames = 300, quick_frames = 96;  // enough to make the start-up time negligible
constexpr const char* mark = "1.25";
constexpr double rate_factors[]{usual_rate_factor, 18.5};

struct Job {
    std::string name, output;
    std::vector<std::string> words;
};

// The mixture is measured, because the mark is one of decoding; the suite `adaptive` measures the default background.
const Job jobs[]{{"detect", "objects.jsonl", {"detect", "--background", "mixture"}},
                 {"detect, report", "objects.jsonl", {"detect", "--method", "report"}},
                 {"hog", "hog.npy", {"hog"}}};

std::string contents(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::string> framewire_on(const std::vector<std::string>& job, const std::string& input,
                                      const std::string& output, const std::string& backend) {
    return joined(joined({framewire_program()}, job), {"-i", input, "-o", output, "-y", "--backend", backend,
                                                       "--log-level", "error", "--progress", "none"});
}

// Checks that the first frames give the same records when read from the video and as raw BGR.
void compare_with_raw(const MemoryFolder& folder, const std::string& input, const Job& job,
                      const std::string& backend) {
    const auto raw = folder / "first.bgr", stats = folder / "first.json";
    const std::vector<std::string> first{"--frames", std::to_string(compared_frames)};
    run_program(joined(framewire_on({"run"}, input, raw, "cpu"), joined(first, {"--stats", stats})));
    const auto size = nlohmann::json::parse(std::ifstream(stats)).at("size");
    const auto source = fmt::format("raw:{}:size={}x{}:fps=30:format=bgr", raw, size.at("width").get<int>(),
                                    size.at("height").get<int>());
    std::string records[2];
    for (const int is_raw : {0, 1}) {
        const auto output = folder / job.output;
        run_program(joined(framewire_on(job.words, is_raw ? source : input, output, backend), first));
        records[is_raw] = contents(output);
        std::filesystem::remove(output);
    }
    std::filesystem::remove(raw);
    if (records[0].empty() || records[0] != records[1])
        fail(ErrorCode::internal, "{}: the records of {} frames differ from those for the same frames as raw video",
             job.name, compared_frames);
}

struct Uses {
    std::vector<ProgramUse> own, decoding;
};

// Runs both programs in turn; each run must process all frames.
Uses run_both(const Session& session, const MemoryFolder& folder, const std::string& input, const Job& job,
              const std::string& backend, std::int64_t& frames) {
    const auto progress = folder / "progress", stats = folder / "stats.json", output = folder / job.output;
    Uses uses;
    for (int turn = 0; turn < (session.check_only() ? 1 : session.quick() ? quick_turns : turns); ++turn) {
        uses.decoding.push_back(run_program(
            joined(ffmpeg_on(input), {"-an", "-fps_mode", "passthrough", "-f", "null", "-progress", progress, "-"})));
        frames = ffmpeg_frames(progress);
        uses.own.push_back(run_program(joined(framewire_on(job.words, input, output, backend), {"--stats", stats})));
        const auto own = nlohmann::json::parse(std::ifstream(stats)).at("frames").get<std::int64_t>();
        std::filesystem::remove(output);
        if (own != frames || frames < compared_frames)
            fail(ErrorCode::internal, "{}: framewire processed {} frames, but FFmpeg decoded {}", job.name, own,
                 frames);
    }
    return uses;
}

// Returns the name of a job on a video made with this rate factor.
std::string name_of(const Job& job, double rate_factor) {
    return rate_factor == usual_rate_factor ? job.name : fmt::format("{}, crf {}", job.name, rate_factor);
}

void bench_job(Session& session, const MemoryFolder& folder, const std::string& input, const Job& job,
               const std::string& name, const std::string& backend) {
    compare_with_raw(folder, input, job, backend);
    std::int64_t frames = 0;
    const auto uses = run_both(session, folder, input, job, backend, frames);
    Row decoding{"jobs/decode", name + ": decoding alone", "FFmpeg", time_of(uses.decoding, frames)};
    Row own{"jobs/decode", name, "framewire " + backend, time_of(uses.own, frames)};
    decoding.cpu_us = processor_us(uses.decoding, frames);
    own.cpu_us = processor_us(uses.own, frames);
    own.to_peer = decoding.timing.median_us / own.timing.median_us;
    own.details = {{"times_decoding", fmt::format("{:.2f}", 1 / *own.to_peer)},
                   {"times_decoding_processor", fmt::format("{:.2f}", own.cpu_us / decoding.cpu_us)},
                   {"decoding_ms", fmt::format("{:.1f}", decoding.timing.median_us / 1e3)},
                   {"mark", mark}};
    fmt::print("{}, {}: {} times FFmpeg's decoding time of {} ms, {} times its CPU time; the target is {}\n", name,
               backend, own.details["times_decoding"], own.details["decoding_ms"],
               own.details["times_decoding_processor"], mark);
    session.add(std::move(decoding));
    session.add(std::move(own));
}

void bench_video(Session& session, double rate_factor) {
    const MemoryFolder folder;
    const auto input = input_video(session, folder,
                                   session.check_only() ? 2 * compared_frames
                                   : session.quick()    ? quick_frames
                                                        : usual_frames,
                                   rate_factor);
    for (const auto* executor : {&session.cpu(), session.gpu()}) {
        if (!executor) continue;
        const std::string backend(to_string(executor->backend()));
        for (const auto& job : jobs) {
            const auto name = name_of(job, rate_factor);
            if (session.wants(name + ", " + backend))
                session.attempt("jobs/decode: " + name, [&] { bench_job(session, folder, input, job, name, backend); });
        }
    }
}

void bench_decode(Session& session) {
    if (!has_video("jobs/decode")) return;
    for (const double rate_factor : rate_factors)
        if (session.video().empty() || rate_factor == usual_rate_factor) bench_video(session, rate_factor);
}

const SuiteEntry decode_suite{"jobs", "decode", bench_decode};

}  // namespace
}  // namespace framewire::bench
