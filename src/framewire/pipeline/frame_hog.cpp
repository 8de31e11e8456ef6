#include "framewire/pipeline/frame_hog.hpp"

#include "framewire/core/error.hpp"
#include "framewire/cuda/build.hpp"

#include <utility>

namespace framewire {

FrameHog::Lane::Lane(const HogParameters& parameters, const Shape& shape, Executor& executor)
    : hog(parameters, shape, executor), frame(shape), out(hog.output_shape().bytes()) {}

int FrameHog::streams_on(Backend backend, std::optional<int> wanted) {
    const int streams = wanted.value_or(backend == Backend::cuda ? 3 : 1);
    if (streams < 1 || streams > most_streams)
        fail(ErrorCode::usage, "hog on {} streams; allowed are 1 to {}", streams, most_streams);
    if (backend == Backend::cpu && streams > 1)
        fail(ErrorCode::usage, "hog on {} streams of the cpu backend, whose threads share a frame: it has 1", streams);
    return streams;
}

FrameHog::FrameHog(const HogParameters& parameters, const Shape& frame, Executor& executor, int streams, int slots)
    : output_shape_(hog_shape(parameters, frame)), slots_(slots) {
    streams_on(executor.backend(), streams);
    if (slots < 1) fail(ErrorCode::usage, "hog with {} slots; at least 1 is needed", slots);
    if (executor.backend() == Backend::cpu) {
        on_host_.emplace(parameters, frame, executor);
        return;
    }
    for (int lane = 0; lane < streams; ++lane) lanes_.push_back(std::make_unique<Lane>(parameters, frame, executor));
    done_.resize(static_cast<std::size_t>(slots));
}

FrameHog::~FrameHog() {
    for (const auto& lane : lanes_) {
        try {
            lane->stream.synchronize();
        } catch (const Error&) {
            // Whoever waits for the frame hears of it.
        }
    }
}

void FrameHog::start(int slot, HostView<const std::uint8_t> frame, HogView<float, MemorySpace::host> out) {
    if (slot < 0 || slot >= slots_) fail(ErrorCode::usage, "slot {} of hog's {}", slot, slots_);
    if (on_host_) return on_host_->run(frame, out);
    if constexpr (cuda::compiled) {
        auto& lane = *lanes_[next_lane_];
        next_lane_ = (next_lane_ + 1) % lanes_.size();
        cuda::upload(frame, lane.frame.view(), lane.stream);
        lane.hog.run(std::as_const(lane.frame).view(),
                     HogView<float, MemorySpace::device>(lane.out.as<float>(), output_shape_), lane.stream);
        cuda::download(lane.out.data(), out.data(), output_shape_.bytes(), lane.stream);
        done_[static_cast<std::size_t>(slot)].record(lane.stream);
    }
}

void FrameHog::wait(int slot) {
    if (!on_host_) done_.at(static_cast<std::size_t>(slot)).synchronize();
}

}  // namespace framewire
