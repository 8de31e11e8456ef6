#include "framewire/cuda/device.hpp"
#include "framewire/detect/adaptive.hpp"
#include "framewire/detect/adaptive_ref.hpp"
#include "framewire/detect/models_bench_bench.hpp"
#include "suites.hpp"

#include <fmt/format.h>

#if FRAMEWIRE_OPENCV
#include <opencv2/video/background_segm.hpp>
#endif

namespace framewire::bench {
namespace {

using models_bench::require_same_masks;
using models_bench::scene_frames;
using models_bench::uploads;

// Returns the fewest bytes per frame: the image, the mask, two samples read, and the state of each pixel read and
// written.
double least_bytes(const Shape& shape) {
    const AdaptiveLayout layout(shape.with_frames(1));
    const double pixels = static_cast<double>(layout.blocks) * AdaptiveLayout::block_px;
    return static_cast<double>(shape.frame_bytes()) + static_cast<double>(bit_mask_bytes(shape.with_frames(1))) +
           pixels * (adaptive_matches * layout.features + 2 * 6);
}

HostBitMask reference_masks(HostView<const std::uint8_t> frames) {
    HostImage foreground(frames.shape().with_channels(1));
    AdaptiveReference(adaptive_terms({}), frames.shape()).run(frames, foreground.view());
    HostBitMask masks(frames.shape());
    pack_mask(foreground.view(), masks.view());
    return masks;
}

void bench_cpu(Session& session, int channels) {
    constexpr int frame_count = 20, checked_frames = 3;
    const auto frames = scene_frames(frame_count, channels);
    const auto shape = frames.shape();
    const std::string operation = channels == 1 ? "gray" : "BGR";
    HostBitMask masks(shape);
    AdaptiveBackground background({}, shape, session.cpu());
    const auto want = reference_masks(frames.view().frames(0, checked_frames));
    background.run(frames.view(), masks.view());
    require_same_masks(masks, want, checked_frames, operation);
    // Until adaptive_young_frames a model learns more often than later.
    for (int seen = frame_count; seen < 3 * frame_count; seen += frame_count)
        background.run(frames.view(), masks.view());

    int turn = 0;
    std::vector<std::function<void()>> candidates{[&] {
        background.run(frames.view().frames(turn, 1), masks.view().frames(turn, 1));
        turn = (turn + 1) % frame_count;
    }};
#if FRAMEWIRE_OPENCV
    cv::setNumThreads(session.threads());
    const auto peer = cv::createBackgroundSubtractorKNN();
    cv::Mat peer_mask;
    int peer_turn = 0;
    candidates.push_back([&] {
        auto* const data = const_cast<std::uint8_t*>(frames.view().row(peer_turn, 0));
        peer->apply(cv::Mat(shape.height, shape.width, CV_8UC(channels), data), peer_mask);
        peer_turn = (peer_turn + 1) % frame_count;
    });
    for (int frame = 0; frame < frame_count; ++frame) candidates[1]();
#endif
    const auto timings = session.time_cpu(candidates);
    const auto to_peer = timings.size() > 1 ? std::optional(timings[1].median_us / timings[0].median_us) : std::nullopt;
    session.add({"adaptive", operation, "framewire cpu", timings[0], least_bytes(shape), to_peer});
    if (timings.size() > 1) session.add({"adaptive", operation, "OpenCV KNN", timings[1], 0, {}});
}

void bench_gpu(Session& session, int channels, int batch) {
    auto& executor = *session.gpu();
    const auto frames = scene_frames(batch, channels);
    const auto shape = frames.shape();
    const auto operation = fmt::format("{}, batch {}", channels == 1 ? "gray" : "BGR", batch);
    const auto device_frames = uploads(frames.view(), executor.stream());
    DeviceBitMask device_masks(shape);
    AdaptiveBackground background({}, shape, executor), on_cpu({}, shape, session.cpu());
    const auto queue = [&](int turn) {
        if constexpr (cuda::compiled)
            background.run(device_frames[static_cast<std::size_t>(turn)].view(), device_masks.view());
    };
    HostBitMask masks(shape), want(shape);
    queue(0);
    on_cpu.run(frames.view(), want.view());
    cuda::download(device_masks.view().data(), masks.view().data(), bit_mask_bytes(shape), executor.stream());
    executor.stream().synchronize();
    require_same_masks(masks, want, batch, operation);
    for (int seen = batch; seen < static_cast<int>(adaptive_young_frames); seen += batch) queue(0);
    session.add({"adaptive", operation, "framewire cuda", session.time_gpu(queue, batch), least_bytes(shape), {}});
}

void bench_adaptive(Session& session) {
    for (const int channels : {3, 1}) {
        bench_cpu(session, channels);
        if (session.gpu())
            for (const int batch : {gpu_batch, 1}) bench_gpu(session, channels, batch);
    }
}

const SuiteEntry adaptive_suite{"operations", "adaptive", bench_adaptive};

}  // namespace
}  // namespace framewire::bench
