#include "framewire/delta/shared/shared_encoder.hpp"

#include "framewire/core/error.hpp"
#include "framewire/cuda/device/build.hpp"
#include "framewire/delta/comparing/encoder_launch.hpp"
#include "framewire/delta/comparing/encoder_layout.hpp"
#include "framewire/delta/packing/packed.hpp"
#include "framewire/delta/shared/landing.hpp"

#include <array>
#include <cstddef>

namespace framewire::delta {

SharedEncoder::SharedEncoder(const Shape& frame, int most_under_way)
    : frame_((validate(frame, "the shared encoder's frame"), frame)),
      workspace_(CudaWorkspace::bytes(frame.with_frames(cuda_streams_per_launch))),
      together_(
          most_under_way, cuda_streams_per_launch,
          [this](int place, std::span<Frame* const> frames) { launch(place, frames); },
          [this](int place) { over_[static_cast<std::size_t>(place)].synchronize(); }) {
    if (frame.frames != 1) fail(ErrorCode::usage, "streams of {} frames at a time; each gives one", frame.frames);
    for (int place = 0; place < most_under_way; ++place) over_.emplace_back(cuda::Event::Timing::none);
    cuda::fill(workspace_.data(), 0, workspace_.bytes(), stream_);
}

void SharedEncoder::encode(Frame frame) {
    validate(frame.current, frame_, "the shared encoder's frame");
    validate(frame.reference, frame_, "the shared encoder's reference");
    validate(frame.changes, frame_, "the shared encoder's changes");
    validate_found(frame.landing, frame_, "the changes that land");
    validate_packed_threshold(frame.threshold);
    if (!frame.current.dense() || !frame.reference.dense())
        fail(ErrorCode::usage, "the shared encoder's frames have no gaps");
    together_.run(frame);
}

void SharedEncoder::launch(int place, std::span<Frame* const> frames) {
    std::array<StreamLaunch, cuda_streams_per_launch> launches;
    std::array<Landing, cuda_streams_per_launch> landings;
    for (std::size_t i = 0; i < frames.size(); ++i) {
        const auto& frame = *frames[i];
        launches[i] = {frame.current, frame.reference, frame.changes, frame.threshold};
        landings[i] = {frame.changes, frame.landing};
    }
    if constexpr (cuda::compiled) {
        queue_encoding(std::span(launches).first(frames.size()), frame_,
                       CudaWorkspace(workspace_.data(), frame_.with_frames(cuda_streams_per_launch)), stream_);
        queue_landing(std::span(landings).first(frames.size()), stream_);
    }
    over_[static_cast<std::size_t>(place)].record(stream_);
    ++launches_;
    frames_ += std::ssize(frames);
}

std::shared_ptr<SharedEncoder> SharedEncoders::of(const Shape& frame) {
    const std::lock_guard lock(mutex_);
    std::erase_if(encoders_, [](const auto& encoder) { return encoder.expired(); });
    for (const auto& known : encoders_)
        if (auto encoder = known.lock(); encoder && encoder->shape() == frame) return encoder;
    const auto encoder = std::make_shared<SharedEncoder>(frame);
    encoders_.push_back(encoder);
    return encoder;
}

}  // namespace framewire::delta
