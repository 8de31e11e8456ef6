#include "framewire/codec/delta.hpp"
#include "ladders/difference/difference_kernels.hpp"
#include "ladders/difference/difference_on_gpu.hpp"
#include "ladders/difference/moments.hpp"
#include "suites.hpp"

#include <cstring>
#include <utility>

namespace framewire::bench {
namespace difference_ladder {

constexpr const char* suite = "ladders/difference";

// Runs the report's loop (section 2.1), but writes the feedback to a separate image, so that frames can be reused.
std::uint32_t difference_loop(const std::uint8_t* frame, HostImage& previous, HostImage& next,
                              std::uint8_t* differences, std::uint32_t* positions) {
    const auto total = static_cast<int>(previous.shape().bytes());
    auto* kept = next.view().data();
    std::memcpy(kept, frame, static_cast<std::size_t>(total));
    const auto* before = previous.view().data();
    std::uint32_t count = 0;
    for (int i = 0; i < total; ++i) {
        const int difference = frame[i] - before[i];
        if (difference < -ladder_threshold || difference > ladder_threshold) {
            differences[count] = static_cast<std::uint8_t>(difference);
            positions[count] = static_cast<std::uint32_t>(i);
            ++count;
        } else {
            kept[i] = static_cast<std::uint8_t>(kept[i] - difference);
        }
    }
    std::swap(previous, next);
    return count;
}

void run_cpu(Session& session, const LadderMoments& moments) {
    const auto& shape = moments.images[0].shape();
    HostImage previous(shape), next(shape), held(shape);
    copy(moments.held[0].view(), previous.view());
    copy(moments.held[0].view(), held.view());
    codec::HostChanges of_loop(shape), of_encoder(shape);
    codec::Encoder encoder({.threshold = ladder_threshold}, shape, session.cpu());
    int loop_moment = 0, moment = 0;
    const auto loop = [&] {
        loop_moment ^= 1;
        const auto to = of_loop.view();
        to.summaries[0].count =
            difference_loop(moments.images[loop_moment].view().data(), previous, next, to.differences, to.positions);
    };
    const auto encode = [&] {
        moment ^= 1;
        encoder.encode(moments.images[moment].view(), held.view(), of_encoder.view());
    };
    for (int turn = 0; turn < 2; ++turn) {
        loop();
        encode();
        const auto a = of_loop.view(), b = of_encoder.view();
        moments.require(loop_moment, a.summaries[0].count, a.positions, a.differences, std::as_const(previous).view(),
                        "the loop");
        moments.require(moment, b.summaries[0].count, b.positions, b.differences, std::as_const(held).view(),
                        "framewire cpu");
    }
    const auto timings = session.time_cpu({loop, encode});
    session.add({.suite = suite,
                 .operation = "loop",
                 .runner = "cpu, 1 thread",
                 .timing = timings[0],
                 .bytes = moments.fewest_bytes(),
                 .reported = reported_of({"section 2.1", 140000}),
                 .details = {{"step", "whole"}},
                 .note = "The report streamed 7 frames per second."});
    session.add({.suite = suite,
                 .operation = "framewire's encoder",
                 .runner = "framewire cpu",
                 .timing = timings[1],
                 .bytes = moments.fewest_bytes(),
                 .to_peer = timings[0].median_us / timings[1].median_us,
                 .details = {{"step", "whole"}}});
}

void run_difference(Session& session) {
    const LadderMoments moments(ladder_frame(session));
    session.attempt("ladders/difference on the CPU", [&] { run_cpu(session, moments); });
    if (session.gpu()) run_difference_on_gpu(session, moments);
}

const SuiteEntry difference_suite{"ladders", "difference", run_difference};

}  // namespace difference_ladder
}  // namespace framewire::bench
