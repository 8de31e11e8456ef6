// Measures how a server's CPU time per frame and memory grow with the picture size, the number of cameras and the
// number of viewers. Rates are low, so that no frame is dropped.

#include "jobs/rig/fleet.hpp"
#include "suites.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>

namespace framewire::bench {
namespace {

constexpr const char* small = "596x336";  // size of the moving-object report's video
constexpr int slow_fps = 5, fps = 15;

void bench_fleet(Session& session, const std::string& along, Fleet fleet) {
    const auto name = fmt::format("with its {}: {} x {}, {} viewers", along, fleet.cameras, fleet.size, fleet.viewers);
    if (!session.wants(name + ", " + fleet.backend)) return;
    const bool brief = session.quick() || session.check_only();
    fleet.settling_seconds = session.check_only() ? 0.5 : brief ? 1 : 2;
    fleet.seconds = session.check_only() ? 0.5 : brief ? 1.9 : 7.9;
    session.attempt("jobs/growth: " + name, [&] {
        const auto figures = run_fleet(fleet);
        if (session.check_only()) return;
        const double us = figures.cpu_us_per_frame;
        Row row{"jobs/growth", name, "framewire " + fleet.backend, {us, us, us}};
        row.cpu_us = us;
        row.details = {{"along", along},
                       {"size", fleet.size},
                       {"cameras", std::to_string(fleet.cameras)},
                       {"viewers", std::to_string(fleet.viewers)},
                       {"camera_fps", fmt::format("{}", fleet.fps)},
                       {"fps", fmt::format("{:.1f}", figures.slowest_fps)},
                       {"cores", fmt::format("{:.2f}", figures.cores)},
                       {"memory_mib", fmt::format("{:.0f}", figures.memory_mib)}};
        row.note = fmt::format("the time is the server's CPU time; the server used {:.0f} MiB{}", figures.memory_mib,
                               figures.held ? "" : " and did not reach the cameras' frame rate");
        session.add(std::move(row));
    });
}

void bench_growth(Session& session) {
    for (const auto* executor : {&session.cpu(), session.gpu()}) {
        if (!executor) continue;
        const std::string backend(to_string(executor->backend()));
        for (const char* size : {small, "1280x720", "1920x1080", "3840x2160"})
            bench_fleet(session, "size", {.size = size, .backend = backend, .fps = slow_fps, .viewers = 1});
        for (const int cameras : {1, 2, 4, 8, 16})
            bench_fleet(session, "cameras",
                        {.size = small, .backend = backend, .fps = slow_fps, .cameras = cameras, .viewers = cameras});
        for (const int viewers : {1, 10, 100})
            bench_fleet(session, "viewers", {.size = small, .backend = backend, .fps = fps, .viewers = viewers});
    }
}

const SuiteEntry growth_suite{"jobs", "growth", bench_growth};

}  // namespace
}  // namespace framewire::bench
