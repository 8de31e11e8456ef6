#include "framewire/filters/adjust/adjust.hpp"
#include "framewire/filters/adjust/adjust_ref.hpp"
#include "framewire/filters/gray/gray.hpp"
#include "framewire/filters/heatmap/heatmap.hpp"
#include "framewire/filters/heatmap/heatmap_ref.hpp"
#include "framewire/filters/noise/noise.hpp"
#include "framewire/filters/noise/noise_ref.hpp"
#include "framewire/filters/pointwise/pointwise.hpp"
#include "suites.hpp"

#include <fmt/format.h>

#include <array>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace framewire::bench {
namespace pointwise_bench {

using Values = std::initializer_list<std::pair<std::string, std::string>>;
using Reference = std::function<void(const FilterImages<MemorySpace::host>&)>;

struct Case {
    FilterInfo info;
    const char* operation;
    Values values;
    Reference reference;
};

// Frames of one scene and the ones before them, a fiftieth of the bytes changed.
struct Scene {
    HostImage in, previous;

    explicit Scene(const Shape& shape) : in(shape), previous(shape) {
        fill_scene(previous.view(), 3);
        fill_later(previous.view(), in.view(), 0.02, false, 4);
    }
};

double bytes_of(const FilterInfo& info) {
    return static_cast<double>(bench_frame.bytes()) * (info.needs_previous ? 3 : 2);
}

void bench_cpu(Session& session, const Case& one) {
    constexpr int frames = 8;
    const auto shape = bench_frame.with_frames(frames);
    const auto& info = one.info;
    const Scene scene(shape);
    HostImage out(shape), want(shape);
    one.reference({scene.in.view(), scene.previous.view(), want.view()});
    const auto filter = info.make(with_defaults(info, one.values), bench_frame, session.cpu());
    int turn = 0;
    const auto run = [&] {
        filter->run(FilterImages<MemorySpace::host>{
            scene.in.view().frames(turn, 1),
            info.needs_previous ? scene.previous.view().frames(turn, 1) : HostView<const std::uint8_t>{},
            out.view().frames(turn, 1)});
        turn = (turn + 1) % frames;
    };
    for (int frame = 0; frame < frames; ++frame) run();
    Session::require_equal(out.view(), want.view(), one.operation);
    session.add(
        {std::string(one.info.name), one.operation, "framewire cpu", session.time_cpu({run})[0], bytes_of(info), {}});
}

void bench_gpu(Session& session, const Case& one) {
    auto& executor = *session.gpu();
    const auto shape = bench_frame.with_frames(gpu_batch);
    const auto& info = one.info;
    const Scene scene(shape);
    HostImage out(shape), want(shape);
    one.reference({scene.in.view(), scene.previous.view(), want.view()});
    std::vector<cuda::DeviceImage> in, previous, results;
    for (int turn = 0; turn < gpu_rotation; ++turn) {
        for (auto* images : {&in, &previous, &results}) images->emplace_back(shape);
        cuda::upload(scene.in.view(), in.back().view(), executor.stream());
        cuda::upload(scene.previous.view(), previous.back().view(), executor.stream());
    }
    const auto filter = info.make(with_defaults(info, one.values), shape, executor);
    const auto timing = session.time_gpu([&](int turn) {
        const auto at = static_cast<std::size_t>(turn);
        filter->run(FilterImages<MemorySpace::device>{
            in[at].view(), info.needs_previous ? previous[at].view() : DeviceView<const std::uint8_t>{},
            results[at].view()});
    });
    for (auto& result : results) {
        cuda::download(result.view(), out.view(), executor.stream());
        executor.stream().synchronize();
        Session::require_equal(out.view(), want.view(), one.operation);
    }
    session.add({std::string(one.info.name),
                 fmt::format("{}, batch {}", one.operation, gpu_batch),
                 "framewire cuda",
                 timing,
                 bytes_of(info),
                 {}});
}

PointwiseOp op_of(const FilterInfo& info) { return info.pointwise(with_defaults(info, {})).value(); }

// adjust, gray and heatmap as one pass beside the three one after the other, on frames that follow each other.
void bench_joined(Session& session) {
    constexpr int frames = 8;
    const std::vector<PointwiseOp> ops{adjust_op({.slope = 600, .offset = -20}), op_of(gray_info()),
                                       op_of(heatmap_info())};
    HostImage in(bench_frame.with_frames(frames));
    fill_scene(in.view(), 5);
    struct Runner {
        std::vector<std::unique_ptr<PointwisePass>> passes;
        std::vector<HostImage> states;
        HostImage between[2] = {HostImage(bench_frame), HostImage(bench_frame)};
        HostImage out{bench_frame};
        int turn = 0;

        void run(const HostImage& frames_in) {
            auto from = frames_in.view().frames(turn, 1);
            for (std::size_t index = 0; index < passes.size(); ++index) {
                const auto to = index + 1 == passes.size() ? out.view() : between[index % 2].view();
                const auto shapes = passes[index]->state_shapes();
                const auto state = std::array{shapes.empty() ? HostView<std::uint8_t>() : states.back().view()};
                passes[index]->run(from, to, {state.data(), shapes.size()}, turn == 0);
                from = to;
            }
            turn = (turn + 1) % frames;
        }

        void add(std::vector<PointwiseOp> some, Executor& executor) {
            passes.push_back(std::make_unique<PointwisePass>(std::move(some), bench_frame, executor));
            for (const auto& shape : passes.back()->state_shapes()) states.emplace_back(shape);
        }
    };
    Runner joined, alone;
    joined.add(ops, session.cpu());
    for (const auto& op : ops) alone.add({op}, session.cpu());
    for (int frame = 0; frame < frames; ++frame) {
        joined.run(in);
        alone.run(in);
        Session::require_equal(joined.out.view(), alone.out.view(), "adjust, gray, heatmap");
    }
    const auto timings = session.time_cpu({[&] { joined.run(in); }, [&] { alone.run(in); }});
    // One pass reads and writes the picture and the state; one by one, adjust and gray do so with the picture too.
    session.add({"pointwise", "adjust, gray, heatmap", "framewire cpu, one pass", timings[0],
                 4.0 * static_cast<double>(bench_frame.bytes()), timings[1].median_us / timings[0].median_us});
    session.add({"pointwise",
                 "adjust, gray, heatmap",
                 "framewire cpu, one by one",
                 timings[1],
                 8.0 * static_cast<double>(bench_frame.bytes()),
                 {}});
}

void bench_pointwise(Session& session) {
    const Adjustment levels{.brightness = 20, .contrast = 1.3},
        colours{.brightness = 20, .contrast = 1.3, .saturation = 1.5};
    const Case cases[] = {
        {heatmap_info(),
         "from two frames",
         {},
         [](const auto& images) { heatmap_reference(images.in, images.previous, images.out); }},
        {noise_info(),
         "mask",
         {},
         [](const auto& images) { noise_reference({}, images.in, images.previous, images.out); }},
        {noise_info(),
         "overlay",
         {{"mode", "overlay"}},
         [](const auto& images) {
             noise_reference({.mode = NoiseMode::overlay}, images.in, images.previous, images.out);
         }},
        {adjust_info(),
         "brightness and contrast",
         {{"brightness", "20"}, {"contrast", "1.3"}},
         [=](const auto& images) { adjust_reference(levels, images.in, images.out); }},
        {adjust_info(),
         "and saturation",
         {{"brightness", "20"}, {"contrast", "1.3"}, {"saturation", "1.5"}},
         [=](const auto& images) { adjust_reference(colours, images.in, images.out); }},
    };
    for (const auto& one : cases) {
        bench_cpu(session, one);
        if (session.gpu()) bench_gpu(session, one);
    }
    bench_joined(session);
}

const SuiteEntry pointwise_suite{"pointwise", bench_pointwise};

}  // namespace pointwise_bench
}  // namespace framewire::bench
