#include "framewire/cuda/device.hpp"
#include "framewire/detect/detector_ref.hpp"
#include "framewire/detect/masks.hpp"
#include "framewire/filters/morphology_ref.hpp"
#include "suites.hpp"

#include <fmt/format.h>

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#if FRAMEWIRE_OPENCV
#include "framewire/filters/opencv_morphology_ref.hpp"
#endif

namespace framewire::bench {
namespace mask_morphology_bench {

constexpr auto frame_shape = bench_frame.with_channels(1);
constexpr int cpu_frames = 16;

struct Operation {
    const char* name;
    MorphologyOperation operation;
    int diameter;
};

// Returns a mask of 0 and 255 with blobs and specks that move in front of the synthetic scene.
HostImage moving_mask() {
    HostImage before(frame_shape), blobs(frame_shape), specks(frame_shape);
    fill_scene(before.view(), 1);
    fill_later(before.view(), blobs.view(), 0.05, false, 2);
    fill_later(blobs.view(), specks.view(), 0.002, true, 3);
    for (std::int64_t at = 0; at < frame_shape.bytes(); ++at) {
        const int difference = specks.view().data()[at] - before.view().data()[at];
        specks.view().data()[at] = difference > 20 || difference < -20 ? 255 : 0;
    }
    return specks;
}

// Returns a batch with `mask` in every frame.
HostBitMask repeated(HostView<const std::uint8_t> mask, int frames) {
    HostBitMask masks(mask.shape().with_frames(frames));
    for (int frame = 0; frame < frames; ++frame) pack_mask(mask, masks.view().frames(frame, 1));
    return masks;
}

void require_result(const HostBitMask& got, HostView<const std::uint8_t> want, const std::string& operation) {
    HostImage image(frame_shape);
    for (int frame = 0; frame < got.shape().frames; ++frame) {
        unpack_mask(got.view().frames(frame, 1), image.view());
        Session::require_equal(image.view(), want, operation);
    }
}

void bench_cpu(Session& session, const Operation& operation, const std::string& name, HostView<const std::uint8_t> mask,
               HostView<const std::uint8_t> want) {
    const StructuringElement element(ElementShape::disc, operation.diameter);
    const auto in = repeated(mask, cpu_frames);
    HostBitMask out(in.shape());
    MaskMorphology plan(operation.operation, element, frame_shape, session.cpu());
    int turn = 0;
    const auto run = [&] {
        plan.run(in.view().frames(turn, 1), out.view().frames(turn, 1));
        turn = (turn + 1) % cpu_frames;
    };
    for (int frame = 0; frame < cpu_frames; ++frame) run();
    require_result(out, want, name);
    std::vector<std::function<void()>> candidates{run};
#if FRAMEWIRE_OPENCV
    cv::setNumThreads(session.threads());
    const auto kernel = opencv_element(element);
    HostImage peer_in(frame_shape), peer_out(frame_shape);
    copy(mask, peer_in.view());
    candidates.push_back([&] {
        const cv::Mat from(frame_shape.height, frame_shape.width, CV_8UC1, peer_in.view().data());
        cv::Mat to(frame_shape.height, frame_shape.width, CV_8UC1, peer_out.view().data());
        opencv_morphology(operation.operation, from, to, kernel);
    });
    candidates.back()();
    Session::require_equal(peer_out.view(), want, "OpenCV's " + name);
#endif
    const auto timings = session.time_cpu(candidates);
    const bool peer = timings.size() > 1;
    const auto bytes = 2.0 * static_cast<double>(bit_mask_bytes(frame_shape));
    session.add({"masks", name, "framewire cpu", timings[0], bytes,
                 peer ? std::optional(timings[1].median_us / timings[0].median_us) : std::nullopt});
    if (peer)
        session.add({"masks", name, "OpenCV, bytes", timings[1], 2.0 * static_cast<double>(frame_shape.bytes()), {}});
}

void bench_gpu(Session& session, const Operation& operation, const std::string& name, HostView<const std::uint8_t> mask,
               HostView<const std::uint8_t> want, int batch) {
    auto& executor = *session.gpu();
    const auto in = repeated(mask, batch);
    const auto bytes = bit_mask_bytes(in.shape());
    std::vector<DeviceBitMask> device_in, device_out;
    for (int turn = 0; turn < gpu_rotation; ++turn) {
        device_in.emplace_back(in.shape());
        device_out.emplace_back(in.shape());
        cuda::upload(in.view().data(), device_in.back().view().data(), bytes, executor.stream());
    }
    MaskMorphology plan(operation.operation, {ElementShape::disc, operation.diameter}, in.shape(), executor);
    const auto timing = session.time_gpu(
        [&](int turn) {
            const auto at = static_cast<std::size_t>(turn);
            if constexpr (cuda::compiled) plan.run(device_in[at].view(), device_out[at].view());
        },
        batch);
    const auto full_name = fmt::format("{}, batch {}", name, batch);
    HostBitMask out(in.shape());
    for (auto& result : device_out) {
        cuda::download(result.view().data(), out.view().data(), bytes, executor.stream());
        executor.stream().synchronize();
        require_result(out, want, full_name);
    }
    session.add({"masks", full_name, "framewire cuda", timing, 2.0 * static_cast<double>(bytes) / batch, {}});
}

void bench_masks(Session& session) {
    constexpr Operation operations[] = {{"dilate", MorphologyOperation::dilate, 15},
                                        {"close", MorphologyOperation::close, 15},
                                        {"close-open", MorphologyOperation::close_open, 15},
                                        {"dilate", MorphologyOperation::dilate, 63},
                                        {"close", MorphologyOperation::close, 63}};
    const auto mask = moving_mask();
    for (const auto& operation : operations) {
        const auto name = fmt::format("{}, disc {}", operation.name, operation.diameter);
        HostImage want(frame_shape);
        morphology_reference(operation.operation, {ElementShape::disc, operation.diameter}, mask.view(), want.view());
        bench_cpu(session, operation, name, mask.view(), want.view());
        if (session.gpu())
            for (const int batch : {gpu_batch, 1}) bench_gpu(session, operation, name, mask.view(), want.view(), batch);
    }
}

const SuiteEntry masks_suite{"operations", "masks", bench_masks};

}  // namespace mask_morphology_bench
}  // namespace framewire::bench

#if FRAMEWIRE_OPENCV
#include <opencv2/imgproc.hpp>
#endif

namespace framewire::bench {
namespace mask_median_bench {

constexpr auto frame_shape = bench_frame.with_channels(1);

// Returns a mask of 0 and 255 with moving blobs, and specks in and beside them.
HostImage moving_mask() {
    HostImage before(frame_shape), blobs(frame_shape), specks(frame_shape);
    fill_scene(before.view(), 1);
    fill_later(before.view(), blobs.view(), 0.05, false, 2);
    fill_later(blobs.view(), specks.view(), 0.01, true, 3);
    for (std::int64_t at = 0; at < frame_shape.bytes(); ++at) {
        const int difference = specks.view().data()[at] - before.view().data()[at];
        specks.view().data()[at] = difference > 20 || difference < -20 ? 255 : 0;
    }
    return specks;
}

void require_median(const HostBitMask& got, HostView<const std::uint8_t> want, const std::string& name) {
    HostImage image(frame_shape);
    for (int frame = 0; frame < got.shape().frames; ++frame) {
        unpack_mask(got.view().frames(frame, 1), image.view());
        Session::require_equal(image.view(), want, name);
    }
}

void bench_median_on_cpu(Session& session, int size_px, const std::string& name, HostView<const std::uint8_t> mask,
                         HostView<const std::uint8_t> want) {
    HostBitMask in(frame_shape), out(frame_shape);
    pack_mask(mask, in.view());
    const MaskMedian plan(size_px, frame_shape, session.cpu());
    std::vector<std::function<void()>> candidates{[&] { plan.run(std::as_const(in).view(), out.view()); }};
    candidates.back()();
    require_median(out, want, name);
#if FRAMEWIRE_OPENCV
    cv::setNumThreads(session.threads());
    HostImage peer_in(frame_shape), peer_out(frame_shape);
    copy(mask, peer_in.view());
    candidates.push_back([&] {
        const cv::Mat from(frame_shape.height, frame_shape.width, CV_8UC1, peer_in.view().data());
        cv::Mat to(frame_shape.height, frame_shape.width, CV_8UC1, peer_out.view().data());
        cv::medianBlur(from, to, size_px);
    });
    candidates.back()();
    Session::require_equal(peer_out.view(), want, "OpenCV's " + name);
#endif
    const auto timings = session.time_cpu(candidates);
    const bool peer = timings.size() > 1;
    session.add({"mask-median", name, "framewire cpu", timings[0],
                 2.0 * static_cast<double>(bit_mask_bytes(frame_shape)),
                 peer ? std::optional(timings[1].median_us / timings[0].median_us) : std::nullopt});
    if (peer)
        session.add(
            {"mask-median", name, "OpenCV, bytes", timings[1], 2.0 * static_cast<double>(frame_shape.bytes()), {}});
}

void bench_median_on_gpu(Session& session, int size_px, const std::string& name, HostView<const std::uint8_t> mask,
                         HostView<const std::uint8_t> want, int batch) {
    auto& executor = *session.gpu();
    HostBitMask in(frame_shape.with_frames(batch));
    for (int frame = 0; frame < batch; ++frame) pack_mask(mask, in.view().frames(frame, 1));
    const auto bytes = bit_mask_bytes(in.shape());
    std::vector<DeviceBitMask> device_in, device_out;
    for (int turn = 0; turn < gpu_rotation; ++turn) {
        device_in.emplace_back(in.shape());
        device_out.emplace_back(in.shape());
        cuda::upload(in.view().data(), device_in.back().view().data(), bytes, executor.stream());
    }
    const MaskMedian plan(size_px, in.shape(), executor);
    const auto timing = session.time_gpu(
        [&](int turn) {
            const auto at = static_cast<std::size_t>(turn);
            if constexpr (cuda::compiled) plan.run(std::as_const(device_in[at]).view(), device_out[at].view());
        },
        batch);
    const auto full_name = fmt::format("{}, batch {}", name, batch);
    HostBitMask out(in.shape());
    for (auto& result : device_out) {
        cuda::download(result.view().data(), out.view().data(), bytes, executor.stream());
        executor.stream().synchronize();
        require_median(out, want, full_name);
    }
    session.add({"mask-median", full_name, "framewire cuda", timing, 2.0 * static_cast<double>(bytes) / batch, {}});
}

void bench_mask_medians(Session& session) {
    const auto mask = moving_mask();
    for (const int size_px : {3, 9, 15, 31}) {
        const auto name = fmt::format("median {}", size_px);
        HostImage want(frame_shape);
        mask_median_reference(size_px, mask.view(), want.view());
        bench_median_on_cpu(session, size_px, name, mask.view(), want.view());
        if (session.gpu())
            for (const int batch : {gpu_batch, 1})
                bench_median_on_gpu(session, size_px, name, mask.view(), want.view(), batch);
    }
}

const SuiteEntry mask_median_suite{"operations", "mask-median", bench_mask_medians};

}  // namespace mask_median_bench
}  // namespace framewire::bench
