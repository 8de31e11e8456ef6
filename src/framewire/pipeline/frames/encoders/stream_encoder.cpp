#include "framewire/pipeline/frames/encoders/stream_encoder.hpp"

#include "framewire/core/error.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace framewire {
namespace {

// A frame with more changes than one per this many bytes needs a second download.
constexpr std::int64_t bytes_per_landing_change = 8;
constexpr std::int64_t least_landing_changes = 4096;

void copy_image(HostView<const std::uint8_t> from, HostView<std::uint8_t> to, const Executor&) { copy(from, to); }
[[maybe_unused]] void copy_image(DeviceView<const std::uint8_t> from, DeviceView<std::uint8_t> to,
                                 const Executor& executor) {
    cuda::copy(from, to, executor.stream());
}

// Queues the download of the summary and of the first `count` changes.
void download(const delta::ChangesView<MemorySpace::device>& from, const delta::ChangesView<MemorySpace::host>& to,
              std::int64_t count, const cuda::Stream& stream) {
    cuda::download(from.summaries, to.summaries, sizeof(delta::Summary), stream);
    if (count == 0) return;
    cuda::download(from.positions, to.positions, static_cast<std::size_t>(count) * sizeof(std::uint32_t), stream);
    cuda::download(from.differences, to.differences, static_cast<std::size_t>(count), stream);
}

}  // namespace

StreamEncoder::StreamEncoder(const delta::EncoderParameters& parameters, const Shape& frame, Executor& executor)
    : executor_(&executor),
      encoder_(parameters, frame, executor),
      reference_(frame, executor),
      first_picture_(frame, executor.frame_memory()) {
    if (frame.frames != 1) fail(ErrorCode::usage, "a stream of {} frames at a time; it takes one", frame.frames);
}

// On CUDA a staging buffer of pinned memory is added, which is smaller than the worst case.
FrameChanges StreamEncoder::make_changes() {
    FrameChanges changes;
    changes.encoder_ = this;
    changes.host_ = delta::HostChanges(shape());
    if (executor_->backend() == Backend::cuda) {
        changes.device_ = delta::DeviceChanges(shape());
        // Copies include entries that no change has used yet, so they must be initialised.
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

// Compares the frame with R and updates R. The first frame is copied to R instead.
void StreamEncoder::start(Frame& frame, FrameChanges& changes, std::optional<int> threshold) {
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
        } else {
            const auto on_device = changes.device_.view();
            encoder_.encode(current, reference, on_device, threshold);
            // The number of changes varies little from frame to frame: with a quarter more, a second download
            // is rare.
            const auto landing = changes.landing_.view();
            changes.expected_ = std::min(landing.capacity, last_count_ * 5 / 4 + least_landing_changes);
            changes.transfer_.down(
                [&](const cuda::Stream& stream) { download(on_device, landing, changes.expected_, stream); });
        }
    });
    started_ = true;
}

// The first frame starts the refinement from the beginning.
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

// The errors in the summary are those after the refinement.
void FrameChanges::wait() {
    wait_for_changes();
    if (!sharper_) return;
    sharper_->wait();
    std::exchange(sharper_, nullptr)->add_errors_to(found_.summaries[0]);
}

// If there are more changes than were downloaded, downloads all of them, into pageable memory if the staging
// buffer is too small.
void FrameChanges::wait_for_changes() {
    transfer_.wait();
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
