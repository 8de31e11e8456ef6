#include "framewire/filters/gray.hpp"
#include "framewire/filters/pointwise_ref.hpp"
#include "suites.hpp"

#include <fmt/format.h>

#if FRAMEWIRE_OPENCV
#include <opencv2/imgproc.hpp>
#endif

namespace framewire::bench {
namespace {

void bench_cpu(Session& session, int channels) {
    // The runs use this many frames in turn, so that each is read from memory and not from the cache.
    constexpr int frames = 16;
    const auto shape = bench_frame.with_frames(frames);
    HostImage in(shape), out(shape.with_channels(channels)), want(shape.with_channels(channels));
    fill_scene(in.view(), 1);
    gray_reference(GrayMethod::weighted, in.view(), want.view());
    Gray gray({.channels = channels}, bench_frame, session.cpu());
    int turn = 0, peer_turn = 0;
    const auto run = [&] {
        gray.run(FilterImages<MemorySpace::host>{in.view().frames(turn, 1), {}, out.view().frames(turn, 1)});
        turn = (turn + 1) % frames;
    };
    for (int frame = 0; frame < frames; ++frame) run();
    const auto operation = fmt::format("weighted, 3 to {} channels", channels);
    Session::require_equal(out.view(), want.view(), operation);

    std::vector<std::function<void()>> candidates{run};
#if FRAMEWIRE_OPENCV
    cv::setNumThreads(session.threads());
    HostImage peer_out(shape.with_channels(channels));
    const auto mat = [&](HostImage& image, int frame, int type) {
        return cv::Mat(bench_frame.height, bench_frame.width, type, image.view().row(frame, 0));
    };
    // OpenCV needs a second call for three channels.
    const auto peer = [&] {
        if (channels == 1) {
            auto result = mat(peer_out, peer_turn, CV_8UC1);
            cv::cvtColor(mat(in, peer_turn, CV_8UC3), result, cv::COLOR_BGR2GRAY);
        } else {
            static cv::Mat single;
            auto result = mat(peer_out, peer_turn, CV_8UC3);
            cv::cvtColor(mat(in, peer_turn, CV_8UC3), single, cv::COLOR_BGR2GRAY);
            cv::cvtColor(single, result, cv::COLOR_GRAY2BGR);
        }
        peer_turn = (peer_turn + 1) % frames;
    };
    for (int frame = 0; frame < frames; ++frame) peer();
    Session::require_equal(peer_out.view(), want.view(), "OpenCV's " + operation);
    candidates.push_back(peer);
#endif
    const auto timings = session.time_cpu(candidates);
    const auto bytes = static_cast<double>(bench_frame.bytes() + bench_frame.with_channels(channels).bytes());
    const auto to_peer = timings.size() > 1 ? std::optional(timings[1].median_us / timings[0].median_us) : std::nullopt;
    session.add({"gray", operation, "framewire cpu", timings[0], bytes, to_peer});
    if (timings.size() > 1) session.add({"gray", operation, "OpenCV", timings[1], bytes, {}});
    (void)peer_turn;
}

void bench_gpu(Session& session, int channels) {
    auto& executor = *session.gpu();
    const auto shape = bench_frame.with_frames(gpu_batch);
    HostImage in(shape), out(shape.with_channels(channels)), want(shape.with_channels(channels));
    fill_scene(in.view(), 2);
    gray_reference(GrayMethod::weighted, in.view(), want.view());
    std::vector<cuda::DeviceImage> device_in, device_out;
    for (int turn = 0; turn < gpu_rotation; ++turn) {
        device_in.emplace_back(shape);
        device_out.emplace_back(shape.with_channels(channels));
        cuda::upload(in.view(), device_in.back().view(), executor.stream());
    }
    Gray gray({.channels = channels}, shape, executor);
    const auto queue = [&](int turn) {
        const auto at = static_cast<std::size_t>(turn);
        if constexpr (cuda::compiled)
            gray.run(FilterImages<MemorySpace::device>{device_in[at].view(), {}, device_out[at].view()});
    };
    const auto timing = session.time_gpu(queue);
    const auto operation = fmt::format("weighted, 3 to {} channels, batch {}", channels, gpu_batch);
    for (auto& result : device_out) {
        cuda::download(result.view(), out.view(), executor.stream());
        executor.stream().synchronize();
        Session::require_equal(out.view(), want.view(), operation);
    }
    session.add({"gray",
                 operation,
                 "framewire cuda",
                 timing,
                 static_cast<double>(bench_frame.bytes() + bench_frame.with_channels(channels).bytes()),
                 {}});
}

void bench_gray(Session& session) {
    for (const int channels : {1, 3}) {
        bench_cpu(session, channels);
        if (session.gpu()) bench_gpu(session, channels);
    }
}

const SuiteEntry gray_suite{"operations", "gray", bench_gray};

}  // namespace
}  // namespace framewire::bench
