// Whole jobs as users run them: framewire on raw frames in memory, and the cost of a frame's other steps: read, upload,
// download, write. The suites of the operations measure the steps in between.

#include "framewire/core/error.hpp"
#include "framewire/core/time.hpp"
#include "framewire/media/media.hpp"
#include "framewire/plan/frame.hpp"
#include "jobs/rig/served.hpp"
#include "kit/programs.hpp"
#include "suites.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace framewire::bench {
namespace {

constexpr int scenes = 16;             // number of different frames, which then repeat
constexpr double memory_share = 0.15;  // share of the folder's free bytes that the frames may use
constexpr int most_frames = 2000, quick_frames = 200, least_frames = 20;
constexpr int turns = 3, compared_frames = 16;

// Returns the number of frames that fit, with room for a job that writes as many.
int fitting_frames(const Session& session, const MemoryFolder& folder) {
    const auto fit = static_cast<int>(memory_share * static_cast<double>(folder.free_bytes()) /
                                      static_cast<double>(bench_frame.bytes()));
    return std::clamp(fit, least_frames,
                      session.check_only() ? least_frames
                      : session.quick()    ? quick_frames
                                           : most_frames);
}

void write_frames(const std::string& path, int count) {
    HostImage first(bench_frame);
    fill_scene(first.view(), 1);
    std::vector<HostImage> all;
    for (int scene = 0; scene < scenes; ++scene) {
        all.emplace_back(bench_frame);
        fill_later(std::as_const(first).view(), all.back().view(), 0.02, false, static_cast<std::uint32_t>(scene));
    }
    std::ofstream file(path, std::ios::binary);
    for (int frame = 0; frame < count; ++frame)
        file.write(reinterpret_cast<const char*>(all[static_cast<std::size_t>(frame % scenes)].view().data()),
                   bench_frame.bytes());
    if (!file.flush()) fail(ErrorCode::io, "cannot write {}", path);
}

Row row_of(const std::string& name, const std::string& backend, const Timing& timing, int frames) {
    Row row{"jobs/raw", name, "framewire " + backend, timing};
    row.details = {{"size", fmt::format("{}x{}", bench_frame.width, bench_frame.height)},
                   {"frames", std::to_string(frames)}};
    return row;
}

// Returns the time per frame of a run that must have processed this many frames.
double frame_us(const nlohmann::json& figures, int frames) {
    if (figures.at("frames") != frames)
        fail(ErrorCode::internal, "the statistics {} are not those of {} frames", figures.dump(), frames);
    return 1e6 / figures.at("fps").get<double>();
}

std::string raw_input(const MemoryFolder& folder) {
    return fmt::format("raw:{}:size={}x{}", folder / "in.bgr", bench_frame.width, bench_frame.height);
}

struct Job {
    std::string name;
    std::vector<std::string> words;
    std::string output;
};

// Runs a job on the first `frames` frames and returns the time per frame.
double run_job(const MemoryFolder& folder, const Job& job, const std::string& output, const std::string& backend,
               int frames, int threads) {
    const auto stats = folder / "stats.json";
    std::vector<std::string> words{framewire_program()};
    words.insert(words.end(), job.words.begin(), job.words.end());
    words.insert(words.end(), {"-i", raw_input(folder), "-o", output, "--backend", backend, "--stats", stats, "-y",
                               "--frames", std::to_string(frames), "--threads", std::to_string(threads), "--log-level",
                               "error", "--progress", "none"});
    run_program(words);
    return frame_us(nlohmann::json::parse(std::ifstream(stats)), frames);
}

std::string start_of(const std::string& path, std::size_t bytes) {
    std::string start(bytes, '\0');
    std::ifstream file(path, std::ios::binary);
    file.read(start.data(), static_cast<std::streamsize>(bytes));
    start.resize(static_cast<std::size_t>(file.gcount()));
    return start;
}

// Returns the values of a NumPy file of version 1, without its header.
std::vector<float> numbers_of(const std::string& file) {
    constexpr std::size_t fixed_bytes = 10;
    if (file.size() < fixed_bytes)
        fail(ErrorCode::internal, "the NumPy file is truncated: it has {} bytes", file.size());
    const auto header_bytes =
        fixed_bytes + static_cast<unsigned char>(file[8]) + 256u * static_cast<unsigned char>(file[9]);
    if (file.size() < header_bytes)
        fail(ErrorCode::internal, "the NumPy file is truncated: it has {} bytes", file.size());
    std::vector<float> numbers((file.size() - header_bytes) / sizeof(float));
    std::memcpy(numbers.data(), file.data() + header_bytes, numbers.size() * sizeof(float));
    return numbers;
}

// Checks that a job's output begins with what one CPU thread writes for the first frames.
void compare_start(const MemoryFolder& folder, const Job& job, const std::string& output) {
    const auto path = folder / ("first-" + job.output);
    run_job(folder, job, path, "cpu", compared_frames, 1);
    const auto wanted = start_of(path, static_cast<std::size_t>(std::filesystem::file_size(path)));
    std::filesystem::remove(path);
    const auto got = start_of(output, wanted.size());
    if (!job.output.ends_with(".npy")) {
        if (wanted.empty() || got != wanted)
            fail(ErrorCode::internal,
                 "{}: the output for the first {} frames differs from that of one thread; not timed", job.name,
                 compared_frames);
        return;
    }
    const auto found = numbers_of(got), expected = numbers_of(wanted);
    const auto both = std::min(found.size(), expected.size());  // the headers may differ in length
    Session::require_near(std::span(found).first(both),
                          std::vector<double>(expected.begin(), expected.begin() + static_cast<std::ptrdiff_t>(both)),
                          job.name);
}

void bench_job(Session& session, const MemoryFolder& folder, const Job& job, const std::string& backend, int frames) {
    const auto output = folder / job.output;
    std::vector<double> us;
    for (int turn = 0; turn < (session.check_only() ? 1 : turns); ++turn) {
        us.push_back(run_job(folder, job, output, backend, frames, 0));
        if (turn == 0) compare_start(folder, job, output);
        std::filesystem::remove(output);
    }
    std::ranges::sort(us);
    session.add(row_of(job.name, backend, {us[us.size() / 2], us.front(), us.back()}, frames));
}

constexpr const char* serve_job = "serve, one viewer";

// Measures a broadcast to one viewer on this machine; the viewer writes no output.
void bench_serve(Session& session, const MemoryFolder& folder, const std::string& backend, int frames) {
    constexpr int threshold = 20;
    Served server(folder, {"-i", raw_input(folder), "--rate", "max", "--wait", "1", "--backend", backend, "--threshold",
                           std::to_string(threshold)});
    run_program({framewire_program(), "view", server.address("main"), "--no-window", "--log-level", "error",
                 "--progress", "none"});
    const auto figures = server.wait();
    if (const int error = largest_error(figures); error > threshold)
        fail(ErrorCode::internal, "a byte of the stream was off by {}; at most {} is allowed", error, threshold);
    const double us = frame_us(figures, frames);
    auto row = row_of(serve_job, backend, {us, us, us}, frames);
    row.details["viewers"] = "1";
    session.add(std::move(row));
}

// Measures a single step, one frame after the other, cycling through `slots` slots.
void bench_step(
    Session& session, const std::string& name, const std::string& runner, int frames,
    const std::function<void(int)>& step, const std::function<void()>& end = [] {}) {
    const auto begin = Clock::now();
    for (int frame = 0; frame < frames; ++frame) step(frame);
    end();
    const double us = 1000 * milliseconds_since(begin) / frames;
    session.add({"jobs/raw", name, runner, {us, us, us}, static_cast<double>(bench_frame.bytes())});
}

void bench_steps(Session& session, const MemoryFolder& folder, Executor& executor, int frames) {
    constexpr int slots = 8;
    const auto runner = fmt::format("framewire {}", to_string(executor.backend()));
    std::vector<Frame> places;
    for (int slot = 0; slot < slots; ++slot) places.emplace_back(bench_frame, executor);
    const auto at = [&](int frame) -> Frame& { return places[static_cast<std::size_t>(frame % slots)]; };
    const auto source = open_source(raw_input(folder));
    FrameTime time;
    bench_step(session, "a frame: read", runner, frames, [&](int frame) { source->read(at(frame).host(), time); });
    if (executor.backend() == Backend::cuda) {
        const auto end = [&] {
            for (auto& place : places) place.wait();
        };
        bench_step(
            session, "a frame: up", runner, frames,
            [&](int frame) {
                at(frame).wait();
                at(frame).upload();
            },
            end);
        bench_step(
            session, "a frame: down", runner, frames,
            [&](int frame) {
                at(frame).wait();
                at(frame).download();
            },
            end);
    }
    const auto path = folder / "out.bgr";
    const auto sink = open_sink(path, bench_frame, {30, 1}, {});
    bench_step(session, "a frame: write", runner, frames,
               [&](int frame) { sink->write(std::as_const(at(frame)).host(), time); });
    sink->finish();
    std::filesystem::remove(path);
}

void bench_raw(Session& session) {
    const MemoryFolder folder;
    const int frames = fitting_frames(session, folder);
    write_frames(folder / "in.bgr", frames);
    // The mixture is measured, because the mark is one of reading; the suite `adaptive` measures the default
    // background.
    const std::vector<Job> jobs{{"detect", {"detect", "--background", "mixture"}, "objects.jsonl"},
                                {"detect, report", {"detect", "--method", "report"}, "objects.jsonl"},
                                {"run gaussian=5", {"run", "-f", "gaussian=5"}, "out.bgr"},
                                {"run median=5", {"run", "-f", "median=5"}, "out.bgr"},
                                {"hog", {"hog"}, "hog.npy"}};
    for (auto* executor : {&session.cpu(), session.gpu()}) {
        if (!executor) continue;
        const std::string backend(to_string(executor->backend()));
        if (session.wants("a frame, " + backend)) bench_steps(session, folder, *executor, frames);
        const auto attempt = [&](const std::string& name, const std::function<void()>& part) {
            if (session.wants(name + ", " + backend)) session.attempt("jobs/raw: " + name, part);
        };
        for (const auto& job : jobs) attempt(job.name, [&] { bench_job(session, folder, job, backend, frames); });
        attempt(serve_job, [&] { bench_serve(session, folder, backend, frames); });
    }
}

const SuiteEntry raw_suite{"jobs", "raw", bench_raw};

}  // namespace
}  // namespace framewire::bench
