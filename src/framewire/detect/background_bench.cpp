#include "framewire/cuda/device.hpp"
#include "framewire/detect/background.hpp"
#include "framewire/detect/detector_ref.hpp"
#include "suites.hpp"

#include <fmt/format.h>

#include <cstring>
#include <vector>

#if FRAMEWIRE_OPENCV
#include <opencv2/imgproc.hpp>
#endif

namespace framewire::bench {
namespace {

constexpr auto gray_frame = bench_frame.with_channels(1);
constexpr int cpu_frames = 16;

// A scene some moments later, the blurred gray image of the still scene, and the mask of their differences.
struct Scene {
    HostImage frames{bench_frame}, background{gray_frame};
    HostBitMask mask{bench_frame};

    explicit Scene(const ForegroundParameters& parameters) {
        HostImage still(bench_frame), blurred(gray_frame);
        fill_scene(still.view(), 1);
        fill_later(still.view(), frames.view(), 0.05, false, 2);
        blurred_gray_reference(parameters.blur, still.view(), background.view());
        blurred_gray_reference(parameters.blur, frames.view(), blurred.view());
        difference_reference(parameters.threshold, blurred.view(), background.view(), mask.view());
    }

    HostImage repeated(int count) const {
        HostImage images(bench_frame.with_frames(count));
        for (int frame = 0; frame < count; ++frame) copy(frames.view(), images.view().frames(frame, 1));
        return images;
    }

    void require_mask(const HostBitMask& got, const std::string& operation) const {
        for (int frame = 0; frame < got.shape().frames; ++frame)
            if (std::memcmp(got.view().row(frame, 0), mask.view().data(), bit_mask_bytes(bench_frame)) != 0)
                fail(ErrorCode::internal, "{}: the mask of frame {} differs from the reference; not timed", operation,
                     frame);
    }
};

const auto fewest_bytes = static_cast<double>(bench_frame.bytes()) + static_cast<double>(bit_mask_bytes(bench_frame));

void bench_cpu(Session& session, const ForegroundParameters& parameters, const Scene& scene, const std::string& name) {
    auto frames = scene.repeated(cpu_frames);
    HostBitMask masks(frames.shape());
    const Foreground foreground(parameters, bench_frame, session.cpu());
    int turn = 0;
    const auto run = [&] {
        foreground.run(frames.view().frames(turn, 1), scene.background.view(), masks.view().frames(turn, 1));
        turn = (turn + 1) % cpu_frames;
    };
    for (int frame = 0; frame < cpu_frames; ++frame) run();
    scene.require_mask(masks, name);
    std::vector<std::function<void()>> candidates{run};
#if FRAMEWIRE_OPENCV
    cv::setNumThreads(session.threads());
    auto still = HostImage(gray_frame);
    copy(scene.background.view(), still.view());
    const cv::Mat background(gray_frame.height, gray_frame.width, CV_8UC1, still.view().data());
    cv::Mat gray, blurred, difference, white;
    int peer_turn = 0;
    candidates.push_back([&] {
        const cv::Mat frame(bench_frame.height, bench_frame.width, CV_8UC3, frames.view().row(peer_turn, 0));
        cv::cvtColor(frame, gray, cv::COLOR_BGR2GRAY);
        cv::GaussianBlur(gray, blurred, {parameters.blur, parameters.blur}, 0);
        cv::absdiff(blurred, background, difference);
        cv::threshold(difference, white, parameters.threshold, 255, cv::THRESH_BINARY);
        peer_turn = (peer_turn + 1) % cpu_frames;
    });
#endif
    const auto timings = session.time_cpu(candidates);
    const bool peer = timings.size() > 1;
    session.add({"foreground", name, "framewire cpu", timings[0], fewest_bytes,
                 peer ? std::optional(timings[1].median_us / timings[0].median_us) : std::nullopt});
    if (peer) session.add({"foreground", name, "OpenCV", timings[1], fewest_bytes, {}});
}

void bench_gpu(Session& session, const ForegroundParameters& parameters, const Scene& scene, const std::string& name,
               int batch) {
    auto& executor = *session.gpu();
    const auto frames = scene.repeated(batch);
    std::vector<cuda::DeviceImage> device_frames;
    std::vector<DeviceBitMask> device_masks;
    cuda::DeviceImage background(gray_frame);
    cuda::upload(scene.background.view(), background.view(), executor.stream());
    for (int turn = 0; turn < gpu_rotation; ++turn) {
        device_frames.emplace_back(frames.shape());
        device_masks.emplace_back(frames.shape());
        cuda::upload(frames.view(), device_frames.back().view(), executor.stream());
    }
    Foreground foreground(parameters, frames.shape(), executor);
    const auto timing = session.time_gpu(
        [&](int turn) {
            const auto at = static_cast<std::size_t>(turn);
            if constexpr (cuda::compiled)
                foreground.run(device_frames[at].view(), background.view(), device_masks[at].view());
        },
        batch);
    const auto full_name = fmt::format("{}, batch {}", name, batch);
    HostBitMask mask(frames.shape());
    for (auto& result : device_masks) {
        cuda::download(result.view().data(), mask.view().data(), bit_mask_bytes(mask.shape()), executor.stream());
        executor.stream().synchronize();
        scene.require_mask(mask, full_name);
    }
    session.add({"foreground", full_name, "framewire cuda", timing, fewest_bytes, {}});
}

void bench_foreground(Session& session) {
    for (const int blur : {15, 1, 31}) {
        const ForegroundParameters parameters{.blur = blur};
        const Scene scene(parameters);
        const auto name = fmt::format("blur {}", blur);
        bench_cpu(session, parameters, scene, name);
        if (session.gpu())
            for (const int batch : {gpu_batch, 1}) bench_gpu(session, parameters, scene, name, batch);
    }
}

const SuiteEntry foreground_suite{"operations", "foreground", bench_foreground};

}  // namespace
}  // namespace framewire::bench
