// Answers how many cameras this machine holds for a job, and what runs out first. The job is `framewire serve` with any
// of its options. Every resource is measured for some seconds: decoders alone, the whole job as fast as it goes, and
// what a frame takes of processors, bus, network and memory. The smallest of the numbers of cameras that follow is the
// prediction. It is then tried, with cameras that keep their rate, and corrected until 10 % more do not hold.

#include "jobs/rig/fleet.hpp"
#include "jobs/rig/videos.hpp"
#include "limits/decoders.hpp"
#include "suites.hpp"

#include "framewire/core/error.hpp"
#include "framewire/media/media.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace framewire::bench {
namespace {

constexpr int made_frames = 300, checked_frames = 24;
constexpr int gpu_cameras = 14;  // two for each NVDEC of an H200
constexpr int most_cameras = 512;
constexpr double least_spare = 0.05;   // share of a resource for frames that take more than the mean
constexpr double paced_share = 0.7;    // of the cameras that the whole job seems to hold
constexpr double same_limit = 1.15;    // a resource is what runs out if the whole job reaches this share of it
constexpr double others_share = 0.05;  // of the cores; beyond, the answer is that of a busy machine
constexpr double assumed_line_mbit = 1000;

struct Resource {
    std::string name;
    double cameras = 0;
    std::string measured;
    bool is_physical = true;  // false for the whole job, whose limit may be none of the resources
};

struct Question {
    std::string video;
    std::string repeated;  // the same video for a long time
    Shape shape;
    double fps = 30;
    double bytes_per_frame = 0;  // of the video
    std::vector<std::string> options;
    int viewers = 1;
    bool decodes_on_gpu = false, runs_on_gpu = false;

    std::string camera() const { return fmt::format("{}x{} at {:g} fps", shape.width, shape.height, fps); }
    std::string job() const { return fmt::format("serve {}", fmt::join(options, " ")); }
};

// Returns the value of an option in "--name value" or "--name=value"; empty if it is not given.
std::optional<std::string> value_of(const std::vector<std::string>& options, const std::string& name) {
    for (std::size_t at = 0; at < options.size(); ++at) {
        if (options[at].starts_with(name + "=")) return options[at].substr(name.size() + 1);
        if (options[at] == name && at + 1 < options.size()) return options[at + 1];
    }
    return {};
}

// Files are decoded on the CPU by default, but they stand for cameras here, which a GPU decodes.
Question make_question(const Session& session, const MemoryFolder& folder) {
    Question question{.video = input_video(session, folder, session.check_only() ? checked_frames : made_frames)};
    const auto& choices = session.capacity();
    question.options = choices.job.empty() ? std::vector<std::string>{"--detect"} : choices.job;
    question.viewers = choices.viewers;
    for (const std::string own : {"-i", "--input", "--rate", "--loop", "--stats", "--listen", "--progress"})
        for (const auto& option : question.options)
            if (option == own || option.starts_with(own + "="))
                fail(ErrorCode::usage, "capacity sets {} of serve itself", own);

    question.repeated = repeated_video(folder, question.video);
    const auto source = open_source(question.video);
    question.shape = source->info().shape;
    question.fps = choices.fps > 0 ? choices.fps : source->info().rate.value();
    question.bytes_per_frame = static_cast<double>(std::filesystem::file_size(question.video)) /
                               static_cast<double>(frames_in(question.video));

    const auto backend = value_of(question.options, "--backend"), decode = value_of(question.options, "--decode");
    question.runs_on_gpu = session.has_gpu() && backend.value_or("auto") != "cpu";
    if (!decode && question.runs_on_gpu) question.options.insert(question.options.end(), {"--decode", "cuda"});
    question.decodes_on_gpu = session.has_gpu() && value_of(question.options, "--decode").value_or("cpu") == "cuda";
    return question;
}

FleetStatistics run(const Question& question, int cameras, double fps, double seconds,
                    const std::vector<std::string>& more = {}) {
    return run_fleet({.video = question.repeated,
                      .options = joined(question.options, more),
                      .fps = fps,
                      .cameras = cameras,
                      .viewers = question.viewers * cameras,
                      .settling_seconds = 2,
                      .seconds = seconds});
}

double cores() { return static_cast<double>(std::thread::hardware_concurrency()); }

// Decoders alone, each with a thread, on all cores or on the GPU. `cpu_ms` receives the CPU time of a frame.
Resource decoder(const Session& session, const Question& question, double& cpu_ms) {
    const int count = question.decodes_on_gpu ? gpu_cameras : static_cast<int>(cores());
    const auto choice = question.decodes_on_gpu ? DecodeChoice::cuda : DecodeChoice::cpu;
    const Decoders decoders(count, 1, [&](const std::stop_token& stop) {
        return decode_through_source(question.repeated, choice, 1, stop);
    });
    const auto start = Clock::now();
    const double cpu_before = process_seconds();
    const auto first = decoders.frames();
    std::this_thread::sleep_for(std::chrono::duration<double>(session.check_only() ? 0.2 : session.quick() ? 1 : 3));
    const double rate = 1000 * static_cast<double>(decoders.frames() - first) / milliseconds_since(start);
    cpu_ms = 1000 * (process_seconds() - cpu_before) / static_cast<double>(decoders.frames() - first);
    decoders.require_all();
    return {question.decodes_on_gpu ? "decoder (NVDEC)" : "decoder (CPU)", rate / question.fps,
            fmt::format("{:.0f} frames/s, {} at once", rate, count)};
}

// Returns the rate of the fastest network interface that is connected; empty if none states it.
std::optional<double> line_mbit() {
    std::optional<double> fastest;
    std::error_code missing;
    for (const auto& interface : std::filesystem::directory_iterator("/sys/class/net", missing)) {
        std::ifstream file(interface.path() / "speed");
        double mbit = 0;
        if (file >> mbit && mbit > 0) fastest = std::max(fastest.value_or(0), mbit);
    }
    return fastest;
}

// The whole job: as fast as it goes, at the rate of the cameras, and one camera whose steps are timed on a GPU.
struct Job {
    int fast_cameras = 1, paced_cameras = 1;
    FleetStatistics fast, paced, steps;
};

Job measure_job(const Session& session, const Question& question) {
    // Checked cameras have one frame per second.
    const double seconds = session.check_only() ? 1.5 : session.quick() ? 2 : 5;
    Job job;
    const auto run_fast = [&](int cameras) {
        job.fast_cameras = cameras;
        job.fast = run(question, cameras, 0, seconds);
        return std::clamp(static_cast<int>(job.fast.frames_per_second / question.fps), 1, most_cameras);
    };
    int expected = run_fast(session.check_only() ? 1 : question.runs_on_gpu ? gpu_cameras : static_cast<int>(cores()));
    // Many cameras at once cost more, or share more, than few.
    if (!session.check_only() && expected > 2 * job.fast_cameras) expected = run_fast(expected);
    job.paced_cameras = session.check_only() ? 1 : std::max(1, static_cast<int>(paced_share * expected));
    job.paced = run(question, job.paced_cameras, session.check_only() ? 1 : question.fps, seconds);
    if (question.runs_on_gpu) job.steps = run(question, 1, question.fps, seconds, {"--times"});
    return job;
}

// Returns what the whole job needs. The processors' time is that of cameras at their rate: a frame takes more of it
// than when every camera goes on with its next frame at once. The cores that count are those that other programs leave,
// or that the job took from them when it went as fast as it could.
std::vector<Resource> resources_of(Session& session, const Question& question, const Job& job, double decoding_cpu_ms) {
    const double seen = job.fast.frames_per_second / question.fps;
    std::vector<Resource> all;
    const auto add = [&](const std::string& name, double number, const std::string& measured) {
        all.push_back({name, number, measured});
    };

    const auto& paced = job.paced;
    const double used = paced.cores + paced.viewer_cores;
    const double cpu_ms = 1000 * used / paced.frames_per_second;
    const double available = std::max(job.fast.cores + job.fast.viewer_cores, cores() - paced.other_cores);
    add("CPU", 1000 * available / (cpu_ms * question.fps),
        fmt::format("{:.2f} ms per frame{}, viewers {:.2f}; {:.1f} of {:.0f} cores free for it", cpu_ms,
                    question.decodes_on_gpu ? "" : fmt::format(", decoding {:.2f} of it", decoding_cpu_ms),
                    1000 * paced.viewer_cores / paced.frames_per_second, available, cores()));
    if (question.runs_on_gpu) {
        if (job.steps.steps_ms > 0)  // alone, steps use less of a GPU than it has: it holds no less than was seen
            add("GPU", std::max(seen, 1000 / (job.steps.steps_ms * question.fps)),
                fmt::format("{:.3f} ms per frame, one step after the other", job.steps.steps_ms));
        const double up =
            question.decodes_on_gpu ? question.bytes_per_frame : 1.5 * question.shape.width * question.shape.height;
        const auto& bus = session.measured_limit("cuda up");
        const double bytes_per_second = 1e6 * bus.bytes / bus.timing.median_us;
        add("PCIe", bytes_per_second / (up * question.fps),
            fmt::format("{:.1f} GB/s, {:.2f} MB per frame up", bytes_per_second * 1e-9, up * 1e-6));
    }
    const auto line = line_mbit();
    const double in = 8e-6 * question.bytes_per_frame * question.fps;
    const double out = 8e-6 * paced.bytes_per_frame * question.fps * question.viewers;
    add("network", line.value_or(assumed_line_mbit) / std::max(in, out),
        fmt::format("{:.1f} Mbit/s in, {:.1f} out; line of {:.0f} Mbit/s{}", in, out, line.value_or(assumed_line_mbit),
                    line ? "" : " assumed"));
    const double mib = paced.memory_mib / job.paced_cameras;
    add("memory", free_mib() / mib, fmt::format("{:.0f} MiB per camera, {:.0f} MiB free", mib, free_mib()));
    all.push_back(
        {"whole job", seen,
         fmt::format("{:.0f} frames/s, {} at once, as fast as they go", job.fast.frames_per_second, job.fast_cameras),
         false});
    return all;
}

struct Prediction {
    int cameras = 0;
    std::string limit;  // the resource that runs out first; empty if it is none of the measured ones
};

Prediction predict(const std::vector<Resource>& resources) {
    const auto smallest = std::ranges::min_element(resources, {}, &Resource::cameras);
    std::vector<Resource> physical;
    std::ranges::copy_if(resources, std::back_inserter(physical), &Resource::is_physical);
    const auto first = std::ranges::min_element(physical, {}, &Resource::cameras);
    const bool is_first = first->cameras <= same_limit * smallest->cameras;
    return {std::clamp(static_cast<int>((1 - least_spare) * smallest->cameras), 0, most_cameras),
            is_first ? first->name : ""};
}

struct Reality {
    int held = 0, missed = 0;  // largest number that held its rate, and smallest that did not; 0: none
    FleetStatistics figures{}, beyond{};
};

// Runs a number of cameras for the time that they must hold, and prints the result.
FleetStatistics try_cameras(const Session& session, const Question& question, int cameras) {
    const auto figures = run(question, cameras, question.fps, session.quick() ? 5 : session.capacity().seconds);
    fmt::print(
        "{:4d} cameras: slowest {:.2f} of {:g} fps, {:.2f} cores, viewers {:.2f}, others {:.2f}; {:.0f} MiB ({:+.0f} "
        "meanwhile); all open after {:.1f} s; 99 % of the frames at most {:.0f} ms late{}\n",
        cameras, figures.slowest_fps, question.fps, figures.cores, figures.viewer_cores, figures.other_cores,
        figures.memory_mib, figures.memory_growth_mib, figures.opening_seconds, figures.late_p99_ms,
        figures.held ? "" : "  not held");
    std::fflush(stdout);
    return figures;
}

// Tries the prediction, then numbers 10 % apart, until the limit is between two neighbours.
Reality find_limit(const Session& session, const Question& question, int predicted) {
    Reality reality;
    const auto step = [](int cameras) { return std::max(1, cameras / 10); };
    int next = std::max(1, predicted);
    while (next > 0) {
        const auto figures = try_cameras(session, question, next);
        (figures.held ? reality.held : reality.missed) = next;
        (figures.held ? reality.figures : reality.beyond) = figures;
        if (reality.missed == 0)
            next = next < most_cameras ? std::min(most_cameras, next + step(next)) : 0;
        else if (reality.missed - reality.held <= step(reality.missed))
            next = 0;
        else if (reality.held == 0 && next == predicted)
            next = predicted - step(predicted);  // most misses are near
        else
            next = (reality.held + reality.missed) / 2;
    }
    return reality;
}

void print(const Question& question, const std::vector<Resource>& resources, const Prediction& prediction,
           const Reality& reality) {
    fmt::print("\n{}, viewers of each camera: {}\n{:<18} {:>9}  {}\n", question.job(), question.viewers, "resource",
               "cameras", "measured");
    for (const auto& resource : resources)
        fmt::print("{:<18} {:>9.1f}  {}\n", resource.name, resource.cameras, resource.measured);
    fmt::print("{:<18} {:>9}\n{:<18} {:>9}  {}\n", "predicted", prediction.cameras, "held", reality.held,
               reality.missed > 0 ? fmt::format("{} did not hold: the slowest reached {:.2f} fps", reality.missed,
                                                reality.beyond.slowest_fps)
                                  : "");
    const double others = std::max(reality.figures.other_cores, reality.beyond.other_cores);
    if (others > others_share * cores())
        fmt::print("other programs used up to {:.1f} cores meanwhile; repeat this on a quiet machine\n", others);
    fmt::print("{} cameras of {}; {} runs out first\n", reality.held, question.camera(),
               prediction.limit.empty() ? "none of these resources" : "the " + prediction.limit);
}

void add_rows(Session& session, const Question& question, const std::vector<Resource>& resources,
              const Prediction& prediction, const Reality& reality) {
    const std::string runner = question.runs_on_gpu ? "framewire cuda" : "framewire cpu";
    for (const auto& resource : resources)
        session.add(
            {.suite = "capacity/cameras",
             .operation = resource.name,
             .runner = runner,
             .to_peer = {},
             .details = {{"cameras", fmt::format("{:.1f}", resource.cameras)}, {"measured", resource.measured}}});
    session.add({.suite = "capacity/cameras",
                 .operation = question.camera(),
                 .runner = runner,
                 .to_peer = {},
                 .cpu_us = reality.figures.cpu_us_per_frame,
                 .details = {{"job", question.job()},
                             {"predicted", std::to_string(prediction.cameras)},
                             {"cameras", std::to_string(reality.held)},
                             {"limit", prediction.limit},
                             {"viewers", std::to_string(question.viewers)},
                             {"fps", fmt::format("{:.2f}", reality.figures.slowest_fps)},
                             {"cores", fmt::format("{:.2f}", reality.figures.cores)},
                             {"late_p99_ms", fmt::format("{:.1f}", reality.figures.late_p99_ms)},
                             {"opening_s", fmt::format("{:.1f}", reality.figures.opening_seconds)}}});
}

void bench_capacity(Session& session) {
    if (session.once() || (session.video().empty() && !has_video("capacity"))) return;
    const MemoryFolder folder;
    const auto question = make_question(session, folder);
    if (const int cameras = session.capacity().cameras; cameras > 0 && !session.check_only()) {
        try_cameras(session, question, cameras);
        return;
    }
    double decoding_cpu_ms = 0;
    const auto decoders = decoder(session, question, decoding_cpu_ms);
    const auto job = measure_job(session, question);
    auto resources = resources_of(session, question, job, decoding_cpu_ms);
    resources.insert(resources.begin(), decoders);
    resources.front().cameras = std::max(resources.front().cameras, resources.back().cameras);
    const auto prediction = predict(resources);
    if (session.check_only()) return add_rows(session, question, resources, prediction, {});
    const auto reality = find_limit(session, question, prediction.cameras);
    add_rows(session, question, resources, prediction, reality);
    print(question, resources, prediction, reality);
}

const SuiteEntry capacity_suite{"capacity", "cameras", bench_capacity};

}  // namespace
}  // namespace framewire::bench
