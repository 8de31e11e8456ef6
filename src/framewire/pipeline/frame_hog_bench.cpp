// The HOG report's video (section 8): 480 frames in host memory, one after the other, on 1, 2, 4 ... streams.

#include "framewire/core/clock.hpp"
#include "framewire/hog/hog_ref.hpp"
#include "framewire/pipeline/frame_hog.hpp"
#include "suites.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace framewire::bench {
namespace {

constexpr int video_frames = 480;
// Different frames in turn, so that they come from memory and not from the last run's cache.
constexpr int pictures = 16;

void bench_streams(Session& session, const Shape& shape, Executor& executor, int streams) {
    const int slots = streams + 2;
    FrameHog hog({}, shape, executor, streams, slots);
    std::vector<HostImage> frames;
    std::vector<HostBuffer> out;
    for (int picture = 0; picture < pictures; ++picture) {
        frames.emplace_back(shape, executor.frame_memory());
        fill_scene(frames.back().view(), static_cast<std::uint32_t>(picture));
    }
    for (int slot = 0; slot < slots; ++slot) out.emplace_back(hog.output_shape().bytes(), executor.frame_memory());
    const auto run = [&] {
        for (int frame = 0; frame < video_frames; ++frame) {
            const int slot = frame % slots;
            if (frame >= slots) hog.wait(slot);
            hog.start(slot, frames[static_cast<std::size_t>(frame % pictures)].view(),
                      {out[static_cast<std::size_t>(slot)].as<float>(), hog.output_shape()});
        }
        for (int frame = video_frames - slots; frame < video_frames; ++frame) hog.wait(frame % slots);
    };
    const auto operation = fmt::format("video of {}x{}, streams: {}", shape.width, shape.height, streams);
    run();
    for (int frame = video_frames - slots; frame < video_frames; ++frame)
        Session::require_near({out[static_cast<std::size_t>(frame % slots)].as<float>(),
                               static_cast<std::size_t>(hog.output_shape().count())},
                              hog_reference({}, frames[static_cast<std::size_t>(frame % pictures)].view()).descriptors,
                              operation);

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

}  // namespace

void bench_hog_streams(Session& session) {
    for (const auto& shape : {Shape{1, 576, 768, 3}, bench_frame}) {
        bench_streams(session, shape, session.cpu(), 1);
        if (session.gpu())
            for (const int streams : {1, 2, 3, 4, 8}) bench_streams(session, shape, *session.gpu(), streams);
    }
}

}  // namespace framewire::bench
