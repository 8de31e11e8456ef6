#include "framewire/pipeline/frames/encoders/stream_encoder.hpp"

#include "framewire/core/error.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace framewire {
namespace {

// A frame with more changes than one in so many bytes takes a second journey.
constexpr std::int64_t bytes_per_landing_change = 8;
constexpr std::int64_t least_landing_changes = 4096;

void copy_image(HostView<const std::uint8_t> from, HostView<std::uint8_t> to, const Executor&) { copy(from, to); }
[[maybe_unused]] void copy_image(DeviceView<const std::uint8_t> from, DeviceView<std::uint8_t> to,
                                 const Executor& executor) {
    cuda::copy(from, to, executor.stream());
}

void download(const delta::ChangesView<MemorySpace::device>& from, const delta::ChangesView<MemorySpace::host>& to,
              std::int64_t count, const cuda::Stream& stream) {
    cuda::download(from.summaries, to.summaries, sizeof(delta::Summary), stream);
    if (count == 0) return;
    cuda::download(from.positions, to.positions, static_cast<std::size_t>(count) * sizeof(std::uint32_t), stream);
    cuda::download(from.differences, to.differences, static_cast<std::size_t>(count), stream);
}

}  // namespace

StreamEncoder::StreamEncoder(const delta::EncoderParameters& parameters, const Shape& frame, Executor& executor,
                             std::shared_ptr<delta::SharedEncoder> shared)
    : executor_(&executor),
      encoder_(parameters, frame, executor),
      shared_(std::move(shared)),
      reference_(frame, executor),
      first_picture_(frame, executor.frame_memory()) {
    if (frame.frames != 1) fail(ErrorCode::usage, "a stream of {} frames at a time; it takes one", frame.frames);
    if (!shared_) return;
    if (executor.backend() != Backend::cuda) fail(ErrorCode::usage, "an encoder is shared on the CUDA backend only");
    if (shared_->shape() != frame)
        fail(ErrorCode::usage, "a shared encoder of {} for {}", to_string(shared_->shape()), to_string(frame));
}

FrameChanges StreamEncoder::make_changes() {
    FrameChanges changes;
    changes.encoder_ = this;
    changes.host_ = delta::HostChanges(shape());
    if (executor_->backend() == Backend::cuda) {
        changes.device_ = delta::DeviceChanges(shape());
        // Copies take along places that no change may have taken yet.
        const auto places = changes.device_.view();
        const auto bytes = static_cast<std::size_t>(shape().bytes());
        cuda::fill(places.positions, 0, bytes * sizeof(std::uint32_t), executor_->stream());
        cuda::fill(places.differences, 0, bytes, executor_->stream());
        changes.landing_ = delta::HostChanges(
            1, std::min(shape().bytes(), std::max(least_landing_changes, shape().bytes() / bytes_per_landing_change)),
            cuda::pinned_memory());
    }
    changes.transfer_ = cuda::Transfer(*executor_);
    return changes;
}

void StreamEncoder::start(Frame& frame, FrameChanges& changes, std::optional<int> threshold, bool by_itself) {
    changes.first_ = !started_;
    changes.sharper_ = nullptr;
    executor_->in_its_space([&]<MemorySpace space>() {
        const View<const std::uint8_t, space> current = frame.in<space>();
        const auto reference = reference_.view<space>();
        validate(current, shape(), "the frame to encode");
        if (changes.first_) {
            copy_image(current, reference, *executor_);
            changes.found_ = changes.host_.view();
            changes.found_.summaries[0] = {};
            if constexpr (space == MemorySpace::host)
                copy(current, first_picture_.view());
            else
                changes.transfer_.down(
                    [&](const cuda::Stream& stream) { cuda::download(current, first_picture_.view(), stream); });
        } else if constexpr (space == MemorySpace::host) {
            changes.found_ = changes.host_.view();
            encoder_.encode(current, reference, changes.found_, threshold);
        } else if (goes_by_shared(by_itself)) {
            changes.turn_ = turns_.take();
            changes.current_ = current;
            changes.threshold_ = threshold.value_or(parameters().effective_threshold());
            changes.transfer_.mark();  // over when the frame is there
        } else {
            const auto on_device = changes.device_.view();
            encoder_.encode(current, reference, on_device, threshold);
            // Neighbours in time change alike: with a quarter more a second journey is rare.
            const auto landing = changes.landing_.view();
            changes.expected_ = std::min(landing.capacity, last_count_ * 5 / 4 + least_landing_changes);
            changes.transfer_.down(
                [&](const cuda::Stream& stream) { download(on_device, landing, changes.expected_, stream); });
        }
    });
    started_ = true;
    if (shared_) changes.under_way_ = {shared_->under_way(), under_way_};
}

void StreamEncoder::sharpen(Frame& frame, FrameChanges& changes, delta::RestSharpener& sharpener,
                            const delta::RestSharpener::Moment& moment, delta::SharperStep& step) {
    executor_->in_its_space([&]<MemorySpace space>() {
        if (changes.first_)
            sharpener.begin_anew();
        else if constexpr (space == MemorySpace::host)
            sharpener.take_step(changes.found_);
        else
            sharpener.take_step(changes.device_.view());
        const View<const std::uint8_t, space> camera = frame.in<space>();
        sharpener.sharpen(camera, reference_.view<space>(), moment, step);
    });
    changes.sharper_ = &step;
}

// Frames are in their order, whichever way they go. One that meets none of another stream has nobody to share a launch
// with, and is queued without a wait for its upload.
bool StreamEncoder::goes_by_shared(bool by_itself) const {
    return shared_ && (turns_.any_open() || (!by_itself && shared_->under_way() > under_way_));
}

void StreamEncoder::encode_by_shared(FrameChanges& changes) {
    const auto turn = std::move(changes.turn_);
    turn.wait();
    const auto landing = changes.landing_.view();
    shared_->encode({changes.current_, reference_.view<MemorySpace::device>(), changes.device_.view(), landing,
                     changes.threshold_});
    changes.expected_ = landing.capacity;
}

void FrameChanges::wait() {
    wait_for_changes();
    if (!sharper_) return;
    sharper_->wait();
    std::exchange(sharper_, nullptr)->add_errors_to(found_.summaries[0]);
}

void FrameChanges::wait_for_changes() {
    transfer_.wait();
    if (turn_) encoder_->encode_by_shared(*this);
    under_way_.end();
    if (first_ || encoder_->executor_->backend() == Backend::cpu) return;
    found_ = landing_.view();
    const auto count = std::int64_t{found_.summaries[0].count};
    if (count > host_.view().capacity)
        fail(ErrorCode::internal, "{} changes in a frame of {} bytes", count, host_.view().capacity);
    encoder_->last_count_ = count;
    if (count <= expected_) return;
    if (count > found_.capacity) found_ = host_.view();
    transfer_.down([&](const cuda::Stream& stream) { download(device_.view(), found_, count, stream); });
    transfer_.wait();
}

}  // namespace framewire
