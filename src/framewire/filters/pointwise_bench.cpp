#include "framewire/filters/adjust.hpp"
#include "framewire/filters/gray.hpp"
#include "framewire/filters/heatmap.hpp"
#include "framewire/filters/noise.hpp"
#include "framewire/filters/pointwise.hpp"
#include "framewire/filters/pointwise_ref.hpp"
#include "kit/frame_bench.hpp"
#include "suites.hpp"

#include <array>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace framewire::bench {
namespace {

PointwiseOp op_of(const FilterInfo& info) { return info.pointwise(with_defaults(info, {})).value(); }

// Compares adjust, gray and heatmap in one pass with the three filters one after the other, on consecutive frames.
void bench_joined(Session& session) {
    constexpr int frames = 8;
    const std::vector<PointwiseOp> ops{adjust_op({.slope = 600, .offset = -20}), op_of(gray_info()),
                                       op_of(heatmap_info())};
    HostImage in(bench_frame.with_frames(frames));
    fill_scene(in.view(), 5);
    struct Runner {
        std::vector<std::unique_ptr<PointwisePass>> passes;
        HostImage between[2] = {HostImage(bench_frame), HostImage(bench_frame)};
        HostImage out{bench_frame};
        int turn = 0;

        void run(const HostImage& frames_in) {
            auto from = frames_in.view().frames(turn, 1);
            for (std::size_t index = 0; index < passes.size(); ++index) {
                const auto to = index + 1 == passes.size() ? out.view() : between[index % 2].view();
                passes[index]->run(FilterImages<MemorySpace::host>{.in = from, .previous = {}, .out = to});
                from = to;
            }
            turn = (turn + 1) % frames;
        }

        void add(std::vector<PointwiseOp> some, Executor& executor) {
            passes.push_back(std::make_unique<PointwisePass>(std::move(some), bench_frame, executor));
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
    // One pass reads and writes the picture and the state. One after the other, adjust and gray also read and write the
    // picture.
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
    const auto bench = [&](const FilterInfo& info, const char* operation,
                           std::initializer_list<std::pair<std::string, std::string>> values, auto reference) {
        bench_frames(session, {info, operation, with_defaults(info, values), reference});
    };
    bench(heatmap_info(), "from two frames", {},
          [](const auto& images) { heatmap_reference(images.in, images.previous, images.out); });
    bench(noise_info(), "mask", {},
          [](const auto& images) { noise_reference({}, images.in, images.previous, images.out); });
    bench(noise_info(), "overlay", {{"mode", "overlay"}}, [](const auto& images) {
        noise_reference({.mode = NoiseMode::overlay}, images.in, images.previous, images.out);
    });
    bench(adjust_info(), "brightness and contrast", {{"brightness", "20"}, {"contrast", "1.3"}},
          [=](const auto& images) { adjust_reference(levels, images.in, images.out); });
    bench(adjust_info(), "and saturation", {{"brightness", "20"}, {"contrast", "1.3"}, {"saturation", "1.5"}},
          [=](const auto& images) { adjust_reference(colours, images.in, images.out); });
    bench_joined(session);
}

const SuiteEntry pointwise_suite{"operations", "pointwise", bench_pointwise};

}  // namespace
}  // namespace framewire::bench
