#include "framewire/core/error.hpp"
#include "framewire/hog/hog.hpp"
#include "framewire/hog/hog_ref.hpp"
#include "suites.hpp"

#include <fmt/format.h>

#include <span>

#if FRAMEWIRE_OPENCV
#include <opencv2/objdetect.hpp>
#endif

namespace framewire::bench {
namespace {

// Runs cycle through the frames, so that input comes from memory and not from the cache of the previous run.
constexpr int cpu_frames = 16;

std::string describe(const HogParameters& parameters) {
    return fmt::format("{}cell {}, {} bins{}", parameters.gradient == HogGradient::central ? "central, " : "",
                       parameters.cell, parameters.bins,
                       parameters.norm == HogNorm::none ? "" : fmt::format(", l2hys {}", parameters.block));
}

// Returns the least possible traffic: the image is read once and the descriptors are written once.
double fewest_bytes(const HogShape& shape) {
    return static_cast<double>(bench_frame.bytes()) + static_cast<double>(shape.bytes()) / shape.frames;
}

void bench_cpu(Session& session, const HogParameters& parameters) {
    HostImage in(bench_frame.with_frames(cpu_frames));
    fill_scene(in.view(), 1);
    Hog hog(parameters, bench_frame, session.cpu());
    std::vector<float> out(static_cast<std::size_t>(hog.output_shape().count()));
    int turn = 0;
    const auto run = [&] {
        hog.run(in.view().frames(turn, 1), HogView<float, MemorySpace::host>(out.data(), hog.output_shape()));
        turn = (turn + 1) % cpu_frames;
    };
    const auto operation = describe(parameters);
    run();
    Session::require_near(out, hog_reference(parameters, in.view().frames(0, 1)).descriptors, operation);

    std::vector<std::function<void()>> candidates{run};
#if FRAMEWIRE_OPENCV
    // OpenCV takes the whole image as one window, so that every block is computed once.
    cv::setNumThreads(session.threads());
    const cv::HOGDescriptor peer_hog({bench_frame.width, bench_frame.height}, {16, 16}, {8, 8}, {8, 8}, 9);
    std::vector<float> descriptors;
    int peer_turn = 0;
    const auto peer = [&] {
        peer_hog.compute(cv::Mat(bench_frame.height, bench_frame.width, CV_8UC3, in.view().row(peer_turn, 0)),
                         descriptors);
        peer_turn = (peer_turn + 1) % cpu_frames;
    };
    if (parameters.cell == 8 && parameters.norm == HogNorm::l2hys) {
        peer();
        if (descriptors.size() != out.size())
            fail(ErrorCode::internal, "OpenCV returned {} values, framewire {}", descriptors.size(), out.size());
        candidates.push_back(peer);
    }
#endif
    const auto timings = session.time_cpu(candidates);
    const auto bytes = fewest_bytes(hog.output_shape());
    const auto to_peer = timings.size() > 1 ? std::optional(timings[1].median_us / timings[0].median_us) : std::nullopt;
    session.add({"hog", operation, "framewire cpu", timings[0], bytes, to_peer});
    if (timings.size() > 1) session.add({"hog", operation, "OpenCV", timings[1], bytes, {}});
}

void bench_gpu(Session& session, const HogParameters& parameters) {
    if constexpr (cuda::compiled) {
        auto& executor = *session.gpu();
        const auto shape = bench_frame.with_frames(gpu_batch);
        HostImage in(shape);
        fill_scene(in.view(), 2);
        Hog hog(parameters, shape, executor);
        const auto& out_shape = hog.output_shape();
        std::vector<cuda::DeviceImage> device_in;
        std::vector<cuda::DeviceBuffer> device_out;
        for (int turn = 0; turn < gpu_rotation; ++turn) {
            device_in.emplace_back(shape);
            device_out.emplace_back(out_shape.bytes());
            cuda::upload(in.view(), device_in.back().view(), executor.stream());
        }
        const auto run = [&](int turn) {
            const auto at = static_cast<std::size_t>(turn);
            hog.run(std::as_const(device_in[at]).view(),
                    HogView<float, MemorySpace::device>(device_out[at].as<float>(), out_shape));
        };
        const auto operation = describe(parameters);
        const auto timing = session.time_gpu(run);
        std::vector<float> out(static_cast<std::size_t>(out_shape.count()));
        const auto of_frame = out.size() / gpu_batch;
        const auto want = hog_reference(parameters, in.view().frames(gpu_batch - 1, 1)).descriptors;
        for (const auto& result : device_out) {
            cuda::download(result.data(), out.data(), out_shape.bytes(), executor.stream());
            executor.stream().synchronize();
            Session::require_near(std::span(out).last(of_frame), want, operation);
        }
        session.add({"hog", operation, "framewire cuda", timing, fewest_bytes(out_shape), {}});
    }
}

void bench_hog(Session& session) {
    const HogParameters all[] = {{},
                                 {.cell = 16},
                                 {.cell = 32},
                                 {.cell = 4},
                                 {.bins = 36},
                                 {.norm = HogNorm::l2hys},
                                 {.gradient = HogGradient::central},
                                 {.gradient = HogGradient::central, .norm = HogNorm::l2hys}};
    for (const auto& parameters : all) bench_cpu(session, parameters);
    if (session.gpu())
        for (const auto& parameters : all) bench_gpu(session, parameters);
}

const SuiteEntry hog_suite{"operations", "hog", bench_hog};

}  // namespace
}  // namespace framewire::bench
