#include "framewire/cuda/device.hpp"
#include "framewire/detect/components_bench_bench.hpp"
#include "kit/masks.hpp"
#include "suites.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <vector>

#if FRAMEWIRE_OPENCV
#include <opencv2/imgproc.hpp>
#endif

namespace framewire::bench {
namespace components_bench {

// Returns the least memory traffic: every bit of the mask is read and, for label images, every pixel is written.
double fewest_bytes(const Shape& shape, bool label_images) {
    return static_cast<double>(bit_mask_bytes(shape)) +
           (label_images ? 4.0 * static_cast<double>(shape.frame_bytes()) : 0);
}

std::string operation_of(const Case& bench, bool label_images) {
    return fmt::format("{}, {}", label_images ? "labels and boxes" : "boxes", bench.name);
}

// Labels one frame per iteration, alternating between the scenes.
class CpuRunner {
public:
    CpuRunner(Session& session, const Case& bench, const Masks& masks, bool label_images)
        : masks_(&masks),
          labelling_({.capacity = capacity, .label_images = label_images}, bench.shape, session.cpu()),
          lists_(1, capacity),
          labels_(label_images ? static_cast<std::size_t>(bench.shape.frame_bytes()) : 0) {
        for (int scene = 0; scene < scenes; ++scene) {
            run();
            if (scene == 0) masks.require_found(operation_of(bench, label_images), 1, lists_.lists(), labels());
        }
    }
    void run() {
        labelling_.run(masks_->mask(turn_), lists_.lists(), {labels()});
        turn_ = (turn_ + 1) % scenes;
    }

private:
    std::int32_t* labels() { return labels_.empty() ? nullptr : labels_.data(); }

    const Masks* masks_;
    ComponentLabelling labelling_;
    HostComponents lists_;
    std::vector<std::int32_t> labels_;
    int turn_ = 0;
};

void bench_cpu(Session& session, const Case& bench, const Masks& masks) {
    CpuRunner boxes(session, bench, masks, false), labels(session, bench, masks, true);
    std::vector<std::function<void()>> candidates{[&] { boxes.run(); }, [&] { labels.run(); }};
#if FRAMEWIRE_OPENCV
    cv::setNumThreads(session.threads());
    cv::Mat peer_labels, statistics, centroids;
    int turn = 0;
    candidates.push_back([&, images = masks.images.view()] {
        // OpenCV has no const pixels, but it only reads them.
        const cv::Mat mask(bench.shape.height, bench.shape.width, CV_8UC1,
                           const_cast<std::uint8_t*>(images.row(turn, 0)));
        cv::connectedComponentsWithStats(mask, peer_labels, statistics, centroids, 8, CV_32S, cv::CCL_DEFAULT);
        turn = (turn + 1) % scenes;
    });
#endif
    const auto timings = session.time_cpu(candidates);
    for (const bool label_images : {false, true}) {
        const auto& timing = timings[label_images ? 1 : 0];
        const auto to_peer = timings.size() > 2 ? std::optional(timings[2].median_us / timing.median_us) : std::nullopt;
        session.add({bench.suite, operation_of(bench, label_images), "framewire cpu", timing,
                     fewest_bytes(bench.shape, label_images), to_peer});
    }
    if (timings.size() > 2) session.add({bench.suite, operation_of(bench, true), "OpenCV", timings[2], 0, {}});
}

void bench_gpu(Session& session, const Case& bench, const Masks& masks, int frames, bool label_images) {
    auto& executor = *session.gpu();
    const auto& stream = executor.stream();
    const auto shape = bench.shape.with_frames(frames);
    const auto operation = fmt::format("{}, {}", operation_of(bench, label_images),
                                       frames == 1 ? std::string("one frame") : fmt::format("batch {}", frames));
    const auto frame_bytes = bit_mask_bytes(bench.shape);
    std::vector<DeviceBitMask> device_masks;
    for (int turn = 0; turn < gpu_rotation; ++turn) {
        device_masks.emplace_back(shape);
        for (int frame = 0; frame < frames; ++frame)
            cuda::upload(masks.mask(frame % scenes).data(), device_masks.back().view().row(frame, 0), frame_bytes,
                         stream);
    }
    ComponentLabelling labelling({.capacity = capacity, .label_images = label_images}, shape, executor);
    DeviceComponents device(frames, capacity);
    HostComponents host(frames, capacity);
    const auto label_bytes = label_images ? static_cast<std::size_t>(shape.bytes()) * sizeof(std::int32_t) : 0;
    const cuda::DeviceBuffer device_labels(label_bytes);
    const HostBuffer host_labels(label_bytes);
    const auto run = [&](int turn) {
        if constexpr (cuda::compiled)
            labelling.run(device_masks[static_cast<std::size_t>(turn)].view(), device.lists(),
                          {device_labels.as<std::int32_t>()});
    };
    run(0);
    download(device, host, capacity, stream);
    if (label_images) cuda::download(device_labels.data(), host_labels.data(), label_bytes, stream);
    stream.synchronize();
    masks.require_found(operation, frames, host.lists(), host_labels.as<std::int32_t>());
    session.add({bench.suite,
                 operation,
                 "framewire cuda",
                 session.time_gpu(run, frames),
                 fewest_bytes(bench.shape, label_images),
                 {}});
}

void bench_case(Session& session, const Case& bench) {
    const Masks masks(bench);
    bench_cpu(session, bench, masks);
    if (!session.gpu()) return;
    for (const int frames : {gpu_batch, 1})
        for (const bool label_images : {false, true}) bench_gpu(session, bench, masks, frames, label_images);
}

void bench_components(Session& session) {
    const auto shape = bench_frame.with_channels(1);
    const std::pair<const char*, std::function<void(HostView<std::uint8_t>)>> inputs[] = {
        {"discs", [](auto masks) { kit::fill_discs(masks, 600, 1); }},
        {"noise 0.5", [](auto masks) { kit::fill_grains(masks, 0.5, 1, 1); }},
        {"grains 4x4", [](auto masks) { kit::fill_grains(masks, 0.5, 4, 1); }},
        {"full", [](auto masks) { kit::fill(masks, kit::Pattern::full); }}};
    for (const auto& [name, fill] : inputs) bench_case(session, {"components", name, shape, fill});
}

const SuiteEntry components_suite{"operations", "components", bench_components};

}  // namespace components_bench
}  // namespace framewire::bench
