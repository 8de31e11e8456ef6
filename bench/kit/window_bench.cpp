#include "kit/window_bench.hpp"

#include <fmt/format.h>

#include <vector>

namespace framewire::bench {
namespace {

// Copies the first frame to all others.
void repeat_first_frame(HostView<std::uint8_t> image) {
    for (int frame = 1; frame < image.shape().frames; ++frame) copy(image.frames(0, 1), image.frames(frame, 1));
}

struct Pictures {
    HostImage in, out, want;

    Pictures(const WindowBench& bench, int frames, std::uint32_t scene)
        : in(bench_frame.with_channels(bench.channels).with_frames(frames)),
          out(bench.info.output_shape(bench.values, in.shape())),
          want(out.shape()) {
        fill_scene(in.view().frames(0, 1), scene);
        bench.reference(in.view().frames(0, 1), want.view().frames(0, 1));
        repeat_first_frame(in.view());
        repeat_first_frame(want.view());
    }
};

double fewest_bytes(const WindowBench& bench) {
    const auto shape = bench_frame.with_channels(bench.channels);
    return static_cast<double>(shape.bytes() + bench.info.output_shape(bench.values, shape).bytes());
}

void bench_cpu(Session& session, const WindowBench& bench) {
    const int frames = session.quick() ? 4 : 16;
    Pictures pictures(bench, frames, 1);
    const auto filter = bench.info.make(bench.values, bench_frame.with_channels(bench.channels), session.cpu());
    int turn = 0, peer_turn = 0;
    const auto run = [&] {
        filter->run(FilterImages<MemorySpace::host>{
            pictures.in.view().frames(turn, 1), {}, pictures.out.view().frames(turn, 1)});
        turn = (turn + 1) % frames;
    };
    for (int frame = 0; frame < frames; ++frame) run();
    Session::require_equal(pictures.out.view(), pictures.want.view(), bench.operation);

    std::vector<std::function<void()>> candidates{run};
    HostImage peer_out(pictures.out.shape());
    if (bench.peer)
        candidates.push_back([&] {
            bench.peer(pictures.in.view().frames(peer_turn, 1), peer_out.view().frames(peer_turn, 1));
            peer_turn = (peer_turn + 1) % frames;
        });
    const auto timings = session.time_cpu(candidates);
    const auto to_peer = bench.peer ? std::optional(timings[1].median_us / timings[0].median_us) : std::nullopt;
    session.add({bench.suite, bench.operation, "framewire cpu", timings[0], fewest_bytes(bench), to_peer});
    if (bench.peer) session.add({bench.suite, bench.operation, bench.peer_name, timings[1], fewest_bytes(bench), {}});
}

void bench_gpu(Session& session, const WindowBench& bench) {
    auto& executor = *session.gpu();
    Pictures pictures(bench, gpu_batch, 2);
    std::vector<cuda::DeviceImage> device_in, device_out;
    for (int turn = 0; turn < gpu_rotation; ++turn) {
        device_in.emplace_back(pictures.in.shape());
        device_out.emplace_back(pictures.out.shape());
        cuda::upload(pictures.in.view(), device_in.back().view(), executor.stream());
    }
    const auto filter = bench.info.make(bench.values, pictures.in.shape(), executor);
    const auto timing = session.time_gpu([&](int turn) {
        const auto at = static_cast<std::size_t>(turn);
        filter->run(FilterImages<MemorySpace::device>{device_in[at].view(), {}, device_out[at].view()});
    });
    const auto operation = fmt::format("{}, batch {}", bench.operation, gpu_batch);
    for (auto& result : device_out) {
        cuda::download(result.view(), pictures.out.view(), executor.stream());
        executor.stream().synchronize();
        Session::require_equal(pictures.out.view(), pictures.want.view(), operation);
    }
    session.add({bench.suite, operation, "framewire cuda", timing, fewest_bytes(bench), {}});
}

}  // namespace

void bench_window(Session& session, const WindowBench& bench) {
    bench_cpu(session, bench);
    if (session.gpu()) bench_gpu(session, bench);
}

}  // namespace framewire::bench
