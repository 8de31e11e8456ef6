// Measures how many synthetic cameras one server sustains at 30 frames per second: the first guess follows from the
// cost of one camera. The number then rises until the server falls behind, and bisection finds the largest sustained
// number.

#include "framewire/core/error.hpp"
#include "jobs/rig/fleet.hpp"
#include "suites.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <thread>
#include <utility>

namespace framewire::bench {
namespace {

constexpr int fps = 30;
constexpr int most_cameras = 512;
constexpr double memory_share = 0.7;  // share of the free memory that the cameras may use

struct Question {
    std::string size, backend;
    bool watched;
};

std::string name_of(const Question& question) {
    return fmt::format("{} at {} fps, {}", question.size, fps, question.watched ? "watched" : "nobody watches");
}

FleetStatistics figures_of(const Session& session, const Question& question, int cameras) {
    const bool brief = session.quick() || session.check_only();
    auto figures = run_fleet({.size = question.size,
                              .backend = question.backend,
                              .fps = fps,
                              .cameras = cameras,
                              .viewers = question.watched ? cameras : 0,
                              .settling_seconds = brief ? 1.5 : 3.0,
                              .seconds = session.check_only() ? 0.5
                                         : brief              ? 1.9
                                                              : 9.9});
    fmt::print(
        "{}, {}: {:4d} cameras: slowest {:6.2f} fps, {:6.2f} ms of CPU time per frame, {:5.2f} cores, {} threads, "
        "{:.0f} MiB{}\n",
        name_of(question), question.backend, cameras, figures.slowest_fps, figures.cpu_us_per_frame / 1000,
        figures.cores, figures.threads, figures.memory_mib, figures.held ? "" : "  not held");
    std::fflush(stdout);
    return figures;
}

struct Answer {
    int held = 0, missed = 0;  // largest sustained number of cameras and smallest not sustained one; 0 for none
    FleetStatistics figures{}, beyond{};
};

// Returns the next number to try; 0 once the result is precise enough.
int next_count(const Session& session, const Answer& answer, int most) {
    if (answer.missed == 0) return answer.held >= most ? 0 : std::min(most, answer.held + std::max(1, answer.held / 4));
    const int fine = session.quick() ? answer.held / 8 : 0;
    const int step = answer.missed - answer.held;
    return step > std::max(1, fine) ? answer.held + step / 2 : 0;
}

Answer find(const Session& session, const Question& question) {
    Answer answer;
    const auto take = [&](int cameras) {
        const auto figures = figures_of(session, question, cameras);
        if (figures.held)
            answer.held = cameras, answer.figures = figures;
        else
            answer.missed = cameras, answer.beyond = figures;
    };
    take(1);
    if (answer.held == 0 || session.check_only()) return answer;
    const auto by_memory = static_cast<int>(memory_share * free_mib() / answer.figures.memory_mib);
    const int most = std::clamp(by_memory, 1, most_cameras);
    const auto cores = static_cast<double>(std::thread::hardware_concurrency());
    const int guess = std::clamp(static_cast<int>(0.9 * cores / answer.figures.cores), 1, most);
    for (int count = guess > 1 ? guess : next_count(session, answer, most); count > 0;
         count = next_count(session, answer, most))
        take(count);
    return answer;
}

void bench_question(Session& session, const Question& question) {
    const auto answer = find(session, question);
    if (session.check_only()) return;
    const auto& figures = answer.held > 0 ? answer.figures : answer.beyond;
    const double us = figures.cpu_us_per_frame;
    fmt::print("{}, {}: {} cameras are sustained\n", name_of(question), question.backend, answer.held);
    Row row{"jobs/cameras", name_of(question), "framewire " + question.backend, {us, us, us}};
    row.cpu_us = us;
    row.details = {{"size", question.size},
                   {"cameras", std::to_string(answer.held)},
                   {"viewers", std::to_string(question.watched ? answer.held : 0)},
                   {"fps", fmt::format("{:.1f}", figures.slowest_fps)},
                   {"cores", fmt::format("{:.2f}", figures.cores)},
                   {"threads", std::to_string(figures.threads)},
                   {"memory_mib", fmt::format("{:.0f}", figures.memory_mib)}};
    if (answer.missed > 0)
        row.note = fmt::format("with {} cameras, the slowest reached {:.1f} fps; the time is the server's CPU time",
                               answer.missed, answer.beyond.slowest_fps);
    else
        row.note = "limited by memory; the time is the server's CPU time";
    session.add(std::move(row));
}

void bench_cameras(Session& session) {
    for (const auto* executor : {&session.cpu(), session.gpu()}) {
        if (!executor) continue;
        const std::string backend(to_string(executor->backend()));
        for (const char* size : {"1280x720", "1920x1080"})
            for (const bool watched : {false, true}) {
                const Question question{size, backend, watched};
                if (session.wants(name_of(question) + ", " + backend))
                    session.attempt("jobs/cameras: " + name_of(question), [&] { bench_question(session, question); });
            }
    }
}

const SuiteEntry cameras_suite{"jobs", "cameras", bench_cameras};

}  // namespace
}  // namespace framewire::bench
