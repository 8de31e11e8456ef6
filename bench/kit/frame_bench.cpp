#include "kit/frame_bench.hpp"

#include <fmt/format.h>

#include <vector>

namespace framewire::bench {
namespace {

struct Scene {
    HostImage in, previous;

    explicit Scene(const Shape& shape) : in(shape), previous(shape) {
        fill_scene(previous.view(), 3);
        fill_later(previous.view(), in.view(), 0.02, false, 4);
    }
};

// Returns the images that a filter of `info` takes.
template <MemorySpace space>
FilterImages<space> images_for(const FilterInfo& info, View<const std::uint8_t, space> in,
                               View<const std::uint8_t, space> other, View<std::uint8_t, space> out) {
    FilterImages<space> images{in, {}, out};
    if (info.needs_previous) images.previous = other;
    if (info.original) images.original = other;
    return images;
}

double bytes_of(const FrameBench& bench) {
    const bool two = bench.info.needs_previous || bench.info.original;
    return static_cast<double>(bench_frame.bytes() * (two ? 2 : 1) +
                               bench.info.output_shape(bench.values, bench_frame).bytes());
}

void bench_cpu(Session& session, const FrameBench& bench) {
    const int frames = session.quick() ? 2 : 8;
    const Scene scene(bench_frame.with_frames(frames));
    HostImage out(bench.info.output_shape(bench.values, scene.in.shape())), want(out.shape());
    bench.reference(images_for<MemorySpace::host>(bench.info, scene.in.view(), scene.previous.view(), want.view()));
    const auto filter = bench.info.make(bench.values, bench_frame, session.cpu());
    int turn = 0;
    const auto run = [&] {
        filter->run(images_for<MemorySpace::host>(bench.info, scene.in.view().frames(turn, 1),
                                                  scene.previous.view().frames(turn, 1), out.view().frames(turn, 1)));
        turn = (turn + 1) % frames;
    };
    for (int frame = 0; frame < frames; ++frame) run();
    Session::require_equal(out.view(), want.view(), bench.operation);
    session.add({std::string(bench.info.name),
                 bench.operation,
                 "framewire cpu",
                 session.time_cpu({run})[0],
                 bytes_of(bench),
                 {}});
}

void bench_gpu(Session& session, const FrameBench& bench) {
    auto& executor = *session.gpu();
    const Scene scene(bench_frame.with_frames(gpu_batch));
    HostImage out(bench.info.output_shape(bench.values, scene.in.shape())), want(out.shape());
    bench.reference(images_for<MemorySpace::host>(bench.info, scene.in.view(), scene.previous.view(), want.view()));
    std::vector<cuda::DeviceImage> in, previous, results;
    for (int turn = 0; turn < gpu_rotation; ++turn) {
        for (auto* images : {&in, &previous}) images->emplace_back(scene.in.shape());
        results.emplace_back(out.shape());
        cuda::upload(scene.in.view(), in.back().view(), executor.stream());
        cuda::upload(scene.previous.view(), previous.back().view(), executor.stream());
    }
    const auto filter = bench.info.make(bench.values, scene.in.shape(), executor);
    const auto timing = session.time_gpu([&](int turn) {
        const auto at = static_cast<std::size_t>(turn);
        filter->run(
            images_for<MemorySpace::device>(bench.info, in[at].view(), previous[at].view(), results[at].view()));
    });
    for (auto& result : results) {
        cuda::download(result.view(), out.view(), executor.stream());
        executor.stream().synchronize();
        Session::require_equal(out.view(), want.view(), bench.operation);
    }
    session.add({std::string(bench.info.name),
                 fmt::format("{}, batch {}", bench.operation, gpu_batch),
                 "framewire cuda",
                 timing,
                 bytes_of(bench),
                 {}});
}

}  // namespace

void bench_frames(Session& session, const FrameBench& bench) {
    bench_cpu(session, bench);
    if (session.gpu()) bench_gpu(session, bench);
}

}  // namespace framewire::bench
