#include "framewire/core/time.hpp"
#include "framewire/hog/hog_ref.hpp"
#include "framewire/plan/frame_hog.hpp"
#include "suites.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

// Measures the video of the HOG report (section 8): 480 frames in host memory, processed in order, with 1, 2, 3 ...
// frames in flight.

namespace framewire::bench {
namespace {

constexpr int video_frames = 480;
constexpr int pictures = 16;  // at least as many frames as can be in flight

struct Slot {
    Frame frame;
    FrameDescriptors out;
};

void bench_under_way(Session& session, const Shape& shape, Executor& executor, int under_way) {
    FrameHog hog({}, shape, executor);
    // Each slot has its own memory, so that frames are read from memory and not from a cache that the previous run
    // filled.
    std::vector<Slot> slots;
    for (int slot = 0; slot < pictures; ++slot) {
        slots.push_back({Frame(shape, executor), FrameDescriptors(hog.output_shape(), executor)});
        fill_scene(slots.back().frame.host(), static_cast<std::uint32_t>(slot));
    }
    const auto at = [&](int frame) -> Slot& { return slots[static_cast<std::size_t>(frame % pictures)]; };
    const auto run = [&] {
        for (int frame = 0; frame < video_frames; ++frame) {
            if (frame >= under_way) at(frame - under_way).out.wait();
            at(frame).frame.upload();
            hog.start(at(frame).frame, at(frame).out);
        }
        for (int frame = video_frames - under_way; frame < video_frames; ++frame) at(frame).out.wait();
    };
    const auto operation = fmt::format("video of {}x{}, under way: {}", shape.width, shape.height, under_way);
    run();
    for (auto& slot : slots)
        Session::require_near(slot.out.values(), hog_reference({}, slot.frame.host()).descriptors, operation);

    std::vector<double> times_us;
    for (int turn = 0; turn < (session.quick() ? 3 : 11); ++turn) {
        const auto begin = Clock::now();
        run();
        times_us.push_back(1000 * milliseconds_since(begin) / video_frames);
    }
    std::ranges::sort(times_us);
    const auto percentile = [&](double share) {
        return times_us[static_cast<std::size_t>(share * static_cast<double>(times_us.size() - 1))];
    };
    session.add({"hog-streams",
                 operation,
                 fmt::format("framewire {}", to_string(executor.backend())),
                 {percentile(0.5), percentile(0.1), percentile(0.9)},
                 0,
                 {}});
}

void bench_hog_streams(Session& session) {
    for (const auto& shape : {Shape{1, 576, 768, 3}, bench_frame}) {
        bench_under_way(session, shape, session.cpu(), 1);
        if (session.gpu())
            for (const int under_way : {1, 2, 3, 4, 8}) bench_under_way(session, shape, *session.gpu(), under_way);
    }
}

const SuiteEntry hog_streams_suite{"operations", "hog-streams", bench_hog_streams};

}  // namespace
}  // namespace framewire::bench
