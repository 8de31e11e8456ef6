// What is found in compressed video, from a file to records, beside FFmpeg decoding the same file and doing nothing:
// the mark is 1.25 times that. Records count after they were compared with those of the same frames read raw.

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
namespace decode_bench {

constexpr int turns = 5, quick_turns = 3;
constexpr int compared_frames = 12;
constexpr int usual_frames = 300, quick_frames = 96;  // so many that beginning does not count for much
constexpr const char* mark = "1.25";

struct Job {
    std::string name, output;
    std::vector<std::string> words;
};

const Job jobs[]{{"detect", "objects.jsonl", {"detect"}},
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

// The records of the first frames, read from the video and as raw BGR, have to be the same.
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
        fail(ErrorCode::internal, "{}: the records of {} frames differ from those of the same frames read raw",
             job.name, compared_frames);
}

struct Uses {
    std::vector<ProgramUse> own, decoding;
};

// Both by turns; each time all frames have to have been worked on.
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
            fail(ErrorCode::internal, "{}: {} frames, and FFmpeg decoded {}", job.name, own, frames);
    }
    return uses;
}

void bench_job(Session& session, const MemoryFolder& folder, const std::string& input, const Job& job,
               const std::string& backend) {
    compare_with_raw(folder, input, job, backend);
    std::int64_t frames = 0;
    const auto uses = run_both(session, folder, input, job, backend, frames);
    Row decoding{"jobs/decode", job.name + ": decoding alone", "FFmpeg", time_of(uses.decoding, frames)};
    Row own{"jobs/decode", job.name, "framewire " + backend, time_of(uses.own, frames)};
    decoding.cpu_us = processor_us(uses.decoding, frames);
    own.cpu_us = processor_us(uses.own, frames);
    own.to_peer = decoding.timing.median_us / own.timing.median_us;
    own.details = {{"times_decoding", fmt::format("{:.2f}", 1 / *own.to_peer)},
                   {"times_decoding_processor", fmt::format("{:.2f}", own.cpu_us / decoding.cpu_us)},
                   {"mark", mark}};
    fmt::print("{}, {}: {} times FFmpeg's decoding, {} in processor time; the mark is {}\n", job.name, backend,
               own.details["times_decoding"], own.details["times_decoding_processor"], mark);
    session.add(std::move(decoding));
    session.add(std::move(own));
}

void bench_decode(Session& session) {
    if (!has_video("jobs/decode")) return;
    const MemoryFolder folder;
    const auto input = input_video(session, folder,
                                   session.check_only() ? 2 * compared_frames
                                   : session.quick()    ? quick_frames
                                                        : usual_frames);
    for (const auto* executor : {&session.cpu(), session.gpu()}) {
        if (!executor) continue;
        const std::string backend(to_string(executor->backend()));
        for (const auto& job : jobs)
            if (session.wants(job.name + ", " + backend))
                session.attempt("jobs/decode: " + job.name, [&] { bench_job(session, folder, input, job, backend); });
    }
}

const SuiteEntry decode_suite{"jobs", "decode", bench_decode};

}  // namespace decode_bench
}  // namespace framewire::bench
