#include "framewire/core/error.hpp"
#include "framewire/core/time.hpp"
#include "framewire/cuda/device.hpp"
#include "framewire/detect/detector.hpp"
#include "framewire/detect/detector_ref.hpp"
#include "suites.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#if FRAMEWIRE_OPENCV
#include "framewire/detect/opencv_detector_ref.hpp"
#endif

namespace framewire::bench {
namespace {

using Objects = std::vector<Component>;

constexpr int cpu_frames = 8;

// An empty room, and the same room with objects that differ in every frame.
struct Scene {
    HostImage room, frames;

    Scene(const Shape& frame, int count) : room(frame), frames(frame.with_frames(count)) {
        fill_scene(room.view(), 1);
        for (int index = 0; index < count; ++index)
            fill_later(std::as_const(room).view(), frames.view().frames(index, 1), 0.02, false,
                       static_cast<std::uint32_t>(index + 2));
    }
};

void require_objects(const DetectedObjects& objects, int frame, const Objects& want, const std::string& what) {
    if (!std::ranges::equal(objects.of_frame(frame), want))
        fail(ErrorCode::internal, "{}: frame {} has {} objects, but the reference has {}", what, frame,
             objects.of_frame(frame).size(), want.size());
}

// Returns the least traffic: one frame is read and one bit per pixel written twice; everything else depends on the
// method.
double bytes_of(const Shape& frame) {
    return static_cast<double>(frame.frame_bytes() + frame.with_channels(1).frame_bytes());
}

void bench_cpu(Session& session, const std::string& name, const Shape& frame, const Scene& scene,
               const std::vector<Objects>& want) {
    DetectorParameters parameters;
    parameters.background = BackgroundImage{};
    MotionDetector detector(parameters, frame, session.cpu());
    detector.set_background(scene.room.view());
    int turn = 0;
    const auto run = [&] {
        detector.run(scene.frames.view().frames(turn, 1));
        turn = (turn + 1) % cpu_frames;
    };
    for (int index = 0; index < cpu_frames; ++index) {
        run();
        require_objects(detector.fetch(), 0, want[static_cast<std::size_t>(index)], name);
    }
    std::vector<std::function<void()>> candidates{run};
#if FRAMEWIRE_OPENCV
    cv::setNumThreads(session.threads());
    OpencvDetector peer_detector(parameters);
    peer_detector.set_background(scene.room.view());
    int peer_turn = 0;
    candidates.push_back([&] {
        peer_detector.run(scene.frames.view().frames(peer_turn, 1));
        peer_turn = (peer_turn + 1) % cpu_frames;
    });
#endif
    const auto timings = session.time_cpu(candidates);
    const bool peer = timings.size() > 1;
    session.add({"detector", name, "framewire cpu", timings[0], bytes_of(frame),
                 peer ? std::optional(timings[1].median_us / timings[0].median_us) : std::nullopt});
    if (peer) session.add({"detector", name, "OpenCV", timings[1], bytes_of(frame), {}});
}

void bench_gpu(Session& session, const std::string& name, const Shape& frame, const Scene& scene,
               const std::vector<Objects>& want, int batch) {
    auto& executor = *session.gpu();
    const auto shape = frame.with_frames(batch);
    HostImage frames(shape);
    for (int index = 0; index < batch; ++index)
        copy(scene.frames.view().frames(index % cpu_frames, 1), frames.view().frames(index, 1));
    std::vector<cuda::DeviceImage> in;
    for (int turn = 0; turn < gpu_rotation; ++turn) {
        in.emplace_back(shape);
        cuda::upload(std::as_const(frames).view(), in.back().view(), executor.stream());
    }
    DetectorParameters parameters;
    parameters.background = BackgroundImage{};
    MotionDetector detector(parameters, shape, executor);
    detector.set_background(scene.room.view());
    const auto timing = session.time_gpu(
        [&](int turn) { detector.run(std::as_const(in[static_cast<std::size_t>(turn)]).view()); }, batch);
    const auto& objects = detector.fetch();
    const auto full_name = fmt::format("{}, batch {}", name, batch);
    for (int index = 0; index < batch; ++index)
        require_objects(objects, index, want[static_cast<std::size_t>(index % cpu_frames)], full_name);
    session.add({"detector", full_name, "framewire cuda", timing, bytes_of(frame), {}});
}

// Frames come from pinned host memory and boxes go back, on two streams: one batch is copied while the previous one
// is processed.
void bench_from_host(Session& session, const std::string& name, const Shape& frame, const Scene& scene,
                     const std::vector<Objects>& want) {
    constexpr int batch = cpu_frames, buffers = 3;
    auto& executor = *session.gpu();
    const auto& stream = executor.stream();
    const cuda::Stream uploads;
    const auto shape = frame.with_frames(batch);
    HostImage frames(shape, cuda::pinned_memory());
    copy(scene.frames.view(), frames.view());
    std::vector<cuda::DeviceImage> in;
    std::array<cuda::Event, buffers> uploaded, free;
    for (int index = 0; index < buffers; ++index) {
        in.emplace_back(shape);
        free[static_cast<std::size_t>(index)].record(stream);
    }
    DetectorParameters parameters;
    parameters.background = BackgroundImage{};
    MotionDetector detector(parameters, shape, executor);
    detector.set_background(scene.room.view());
    const int batches = session.quick() ? 60 : 240;
    std::vector<double> times_us;
    auto begin = Clock::now();
    for (int index = 0; index < batches; ++index) {
        const auto at = static_cast<std::size_t>(index % buffers);
        free[at].make_wait(uploads);
        cuda::upload(std::as_const(frames).view(), in[at].view(), uploads);
        uploaded[at].record(uploads);
        if (index == 0) continue;
        // Processes the previous batch, which is uploaded already, and waits for its boxes while this batch is copied.
        const auto before = static_cast<std::size_t>((index - 1) % buffers);
        uploaded[before].make_wait(stream);
        detector.run(std::as_const(in[before]).view());
        free[before].record(stream);
        detector.fetch();
        const auto now = Clock::now();
        if (index > buffers) times_us.push_back(1000 * milliseconds(begin, now) / batch);
        begin = now;
    }
    uploads.synchronize();
    const auto full_name = fmt::format("{}, from pinned host memory", name);
    for (int index = 0; index < batch; ++index)
        require_objects(detector.fetch(), index, want[static_cast<std::size_t>(index)], full_name);
    std::sort(times_us.begin(), times_us.end());
    const auto percentile = [&](double share) {
        return times_us[static_cast<std::size_t>(share * static_cast<double>(times_us.size() - 1))];
    };
    session.add({"detector", full_name, "framewire cuda", {percentile(0.5), percentile(0.1), percentile(0.9)}, 0, {}});
}

void bench_detector(Session& session) {
    for (const auto& frame : {bench_frame, Shape{1, 336, 596, 3}}) {
        const auto name = fmt::format("boxes of {}x{}", frame.width, frame.height);
        const Scene scene(frame, cpu_frames);
        const auto want = detector_reference({.background = BackgroundImage{}}, scene.frames.view(), scene.room.view());
        bench_cpu(session, name, frame, scene, want);
        if (!session.gpu()) continue;
        for (const int batch : {gpu_batch, 1}) bench_gpu(session, name, frame, scene, want, batch);
        bench_from_host(session, name, frame, scene, want);
    }
}

const SuiteEntry detector_suite{"operations", "detector", bench_detector};

}  // namespace
}  // namespace framewire::bench
