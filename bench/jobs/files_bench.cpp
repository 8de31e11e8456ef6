// Whole jobs compared with `ffmpeg -vf`: the same input file, a filter that both programs have, y4m or H.264 output. A
// row is added only after the frames were counted and the luma of the two outputs was compared.

#include "framewire/core/error.hpp"
#include "jobs/rig/luma.hpp"
#include "jobs/rig/videos.hpp"
#include "jobs/shared_filters.hpp"
#include "kit/programs.hpp"
#include "suites.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace framewire::bench {
namespace {

constexpr int turns = 5, quick_turns = 2;
constexpr int made_frames = 240, quick_made_frames = 32;
constexpr int compared_frames = 6;

int turns_of(const Session& session) { return session.check_only() ? 1 : session.quick() ? quick_turns : turns; }

struct Output {
    const char *name, *ending;
    std::vector<std::string> ffmpeg;
    std::string keys;  // keys of framewire's option -o
    bool is_file;      // the job writes a file; otherwise standard output, which is discarded
};

const Output y4m_output{"y4m", "y4m", {"-f", "yuv4mpegpipe", "-strict", "-1"}, "", false};
const Output mp4_output{
    "mp4", "mp4", {"-c:v", "libx264", "-preset", "veryfast", "-crf", "23"}, ":preset=veryfast:crf=23", true};

// One of the two programs with its job, and the costs of its runs.
struct Runner {
    std::string name;
    std::function<ProgramUse()> run;             // runs the whole job, timed
    std::function<std::int64_t()> frames;        // returns how many frames the last run wrote
    std::function<void(const std::string&)> to;  // writes the first frames of the last run's output to a file, as y4m
    std::vector<ProgramUse> uses{};
};

// Extracts the first frames of a video as y4m.
void take_first(const std::string& video, const std::string& path) {
    run_program(joined(ffmpeg_on(video), {"-frames:v", std::to_string(compared_frames), "-pix_fmt", "yuv420p", "-f",
                                          "yuv4mpegpipe", path}));
}

Runner ffmpeg_runner(const MemoryFolder& folder, const std::string& input, const SharedFilter& filter,
                     const Output& output) {
    const auto progress = folder / "progress", made = folder / (std::string("ffmpeg.") + output.ending);
    const auto job = joined(ffmpeg_on(input), {"-an", "-fps_mode", "passthrough", "-vf", filter.ffmpeg});
    const auto whole =
        joined(joined(joined(job, output.ffmpeg), {"-progress", progress}), {output.is_file ? made : "/dev/null"});
    return {"FFmpeg", [=] { return run_program(whole); }, [=] { return ffmpeg_frames(progress); },
            [=](const std::string& path) {
                if (output.is_file) return take_first(made, path);
                run_program(
                    joined(joined(job, {"-frames:v", std::to_string(compared_frames)}), joined(output.ffmpeg, {path})));
            }};
}

Runner framewire_runner(const MemoryFolder& folder, const std::string& input, const SharedFilter& filter,
                        const Output& output) {
    const auto stats = folder / "stats.json", made = folder / (std::string("framewire.") + output.ending);
    std::vector<std::string> job{framewire_program(), "run",   "-i",         input,  "--backend", "cpu",
                                 "--log-level",       "error", "--progress", "none", "-y",        "--no-audio"};
    if (*filter.framewire) job = joined(job, {"-f", filter.framewire});
    if (filter.gray_is_luma) job = joined(job, {"--matrix", "bt601"});
    const auto whole = joined(job, {"--stats", stats, "-o", output.is_file ? made + output.keys : "-"});
    return {"framewire", [=] { return run_program(whole); },
            [=] {
                const auto figures = nlohmann::json::parse(std::ifstream(stats));
                std::filesystem::remove(stats);
                return figures.at("frames").get<std::int64_t>();
            },
            [=](const std::string& path) {
                if (output.is_file) return take_first(made, path);
                run_program(joined(job, {"--frames", std::to_string(compared_frames), "-o", path}));
            }};
}

// Compares the two outputs; returns their similarity.
double compare_outputs(const MemoryFolder& folder, const SharedFilter& filter, const Output& output,
                       const std::array<Runner, 2>& runners) {
    std::vector<Luma> written;
    for (const auto& runner : runners) {
        const auto path = folder / "compared.y4m";
        runner.to(path);
        written.push_back(read_luma(path));
        std::filesystem::remove(path);
    }
    const auto &ours = written[0].header, &theirs = written[1].header;
    if (ours.width != theirs.width || ours.height != theirs.height)
        fail(ErrorCode::internal, "{}: framewire's frames are {}x{}, but FFmpeg's are {}x{}; not timed", filter.name,
             ours.width, ours.height, theirs.width, theirs.height);
    if (written[0].frames.empty() || written[0].frames.size() != written[1].frames.size())
        fail(ErrorCode::internal, "{}: framewire wrote {} frames and FFmpeg wrote {}, of {}; not timed", filter.name,
             written[0].frames.size(), written[1].frames.size(), compared_frames);
    const double db = luma_psnr(written[0], written[1]);
    // framewire's x264 makes the same bytes on every CPU and decides slightly differently from FFmpeg's, so the two
    // encodings of one picture have different losses.
    constexpr double of_two_encodings = 40;
    const double least_db = output.is_file ? std::min(filter.least_db, of_two_encodings) : filter.least_db;
    if (!(db >= least_db))
        fail(ErrorCode::internal,
             "{}: the luma PSNR between the two outputs is {:.1f} dB; at least {:.0f} dB is required", filter.name, db,
             least_db);
    return db;
}

void add_rows(Session& session, const std::string& suite, const std::string& operation,
              const std::array<Runner, 2>& runners, std::int64_t frames) {
    std::array<Row, 2> rows;
    for (std::size_t index = 0; index < 2; ++index) {
        const auto& uses = runners[index].uses;
        rows[index] = {suite, operation, runners[index].name, time_of(uses, frames), 0, {}};
        rows[index].cpu_us = processor_us(uses, frames);
    }
    rows[0].to_peer = rows[1].timing.median_us / rows[0].timing.median_us;
    for (auto& row : rows) session.add(std::move(row));
}

// `frames` is the number of input frames that times are divided by.
void bench_filter(Session& session, const char* suite, const MemoryFolder& folder, const std::string& input,
                  std::int64_t frames, const SharedFilter& filter, const Output& output) {
    std::array<Runner, 2> runners{framewire_runner(folder, input, filter, output),
                                  ffmpeg_runner(folder, input, filter, output)};
    for (int turn = 0; turn < turns_of(session); ++turn) {
        std::array<std::int64_t, 2> written{};
        for (std::size_t index = 0; index < 2; ++index) {
            runners[index].uses.push_back(runners[index].run());
            written[index] = runners[index].frames();
        }
        // If the rate changes, the two programs may treat the duration of the last frame differently.
        const bool is_rate = std::string_view(filter.name).starts_with("fps");
        if (std::abs(written[0] - written[1]) > (is_rate ? 1 : 0) || (!is_rate && written[0] != frames))
            fail(ErrorCode::internal, "{}: framewire wrote {} frames and FFmpeg wrote {}, of {}", filter.name,
                 written[0], written[1], frames);
    }
    const double db = compare_outputs(folder, filter, output, runners);
    add_rows(session, suite, fmt::format("{} ({:.0f} dB)", filter.name, db), runners, frames);
}

// Measures FFmpeg reading the video without output; returns its number of frames.
std::int64_t bench_decoding(Session& session, const char* suite, const MemoryFolder& folder, const std::string& input) {
    const Output nothing{"nothing", "null", {"-f", "null"}, "", false};
    const SharedFilter decode{"decode alone", "", "null", any};
    auto ffmpeg = ffmpeg_runner(folder, input, decode, nothing);
    std::int64_t frames = 0;
    std::vector<ProgramUse> uses;
    for (int turn = 0; turn < turns_of(session); ++turn) {
        uses.push_back(ffmpeg.run());
        frames = ffmpeg.frames();
        if (frames < compared_frames) fail(ErrorCode::no_input, "{} has only {} frames", input, frames);
    }
    Row row{suite, decode.name, "FFmpeg", time_of(uses, frames), 0, {}};
    row.cpu_us = processor_us(uses, frames);
    session.add(std::move(row));
    return frames;
}

void bench_all(Session& session, const char* suite, const Output& output) {
    if (!has_video(suite)) return;
    const MemoryFolder folder;
    run_program({"ffmpeg", "-version"}, folder / "version");
    std::string version;
    std::getline(std::ifstream(folder / "version") >> std::ws, version);
    fmt::print("{}\n", version);
    const bool brief = session.quick() || session.check_only();
    const auto input = input_video(session, folder, brief ? quick_made_frames : made_frames);
    const auto frames = bench_decoding(session, suite, folder, input);
    for (const auto& filter : shared_filters)
        if (session.wants(filter.name) && (filter.encoded_briefly || !output.is_file || !brief))
            session.attempt(fmt::format("{}: {}", suite, filter.name),
                            [&] { bench_filter(session, suite, folder, input, frames, filter, output); });
}

void bench_files(Session& session) { bench_all(session, "jobs/files", y4m_output); }
void bench_files_mp4(Session& session) { bench_all(session, "jobs/files-mp4", mp4_output); }

const SuiteEntry files_suite{"jobs", "files", bench_files};
const SuiteEntry files_mp4_suite{"jobs", "files-mp4", bench_files_mp4};

}  // namespace
}  // namespace framewire::bench
