// Whole jobs as a user runs them: framewire itself on raw frames in memory, and beside them what a frame costs on its
// way: read, up, down, write. What lies between is the suites of the operations.

#include "framewire/core/error.hpp"
#include "framewire/core/time/clock.hpp"
#include "framewire/media/media.hpp"
#include "framewire/pipeline/frames/frame.hpp"
#include "kit/programs.hpp"
#include "suites.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

namespace framewire::bench {
namespace raw_bench {

constexpr int scenes = 16;             // different frames, then the same again
constexpr double memory_share = 0.15;  // of the folder's free bytes that the frames may take
constexpr int most_frames = 2000, quick_frames = 200, least_frames = 20;

// Frames that fit, with room for as many that a job writes.
int fitting_frames(const Session& session, const MemoryFolder& folder) {
    const auto fit = static_cast<int>(memory_share * static_cast<double>(folder.free_bytes()) /
                                      static_cast<double>(bench_frame.bytes()));
    return std::clamp(fit, least_frames, session.quick() ? quick_frames : most_frames);
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

// Runs a command of the shell; what it measured of its frames is in the file `stats`.
Timing run_job(const std::string& command, const std::string& stats, int frames) {
    if (std::system(command.c_str()) != 0) fail(ErrorCode::internal, "this failed: {}", command);
    const auto figures = nlohmann::json::parse(std::ifstream(stats));
    if (figures.at("frames") != frames) fail(ErrorCode::internal, "{} frames of {}", figures.dump(), frames);
    const double us = 1e6 / figures.at("fps").get<double>();
    std::filesystem::remove(stats);
    return {us, us, us};
}

struct Job {
    std::string name, arguments, output;
};

void bench_job(Session& session, const MemoryFolder& folder, const Job& job, const std::string& backend, int frames) {
    const auto stats = folder / "stats.json", output = folder / job.output;
    const auto input = fmt::format("raw:{}:size={}x{}", folder / "in.bgr", bench_frame.width, bench_frame.height);
    const auto command = fmt::format("{} {} -i {} -o {} --backend {} --stats {} --log-level error --progress none",
                                     framewire_program(), job.arguments, input, output, backend, stats);
    std::vector<Timing> turns;
    for (int turn = 0; turn < 3; ++turn) {
        turns.push_back(run_job(command, stats, frames));
        std::filesystem::remove(output);
    }
    std::ranges::sort(turns, {}, &Timing::median_us);
    session.add({"jobs/raw",
                 job.name,
                 "framewire " + backend,
                 {turns[1].median_us, turns[0].median_us, turns[2].median_us},
                 0,
                 {}});
}

constexpr const char* serve_job = "serve, one viewer";

// A broadcast to one viewer on this machine, which writes nothing.
void bench_serve(Session& session, const MemoryFolder& folder, const std::string& backend, int frames) {
    const auto stats = folder / "stats.json", address = folder / "address";
    const auto command = fmt::format(
        "{0} serve -i raw:{1}:size={2}x{3} --listen 127.0.0.1:0 --rate max --wait 1 --backend {4} --stats {5} "
        "--progress none 2> {6} & "
        "for i in $(seq 200); do at=$(sed -n 's/.* at \\(tcp:.*\\)$/\\1/p' {6}); [ -n \"$at\" ] && break; "
        "sleep 0.1; done; {0} view $at --no-window --log-level error --progress none; wait",
        framewire_program(), folder / "in.bgr", bench_frame.width, bench_frame.height, backend, stats, address);
    const auto timing = run_job(command, stats, frames);
    session.add({"jobs/raw", serve_job, "framewire " + backend, timing, 0, {}});
}

// What a frame costs alone, one after the other, in each of `slots`.
void bench_step(
    Session& session, const std::string& name, const std::string& runner, int frames,
    const std::function<void(int)>& step, const std::function<void()>& end = [] {}) {
    const auto begin = Clock::now();
    for (int frame = 0; frame < frames; ++frame) step(frame);
    end();
    const double us = 1000 * milliseconds_since(begin) / frames;
    session.add({"jobs/raw", name, runner, {us, us, us}, static_cast<double>(bench_frame.bytes()), {}});
}

void bench_steps(Session& session, const MemoryFolder& folder, Executor& executor, int frames) {
    constexpr int slots = 8;
    const auto runner = fmt::format("framewire {}", to_string(executor.backend()));
    std::vector<Frame> places;
    for (int slot = 0; slot < slots; ++slot) places.emplace_back(bench_frame, executor);
    const auto at = [&](int frame) -> Frame& { return places[static_cast<std::size_t>(frame % slots)]; };
    const auto source =
        open_source(fmt::format("raw:{}:size={}x{}", folder / "in.bgr", bench_frame.width, bench_frame.height));
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
    const std::vector<Job> jobs{{"detect", "detect", "objects.jsonl"},
                                {"detect, report", "detect --method report", "objects.jsonl"},
                                {"run gaussian=5", "run -f gaussian=5", "out.bgr"},
                                {"run median=5", "run -f median=5", "out.bgr"},
                                {"hog", "hog", "out.npy"}};
    for (auto* executor : {&session.cpu(), session.gpu()}) {
        if (!executor) continue;
        const std::string backend(to_string(executor->backend()));
        if (session.wants("a frame")) bench_steps(session, folder, *executor, frames);
        for (const auto& job : jobs)
            if (session.wants(job.name)) bench_job(session, folder, job, backend, frames);
        if (session.wants(serve_job)) bench_serve(session, folder, backend, frames);
    }
}

const SuiteEntry raw_suite{"jobs", "raw", bench_raw};

}  // namespace raw_bench
}  // namespace framewire::bench
