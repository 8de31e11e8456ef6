#include "framewire/plan/stream_encoder.hpp"
#include "framewire/core/error.hpp"
#include "framewire/core/parameter_fields.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace framewire {
namespace {

// Small results of one frame, which are downloaded first: the position of its packed bytes, and the summary.
struct Reported {
    unsigned long long begins[2];
    codec::Summary found;
};

}  // namespace

// The constructor makes only the packer for the executor's backend.
BoundedEncoder::BoundedEncoder(const codec::EncoderParameters& parameters, const Shape& frame, Executor& executor)
    : executor_(&executor), threshold_(parameters.threshold), reference_(frame, executor.frame_memory()) {
    codec::encoder_fields().check(parameters, "the encoder");
    if (parameters.mode != codec::Mode::bounded)
        fail(ErrorCode::usage, "a bounded encoder cannot use mode {}", to_string(parameters.mode));
    if (frame.frames != 1) fail(ErrorCode::usage, "a stream takes one frame at a time, not {}", frame.frames);
    executor.in_its_space([&]<MemorySpace space>() {
        if constexpr (space == MemorySpace::host)
            packer_.emplace(frame, parameters.effort, &executor.pool());
        else
            on_gpu_.emplace(OnGpu{codec::BoundedBatchPacker(frame, parameters.effort, executor),
                                  cuda::DeviceImage(frame), HostBuffer(sizeof(Reported), executor.frame_memory()),
                                  cuda::Transfer(executor)});
    });
}

// The first frame of a stream cannot be a delta frame, so it becomes a keyframe.
BoundedEncoder::Outcome BoundedEncoder::encode(Frame& frame, Packs packs, std::optional<int> threshold) {
    if (packs == Packs::step && !started_) packs = Packs::picture;
    Outcome outcome;
    outcome.whole = packs != Packs::step;
    packed_.clear();
    executor_->in_its_space([&]<MemorySpace space>() {
        const View<const std::uint8_t, space> camera = frame.in<space>();
        validate(camera, reference_.shape(), "the frame to encode");
        outcome.found = advance(camera, packs, threshold.value_or(threshold_));
    });
    started_ = true;
    outcome.packed = packed_;
    return outcome;
}

// Refinement restarts at a keyframe. On CUDA the refinement is also applied to the copy of R on the host.
void BoundedEncoder::refine(Frame& frame, Outcome& outcome, codec::Refiner& refiner,
                            const codec::Refiner::Moment& moment, codec::RefinementDelta& step) {
    if (outcome.whole) refiner.begin_again();
    executor_->in_its_space([&]<MemorySpace space>() {
        const View<const std::uint8_t, space> camera = frame.in<space>();
        if constexpr (space == MemorySpace::host) {
            if (!outcome.whole) refiner.take_step(packer_->blocks());
            refiner.refine(camera, reference_.view(), moment, step);
        } else {
            if (!outcome.whole) refiner.take_blocks(on_gpu_->off);
            refiner.refine(camera, on_gpu_->reference.view(), moment, step);
            step.wait();
            step.apply_to(reference_.view());
        }
    });
    step.add_errors_to(outcome.found);
}

codec::Summary BoundedEncoder::advance(HostView<const std::uint8_t> camera, Packs packs, int within) {
    switch (packs) {
        case Packs::nothing: copy(camera, reference_.view()); return {};
        case Packs::picture: return packer_->pack_first(camera, reference_.view(), within, packed_);
        case Packs::step: break;
    }
    return packer_->pack_step(camera, reference_.view(), within, packed_);
}

codec::Summary BoundedEncoder::advance(DeviceView<const std::uint8_t> camera, Packs packs, int within) {
    auto& gpu = *on_gpu_;
    const auto reference = gpu.reference.view();
    codec::Summary found;
    if (packs == Packs::nothing)
        cuda::copy(camera, reference, executor_->stream());
    else
        found = fetch(packs == Packs::picture ? gpu.packer.pack_first(camera, reference, within)
                                              : gpu.packer.pack_step(camera, reference, within));
    gpu.transfer.down([&](const cuda::Stream& stream) { cuda::download(reference, reference_.view(), stream); });
    gpu.transfer.wait();
    return found;
}

codec::Summary BoundedEncoder::fetch(const codec::PackedBatch& batch) {
    on_gpu_->off = batch.off;
    auto& transfer = on_gpu_->transfer;
    auto& reported = *reinterpret_cast<Reported*>(on_gpu_->reported.data());
    transfer.down([&](const cuda::Stream& stream) {
        batch.ready->make_wait(stream);
        cuda::download(batch.begins, reported.begins, sizeof(reported.begins), stream);
        cuda::download(batch.summaries, &reported.found, sizeof(reported.found), stream);
    });
    transfer.wait();
    packed_.resize(static_cast<std::size_t>(reported.begins[1]));
    transfer.down(
        [&](const cuda::Stream& stream) { cuda::download(batch.bytes, packed_.data(), packed_.size(), stream); });
    return reported.found;
}

namespace {

// A frame with more than one change per this many bytes needs a second download.
constexpr std::int64_t bytes_per_landing_change = 8;
constexpr std::int64_t least_landing_changes = 4096;

void copy_image(HostView<const std::uint8_t> from, HostView<std::uint8_t> to, const Executor&) { copy(from, to); }
[[maybe_unused]] void copy_image(DeviceView<const std::uint8_t> from, DeviceView<std::uint8_t> to,
                                 const Executor& executor) {
    cuda::copy(from, to, executor.stream());
}

// Queues the download of the summary and the first `count` changes.
void download(const codec::ChangesView<MemorySpace::device>& from, const codec::ChangesView<MemorySpace::host>& to,
              std::int64_t count, const cuda::Stream& stream) {
    cuda::download(from.summaries, to.summaries, sizeof(codec::Summary), stream);
    if (count == 0) return;
    cuda::download(from.positions, to.positions, static_cast<std::size_t>(count) * sizeof(std::uint32_t), stream);
    cuda::download(from.differences, to.differences, static_cast<std::size_t>(count), stream);
}

}  // namespace

StreamEncoder::StreamEncoder(const codec::EncoderParameters& parameters, const Shape& frame, Executor& executor)
    : executor_(&executor),
      encoder_(parameters, frame, executor),
      reference_(frame, executor),
      first_picture_(frame, executor.frame_memory()) {
    if (frame.frames != 1) fail(ErrorCode::usage, "a stream takes one frame at a time, not {}", frame.frames);
}

// On CUDA, adds a staging buffer of pinned memory, which is smaller than the worst case requires.
FrameChanges StreamEncoder::make_changes() {
    FrameChanges changes;
    changes.encoder_ = this;
    changes.host_ = codec::HostChanges(shape());
    if (executor_->backend() == Backend::cuda) {
        changes.device_ = codec::DeviceChanges(shape());
        // Downloads include entries that no change has used yet, so all entries must be initialised.
        const auto places = changes.device_.view();
        const auto bytes = static_cast<std::size_t>(shape().bytes());
        cuda::fill(places.positions, 0, bytes * sizeof(std::uint32_t), executor_->stream());
        cuda::fill(places.differences, 0, bytes, executor_->stream());
        changes.landing_ = codec::HostChanges(
            1, std::min(shape().bytes(), std::max(least_landing_changes, shape().bytes() / bytes_per_landing_change)),
            cuda::pinned_memory());
    }
    changes.transfer_ = cuda::Transfer(*executor_);
    return changes;
}

// Compares the frame with R and updates R. The first frame is only copied to R.
void StreamEncoder::start(Frame& frame, FrameChanges& changes, std::optional<int> threshold) {
    changes.first_ = !started_;
    changes.refinement_ = nullptr;
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
            // The number of changes varies little between frames, so with a quarter more a second download is rarely
            // needed.
            const auto landing = changes.landing_.view();
            changes.expected_ = std::min(landing.capacity, last_count_ * 5 / 4 + least_landing_changes);
            changes.transfer_.down(
                [&](const cuda::Stream& stream) { download(on_device, landing, changes.expected_, stream); });
        }
    });
    started_ = true;
}

// Refinement restarts at the first frame.
void StreamEncoder::refine(Frame& frame, FrameChanges& changes, codec::Refiner& refiner,
                           const codec::Refiner::Moment& moment, codec::RefinementDelta& step) {
    executor_->in_its_space([&]<MemorySpace space>() {
        if (changes.first_)
            refiner.begin_again();
        else if constexpr (space == MemorySpace::host)
            refiner.take_step(changes.found_);
        else
            refiner.take_step(changes.device_.view());
        const View<const std::uint8_t, space> camera = frame.in<space>();
        refiner.refine(camera, reference_.view<space>(), moment, step);
    });
    changes.refinement_ = &step;
}

// The summary contains the errors after the refinement.
void FrameChanges::wait() {
    wait_for_changes();
    if (!refinement_) return;
    refinement_->wait();
    std::exchange(refinement_, nullptr)->add_errors_to(found_.summaries[0]);
}

// If there are more changes than were downloaded, downloads all of them, to pageable memory if the staging buffer is
// too small.
void FrameChanges::wait_for_changes() {
    transfer_.wait();
    if (first_ || encoder_->executor_->backend() == Backend::cpu) return;
    found_ = landing_.view();
    const auto count = std::int64_t{found_.summaries[0].count};
    if (count > host_.view().capacity)
        fail(ErrorCode::internal, "{} changes were found, but the frame has only {} bytes", count,
             host_.view().capacity);
    encoder_->last_count_ = count;
    if (count <= expected_) return;
    if (count > found_.capacity) found_ = host_.view();
    transfer_.down([&](const cuda::Stream& stream) { download(device_.view(), found_, count, stream); });
    transfer_.wait();
}

}  // namespace framewire
