#include "framewire/core/error.hpp"
#include "framewire/cuda/device.hpp"
#include "framewire/detect/models_bench_bench.hpp"
#include "framewire/detect/stabiliser.hpp"
#include "framewire/detect/stabiliser_ref.hpp"
#include "suites.hpp"

#include <fmt/format.h>

#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#if FRAMEWIRE_OPENCV
#include <opencv2/imgproc.hpp>
#endif

namespace framewire::bench {
namespace {

using models_bench::uploads;

// Returns frames of a still scene from a camera that moves by up to 5 pixels, in each frame by another distance.
HostImage shaken_frames(int count, int channels) {
    const auto shape = bench_frame.with_channels(channels);
    HostImage scene(shape), frames(shape.with_frames(count));
    fill_scene(scene.view(), 1);
    for (int frame = 0; frame < count; ++frame) {
        const int dx = frame * 7 % 11 - 5, dy = frame * 5 % 11 - 5;
        for (int y = 0; y < shape.height; ++y) {
            const auto* from = scene.view().row(0, (y + shape.height + dy) % shape.height);
            auto* to = frames.view().row(frame, y);
            for (int x = 0; x < shape.width; ++x)
                std::memcpy(to + x * channels, from + (x + shape.width + dx) % shape.width * channels,
                            static_cast<std::size_t>(channels));
        }
    }
    return frames;
}

// Returns the least traffic: a frame is read twice and written once.
double least_bytes(const Shape& shape) { return 3.0 * static_cast<double>(shape.frame_bytes()); }

void require_same(const HostImage& got, const HostImage& want, const std::string& operation) {
    if (std::memcmp(got.view().data(), want.view().data(), static_cast<std::size_t>(want.shape().bytes())) != 0)
        fail(ErrorCode::internal, "{}: the shifted frames differ from the reference; not timed", operation);
}

#if FRAMEWIRE_OPENCV
// Phase correlation of images of the stabiliser's small size, with a window, and a bilinear shift of the frame.
class Peer {
public:
    explicit Peer(const Shape& shape) : layout_(shape) {
        cv::createHanningWindow(window_, {layout_.width, layout_.height}, CV_32F);
    }
    void run(const cv::Mat& frame) {
        if (frame.channels() == 3)
            cv::cvtColor(frame, gray_, cv::COLOR_BGR2GRAY);
        else
            gray_ = frame;
        cv::resize(gray_, small_, {layout_.width, layout_.height}, 0, 0, cv::INTER_AREA);
        small_.convertTo(now_, CV_32F);
        if (first_.empty()) first_ = now_.clone();
        const auto shift = cv::phaseCorrelate(first_, now_, window_) * layout_.factor;
        const cv::Mat map = (cv::Mat_<double>(2, 3) << 1, 0, shift.x, 0, 1, shift.y);
        cv::warpAffine(frame, still_, map, frame.size(), cv::INTER_LINEAR | cv::WARP_INVERSE_MAP, cv::BORDER_REPLICATE);
    }

private:
    StabiliserLayout layout_;
    cv::Mat window_, gray_, small_, now_, first_, still_;
};
#endif

void bench_cpu(Session& session, int channels) {
    constexpr int frame_count = 12, checked_frames = 3;
    const auto frames = shaken_frames(frame_count, channels);
    const auto shape = frames.shape();
    const std::string operation = channels == 1 ? "gray" : "BGR";
    HostImage still(shape.with_frames(checked_frames)), want(still.shape());
    const auto checked = frames.view().frames(0, checked_frames);
    StabiliserReference(shape.with_frames(1)).run(checked, want.view());
    Stabiliser stabiliser(shape.with_frames(checked_frames), session.cpu());
    stabiliser.run(checked, still.view());
    require_same(still, want, operation);

    int turn = 0;
    std::vector<std::function<void()>> candidates{[&] {
        stabiliser.run(frames.view().frames(turn, 1), still.view().frames(0, 1));
        turn = (turn + 1) % frame_count;
    }};
#if FRAMEWIRE_OPENCV
    cv::setNumThreads(session.threads());
    Peer peer(shape);
    int peer_turn = 0;
    candidates.push_back([&] {
        auto* const data = const_cast<std::uint8_t*>(frames.view().row(peer_turn, 0));
        peer.run(cv::Mat(shape.height, shape.width, CV_8UC(channels), data));
        peer_turn = (peer_turn + 1) % frame_count;
    });
#endif
    const auto timings = session.time_cpu(candidates);
    const auto to_peer = timings.size() > 1 ? std::optional(timings[1].median_us / timings[0].median_us) : std::nullopt;
    session.add({"stabiliser", operation, "framewire cpu", timings[0], least_bytes(shape), to_peer});
    if (timings.size() > 1) session.add({"stabiliser", operation, "OpenCV phaseCorrelate", timings[1], 0, {}});
}

void bench_gpu(Session& session, int channels, int batch) {
    auto& executor = *session.gpu();
    const auto frames = shaken_frames(batch, channels);
    const auto shape = frames.shape();
    const auto operation = fmt::format("{}, batch {}", channels == 1 ? "gray" : "BGR", batch);
    const auto device_frames = uploads(frames.view(), executor.stream());
    cuda::DeviceImage device_still(shape);
    Stabiliser stabiliser(shape, executor), on_cpu(shape, session.cpu());
    const auto queue = [&](int turn) {
        if constexpr (cuda::compiled)
            stabiliser.run(device_frames[static_cast<std::size_t>(turn)].view(), device_still.view());
    };
    HostImage still(shape), want(shape);
    queue(0);
    on_cpu.run(frames.view(), want.view());
    cuda::download(device_still.view(), still.view(), executor.stream());
    executor.stream().synchronize();
    require_same(still, want, operation);
    session.add({"stabiliser", operation, "framewire cuda", session.time_gpu(queue, batch), least_bytes(shape), {}});
}

void bench_stabiliser(Session& session) {
    for (const int channels : {3, 1}) {
        bench_cpu(session, channels);
        if (session.gpu())
            for (const int batch : {gpu_batch, 1}) bench_gpu(session, channels, batch);
    }
}

const SuiteEntry stabiliser_suite{"operations", "stabiliser", bench_stabiliser};

}  // namespace
}  // namespace framewire::bench
