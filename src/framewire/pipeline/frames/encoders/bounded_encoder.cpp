#include "framewire/pipeline/frames/encoders/bounded_encoder.hpp"

#include "framewire/core/error.hpp"
#include "framewire/core/parameters/fields.hpp"

#include <cstddef>
#include <utility>

namespace framewire {
namespace {

// Small results of one frame that are downloaded first: the range of its packed bytes, and the summary.
struct Told {
    unsigned long long begins[2];
    delta::Summary found;
};

}  // namespace

// Only the backend's packer is made.
BoundedEncoder::BoundedEncoder(const delta::EncoderParameters& parameters, const Shape& frame, Executor& executor)
    : executor_(&executor), threshold_(parameters.threshold), reference_(frame, executor.frame_memory()) {
    delta::encoder_fields().check(parameters, "the encoder");
    if (parameters.mode != delta::Mode::bounded)
        fail(ErrorCode::usage, "a bounded encoder in mode {}", to_string(parameters.mode));
    if (frame.frames != 1) fail(ErrorCode::usage, "a stream of {} frames at a time; it takes one", frame.frames);
    executor.in_its_space([&]<MemorySpace space>() {
        if constexpr (space == MemorySpace::host)
            packer_.emplace(frame, parameters.effort, &executor.pool());
        else
            on_gpu_.emplace(OnGpu{delta::BoundedBatchPacker(frame, parameters.effort, executor),
                                  cuda::DeviceImage(frame), HostBuffer(sizeof(Told), executor.frame_memory()),
                                  cuda::Transfer(executor)});
    });
}

// The first frame of a stream has no delta frame, so it becomes a keyframe.
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

// A keyframe starts the refinement from the beginning. On CUDA the refined R is also applied to the copy on the
// host.
void BoundedEncoder::sharpen(Frame& frame, Outcome& outcome, delta::RestSharpener& sharpener,
                             const delta::RestSharpener::Moment& moment, delta::SharperStep& step) {
    if (outcome.whole) sharpener.begin_anew();
    executor_->in_its_space([&]<MemorySpace space>() {
        const View<const std::uint8_t, space> camera = frame.in<space>();
        if constexpr (space == MemorySpace::host) {
            if (!outcome.whole) sharpener.take_step(packer_->blocks());
            sharpener.sharpen(camera, reference_.view(), moment, step);
        } else {
            if (!outcome.whole) sharpener.take_blocks(on_gpu_->off);
            sharpener.sharpen(camera, on_gpu_->reference.view(), moment, step);
            step.wait();
            step.apply_to(reference_.view());
        }
    });
    step.add_errors_to(outcome.found);
}

delta::Summary BoundedEncoder::advance(HostView<const std::uint8_t> camera, Packs packs, int within) {
    switch (packs) {
        case Packs::nothing: copy(camera, reference_.view()); return {};
        case Packs::picture: return packer_->pack_first(camera, reference_.view(), within, packed_);
        case Packs::step: break;
    }
    return packer_->pack_step(camera, reference_.view(), within, packed_);
}

delta::Summary BoundedEncoder::advance(DeviceView<const std::uint8_t> camera, Packs packs, int within) {
    auto& gpu = *on_gpu_;
    const auto reference = gpu.reference.view();
    delta::Summary found;
    if (packs == Packs::nothing)
        cuda::copy(camera, reference, executor_->stream());
    else
        found = fetch(packs == Packs::picture ? gpu.packer.pack_first(camera, reference, within)
                                              : gpu.packer.pack_step(camera, reference, within));
    gpu.transfer.down([&](const cuda::Stream& stream) { cuda::download(reference, reference_.view(), stream); });
    gpu.transfer.wait();
    return found;
}

delta::Summary BoundedEncoder::fetch(const delta::PackedBatch& batch) {
    on_gpu_->off = batch.off;
    auto& transfer = on_gpu_->transfer;
    auto& told = *reinterpret_cast<Told*>(on_gpu_->told.data());
    transfer.down([&](const cuda::Stream& stream) {
        batch.ready->make_wait(stream);
        cuda::download(batch.begins, told.begins, sizeof(told.begins), stream);
        cuda::download(batch.summaries, &told.found, sizeof(told.found), stream);
    });
    transfer.wait();
    packed_.resize(static_cast<std::size_t>(told.begins[1]));
    transfer.down(
        [&](const cuda::Stream& stream) { cuda::download(batch.bytes, packed_.data(), packed_.size(), stream); });
    return told.found;
}

}  // namespace framewire
