#include "framewire/cuda/device.hpp"
#include "framewire/detect/mixture.hpp"
#include "framewire/detect/mixture_ref.hpp"
#include "framewire/detect/models_bench_bench.hpp"
#include "mixture_quality.hpp"
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

// Returns the fewest bytes per frame: the image, the mask, and one Gaussian of each pixel read and written.
double least_bytes(const Shape& shape, int batch) {
    const MixtureLayout one_mode(shape.with_frames(1), 1);
    return static_cast<double>(shape.frame_bytes()) + static_cast<double>(bit_mask_bytes(shape.with_frames(1))) +
           2.0 * static_cast<double>(one_mode.bytes()) / batch;
}

HostBitMask reference_masks(HostView<const std::uint8_t> frames) {
    HostImage foreground(frames.shape().with_channels(1)), shadows(frames.shape().with_channels(1));
    MixtureReference(mixture_terms(opencv_mixture), frames.shape()).run(frames, foreground.view(), shadows.view());
    HostBitMask masks(frames.shape());
    pack_mask(foreground.view(), masks.view());
    return masks;
}

void bench_cpu(Session& session, int channels) {
    constexpr int frame_count = 40, checked_frames = 4, batch = 8;
    const auto frames = scene_frames(frame_count, channels);
    const auto shape = frames.shape();
    const std::string operation = channels == 1 ? "gray" : "BGR";
    HostBitMask masks(shape), batch_masks(shape);
    MixtureBackground mixture(opencv_mixture, shape, session.cpu()), in_batches(opencv_mixture, shape, session.cpu());
    const auto want = reference_masks(frames.view().frames(0, checked_frames));
    in_batches.run(frames.view(), batch_masks.view());
    require_same_masks(batch_masks, want, checked_frames, operation);

    int turn = 0, batch_turn = 0;
    std::vector<std::function<void()>> candidates{
        [&] {
            mixture.run(frames.view().frames(turn, 1), masks.view().frames(turn, 1));
            turn = (turn + 1) % frame_count;
        },
        [&] {
            in_batches.run(frames.view().frames(batch_turn, batch), batch_masks.view().frames(batch_turn, batch));
            batch_turn = (batch_turn + batch) % frame_count;
        }};
#if FRAMEWIRE_OPENCV
    cv::setNumThreads(session.threads());
    const auto peer = cv::createBackgroundSubtractorMOG2();
    cv::Mat peer_mask;
    int peer_turn = 0;
    candidates.push_back([&] {
        auto* const data = const_cast<std::uint8_t*>(frames.view().row(peer_turn, 0));
        peer->apply(cv::Mat(shape.height, shape.width, CV_8UC(channels), data), peer_mask);
        peer_turn = (peer_turn + 1) % frame_count;
    });
    // Lets the models see many frames first, like those of a camera.
    for (int frame = 0; frame < frame_count; ++frame) {
        candidates[0]();
        candidates[2]();
    }
    require_same_masks(masks, want, checked_frames, operation);
#endif
    auto timings = session.time_cpu(candidates);
    for (auto* time : {&timings[1].median_us, &timings[1].low_us, &timings[1].high_us}) *time /= batch;
    const auto to_peer = [&](const Timing& timing) {
        return timings.size() > 2 ? std::optional(timings[2].median_us / timing.median_us) : std::nullopt;
    };
    session.add({"mixture", operation, "framewire cpu", timings[0], least_bytes(shape, 1), to_peer(timings[0])});
    session.add({"mixture", fmt::format("{}, batch {}", operation, batch), "framewire cpu", timings[1],
                 least_bytes(shape, batch), to_peer(timings[1])});
    if (timings.size() > 2) session.add({"mixture", operation, "OpenCV", timings[2], 0, {}});
}

void bench_gpu(Session& session, int channels, int batch) {
    auto& executor = *session.gpu();
    const auto frames = scene_frames(batch, channels);
    const auto shape = frames.shape();
    const auto operation = fmt::format("{}, batch {}", channels == 1 ? "gray" : "BGR", batch);
    const auto device_frames = uploads(frames.view(), executor.stream());
    DeviceBitMask device_masks(shape);
    MixtureBackground mixture(opencv_mixture, shape, executor), on_cpu(opencv_mixture, shape, session.cpu());
    const auto queue = [&](int turn) {
        const auto at = static_cast<std::size_t>(turn);
        if constexpr (cuda::compiled) mixture.run(device_frames[at].view(), device_masks.view());
    };
    HostBitMask masks(shape), want(shape);
    queue(0);
    on_cpu.run(frames.view(), want.view());
    cuda::download(device_masks.view().data(), masks.view().data(), bit_mask_bytes(shape), executor.stream());
    executor.stream().synchronize();
    require_same_masks(masks, want, batch, operation);
    session.add(
        {"mixture", operation, "framewire cuda", session.time_gpu(queue, batch), least_bytes(shape, batch), {}});
}

void bench_mixture(Session& session) {
    for (const int channels : {3, 1}) {
        bench_cpu(session, channels);
        if (session.gpu())
            for (const int batch : {gpu_batch, 1}) bench_gpu(session, channels, batch);
    }
    if (!session.cdnet_folder().empty()) print_mixture_quality(session);
}

const SuiteEntry mixture_suite{"operations", "mixture", bench_mixture};

}  // namespace
}  // namespace framewire::bench
