#include "framewire/filters/mosaic.hpp"
#include "framewire/filters/mosaic_ref.hpp"
#include "suites.hpp"

#include <fmt/format.h>

#if FRAMEWIRE_OPENCV
#include <opencv2/imgproc.hpp>
#endif

namespace framewire::bench {
namespace {

constexpr double fewest_bytes = 2.0 * static_cast<double>(bench_frame.bytes());

void bench_cpu(Session& session, int cell_px) {
    constexpr int frames = 16;
    const auto shape = bench_frame.with_frames(frames);
    HostImage in(shape), out(shape), want(shape);
    fill_scene(in.view(), 1);
    mosaic_reference({.cell_px = cell_px}, in.view(), want.view());
    Mosaic mosaic({.cell_px = cell_px}, bench_frame, session.cpu());
    int turn = 0;
    const auto run = [&] {
        mosaic.run(FilterImages<MemorySpace::host>{in.view().frames(turn, 1), {}, out.view().frames(turn, 1)});
        turn = (turn + 1) % frames;
    };
    for (int frame = 0; frame < frames; ++frame) run();
    const auto operation = fmt::format("cell {}", cell_px);
    Session::require_equal(out.view(), want.view(), operation);

    std::vector<std::function<void()>> candidates{run};
#if FRAMEWIRE_OPENCV
    // OpenCV's picture is nearly the same: it stretches the cells slightly if the frame is not a multiple of their
    // size.
    HostImage peer_out(shape);
    int peer_turn = 0;
    cv::Mat cells;
    cv::setNumThreads(session.threads());
    candidates.push_back([&] {
        const cv::Mat from(bench_frame.height, bench_frame.width, CV_8UC3, in.view().row(peer_turn, 0));
        cv::Mat to(bench_frame.height, bench_frame.width, CV_8UC3, peer_out.view().row(peer_turn, 0));
        const cv::Size size((bench_frame.width + cell_px - 1) / cell_px, (bench_frame.height + cell_px - 1) / cell_px);
        cv::resize(from, cells, size, 0, 0, cv::INTER_AREA);
        cv::resize(cells, to, to.size(), 0, 0, cv::INTER_NEAREST);
        peer_turn = (peer_turn + 1) % frames;
    });
#endif
    const auto timings = session.time_cpu(candidates);
    const auto to_peer = timings.size() > 1 ? std::optional(timings[1].median_us / timings[0].median_us) : std::nullopt;
    session.add({"mosaic", operation, "framewire cpu", timings[0], fewest_bytes, to_peer});
    if (timings.size() > 1) session.add({"mosaic", operation, "OpenCV's resize", timings[1], fewest_bytes, {}});
}

void bench_gpu(Session& session, int cell_px) {
    auto& executor = *session.gpu();
    const auto shape = bench_frame.with_frames(gpu_batch);
    HostImage in(shape), out(shape), want(shape);
    fill_scene(in.view(), 2);
    mosaic_reference({.cell_px = cell_px}, in.view(), want.view());
    std::vector<cuda::DeviceImage> device_in, device_out;
    for (int turn = 0; turn < gpu_rotation; ++turn) {
        device_in.emplace_back(shape);
        device_out.emplace_back(shape);
        cuda::upload(in.view(), device_in.back().view(), executor.stream());
    }
    Mosaic mosaic({.cell_px = cell_px}, shape, executor);
    const auto timing = session.time_gpu([&](int turn) {
        const auto at = static_cast<std::size_t>(turn);
        if constexpr (cuda::compiled)
            mosaic.run(FilterImages<MemorySpace::device>{device_in[at].view(), {}, device_out[at].view()});
    });
    const auto operation = fmt::format("cell {}, batch {}", cell_px, gpu_batch);
    for (auto& result : device_out) {
        cuda::download(result.view(), out.view(), executor.stream());
        executor.stream().synchronize();
        Session::require_equal(out.view(), want.view(), operation);
    }
    session.add({"mosaic", operation, "framewire cuda", timing, fewest_bytes, {}});
}

void bench_mosaic(Session& session) {
    for (const int cell_px : {1, 4, 32, 100, 500}) {
        bench_cpu(session, cell_px);
        if (session.gpu()) bench_gpu(session, cell_px);
    }
}

const SuiteEntry mosaic_suite{"operations", "mosaic", bench_mosaic};

}  // namespace
}  // namespace framewire::bench
