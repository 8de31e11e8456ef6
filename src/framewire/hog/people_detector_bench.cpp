#include "framewire/core/error.hpp"
#include "framewire/hog/hog_ref.hpp"
#include "framewire/hog/people_detector.hpp"
#include "suites.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>
#include <vector>

#if FRAMEWIRE_OPENCV
#include <opencv2/objdetect.hpp>
#endif

namespace framewire::bench {
namespace {

constexpr int cpu_frames = 4;
// Number of windows above the threshold in the first frame, as in a typical picture.
constexpr std::size_t candidates = 200;

// Returns a model with random weights, which affect the time only by how many windows score above the threshold.
WindowModel random_model(HogGradient gradient) {
    WindowModel model;
    model.hog.gradient = gradient;
    std::mt19937 random(1);
    std::normal_distribution<float> weight(0, 0.05f);
    model.weights.resize(static_cast<std::size_t>(window_shape(model).count()));
    for (auto& value : model.weights) value = weight(random);
    return model;
}

// Runs a detector on the backend of its executor.
DetectedPeople detect(PeopleDetector& detector, HostView<const std::uint8_t> frame, Executor& executor) {
    auto people = detector.make_people();
    if (executor.backend() == Backend::cpu) {
        detector.run(frame, people);
    } else if constexpr (cuda::compiled) {
        cuda::DeviceImage device_frame(frame.shape());
        cuda::upload(frame, device_frame.view(), executor.stream());
        detector.run(std::as_const(device_frame).view(), people);
        executor.stream().synchronize();
    }
    people.download();
    people.wait();
    return people;
}

// Returns a threshold that is exceeded by `candidates` windows of the model's own size, after comparing all of them
// with double precision.
float checked_threshold(const WindowModel& model, HostView<const std::uint8_t> frame, Executor& executor) {
    PeopleDetector detector(model,
                            {.threshold = -1e6f,
                             .group = PeopleGrouping::overlap,
                             .overlap = 1,
                             .most_height_px = model.height_px,
                             .capacity = 1 << 16},
                            frame.shape(), executor);
    const auto people = detect(detector, frame, executor);
    const auto exact = hog_reference(model.hog, frame).descriptors;
    const std::vector<float> descriptors(exact.begin(), exact.end());
    auto want = window_scores_reference(
        model, HogView<const float, MemorySpace::host>(descriptors.data(), hog_shape(model.hog, frame.shape())));
    std::ranges::sort(want, std::greater());
    const auto got = people.detections();
    if (got.size() != want.size()) fail(ErrorCode::internal, "found {} windows, expected {}", got.size(), want.size());
    const auto tolerance = 1e-4 * std::max(std::abs(want.front()), std::abs(want.back()));
    for (std::size_t i = 0; i < want.size(); ++i)
        if (!(std::abs(got[i].score - want[i]) <= tolerance))
            fail(ErrorCode::internal, "people: score {} is {}, expected {}", i, got[i].score, want[i]);
    return got[candidates].score;
}

// Counts the least possible traffic: the image is read once.
void bench(Session& session, Executor& executor, HogGradient gradient) {
    const bool on_cpu = executor.backend() == Backend::cpu;
    HostImage in(bench_frame.with_frames(on_cpu ? cpu_frames : gpu_rotation));
    fill_scene(in.view(), 1);
    const auto model = random_model(gradient);
    const auto frame = [&](int number) { return std::as_const(in).view().frames(number, 1); };
    const PeopleParameters parameters{.threshold = checked_threshold(model, frame(0), executor)};
    PeopleDetector detector(model, parameters, bench_frame, executor);
    auto people = detector.make_people();
    const auto operation = fmt::format("{}, 64x128 of 8, step {}, {} sizes", name_of(hog_gradient_names, gradient),
                                       parameters.scale_step, detector.levels());
    const auto bytes = static_cast<double>(bench_frame.bytes());
    if (!on_cpu) {
        if constexpr (cuda::compiled) {
            std::vector<cuda::DeviceImage> device_in;
            for (int turn = 0; turn < gpu_rotation; ++turn) {
                device_in.emplace_back(bench_frame);
                cuda::upload(frame(turn), device_in.back().view(), executor.stream());
            }
            const auto timing = session.time_gpu(
                [&](int turn) {
                    detector.run(std::as_const(device_in[static_cast<std::size_t>(turn)]).view(), people);
                },
                1);
            session.add({"people", operation, "framewire cuda", timing, bytes, {}});
        }
        return;
    }
    int turn = 0;
    std::vector<std::function<void()>> all{[&] {
        detector.run(frame(turn), people);
        people.download();
        people.wait();
        turn = (turn + 1) % cpu_frames;
    }};
#if FRAMEWIRE_OPENCV
    // OpenCV scores the same sizes with the same stride, without margin and without grouping.
    cv::setNumThreads(session.threads());
    cv::HOGDescriptor peer_hog({model.width_px, model.height_px}, {16, 16}, {8, 8}, {8, 8}, 9);
    peer_hog.setSVMDetector(cv::HOGDescriptor::getDefaultPeopleDetector());
    std::vector<cv::Rect> found;
    int peer_turn = 0;
    all.push_back([&] {
        peer_hog.detectMultiScale(cv::Mat(bench_frame.height, bench_frame.width, CV_8UC3, in.view().row(peer_turn, 0)),
                                  found, 0, {8, 8}, {}, parameters.scale_step, 0);
        peer_turn = (peer_turn + 1) % cpu_frames;
    });
#endif
    const auto timings = session.time_cpu(all);
    const auto to_peer = timings.size() > 1 ? std::optional(timings[1].median_us / timings[0].median_us) : std::nullopt;
    session.add({"people", operation, "framewire cpu", timings[0], bytes, to_peer});
    if (timings.size() > 1) session.add({"people", operation, "OpenCV", timings[1], bytes, {}});
}

void bench_people(Session& session) {
    for (const auto gradient : {HogGradient::sobel, HogGradient::central}) {
        bench(session, session.cpu(), gradient);
        if (session.gpu()) bench(session, *session.gpu(), gradient);
    }
}

const SuiteEntry people_suite{"operations", "people", bench_people};

}  // namespace
}  // namespace framewire::bench
