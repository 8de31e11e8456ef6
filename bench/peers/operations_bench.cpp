// Compares each operation with equivalents in one run and in turn: OpenCV and FFmpeg's filters on the CPU, NPP on a
// GPU. The stream's coders are in bench/stream, whole jobs in bench/jobs.

#include "peers/filters.hpp"
#include "peers/others.hpp"
#include "suites.hpp"

#include <fmt/format.h>

#include <optional>
#include <vector>

namespace framewire::bench {
namespace {

constexpr Shape sizes[] = {{1, 336, 596, 3}, {1, 720, 1280, 3}, bench_frame, {1, 2160, 3840, 3}};

struct CpuTable {
    Shape frame;
    Content content;
    bool cold;
};

// Returns a table with one frame in a cache for every size, and all other tables for 1080p. A run that only checks
// has the tables of one small size.
std::vector<CpuTable> cpu_tables(const Session& session) {
    std::vector<CpuTable> tables;
    for (const auto& frame : sizes) {
        tables.push_back({frame, Content::real, false});
        if (session.check_only() || frame == bench_frame) {
            tables.push_back({frame, Content::real, true});
            tables.push_back({frame, Content::constant, false});
            tables.push_back({frame, Content::noisy, false});
        }
        if (session.check_only()) break;
    }
    return tables;
}

void bench_cpu(Session& session, const std::vector<FilterPeers>& filters) {
    use_opencv_threads(session.threads());
    std::optional<ContentFrames> pictures;
    for (const auto& table : cpu_tables(session)) {
        if (!pictures || pictures->frame() != table.frame || pictures->content != table.content)
            pictures.emplace(session, table.frame, table.content);
        const Setting setting{&*pictures, table.cold};
        const bool all = table.content == Content::real;
        fmt::print("\n{}x{}, {}, {} cache\n", table.frame.width, table.frame.height, to_string(table.content),
                   table.cold ? "cold" : "hot");
        for (const auto& peers : filters)
            if (session.wants(peers.name) && (all || peers.by_content))
                session.attempt(peers.name, [&] { hold_filter_contest(session, setting, peers); });
        for (const auto& other : other_contests())
            if (session.wants(other.name) && (all || other.by_content))
                session.attempt(other.name, [&] { other.hold(session, setting); });
    }
}

void bench_gpu_table(Session& session, const ContentFrames& pictures, const std::vector<FilterPeers>& filters,
                     int batch, bool cold, bool transfers) {
    GpuSetting setting(session, pictures, batch, cold, transfers);
    fmt::print("\nGPU: {}x{}, batch {}, {} cache{}\n", pictures.frame().width, pictures.frame().height, batch,
               cold ? "cold" : "hot", transfers ? ", with transfers" : "");
    for (const auto& peers : filters)
        if (session.wants(peers.name))
            session.attempt(peers.name, [&] { hold_filter_contest(session, setting, peers); });
    if (!transfers && session.wants("labels with boxes"))
        session.attempt("labels with boxes", [&] { hold_labels_contest(session, setting); });
}

void bench_gpu(Session& session, const std::vector<FilterPeers>& filters) {
    for (const auto& frame : sizes) {
        const ContentFrames pictures(session, frame, Content::real);
        if (session.check_only()) return bench_gpu_table(session, pictures, filters, 8, true, true);
        if (frame == bench_frame)
            for (const int batch : {1, 8}) bench_gpu_table(session, pictures, filters, batch, true, false);
        bench_gpu_table(session, pictures, filters, gpu_batch, true, false);
        if (frame == bench_frame)
            for (const bool transfers : {false, true})
                for (const int batch : {1, 8, gpu_batch})
                    bench_gpu_table(session, pictures, filters, batch, transfers, transfers);
    }
}

void bench_operations(Session& session) {
    const auto filters = filter_peers();
    if (FRAMEWIRE_OPENCV || FRAMEWIRE_FFMPEG)
        bench_cpu(session, filters);
    else
        fmt::print("CPU: this build has neither OpenCV nor FFmpeg, so there are no peers\n");
    if (session.gpu()) bench_gpu(session, filters);
}

const SuiteEntry operations_suite{"peers", "operations", bench_operations};

}  // namespace
}  // namespace framewire::bench
