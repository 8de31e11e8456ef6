#include "framewire/plan/stream_encoder.hpp"
#include "framewire/codec/batch_packer.hpp"
#include "framewire/codec/blocks.hpp"
#include "framewire/codec/packing.hpp"
#include "framewire/core/buffer.hpp"
#include "framewire/core/error.hpp"
#include "framewire/cuda/buffer.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace framewire {
namespace {

// Small results of one frame, which are downloaded first: the position of its packed bytes, and the summary.
struct Reported {
    unsigned long long begins[2];
    codec::Summary found;
};

// A frame with more than one change per this many bytes needs a second download.
constexpr std::int64_t bytes_per_landing_change = 8;
constexpr std::int64_t least_landing_changes = 4096;

// Queues the download of the summary and the first `count` changes.
void download(const codec::ChangesView<MemorySpace::device>& from, const codec::ChangesView<MemorySpace::host>& to,
              std::int64_t count, const cuda::Stream& stream) {
    cuda::download(from.summaries, to.summaries, sizeof(codec::Summary), stream);
    if (count == 0) return;
    cuda::download(from.positions, to.positions, static_cast<std::size_t>(count) * sizeof(std::uint32_t), stream);
    cuda::download(from.differences, to.differences, static_cast<std::size_t>(count), stream);
}

// Sets `blocks` to the blocks that contain changes. Positions are byte offsets in ascending order, so each block is
// looked up once per picture row.
void find_changed_blocks(const codec::ChangesView<MemorySpace::host>& changes, const Shape& shape,
                         codec::BlockSet& blocks) {
    const codec::BlockGrid grid(shape);
    blocks.assign(static_cast<std::size_t>(grid.count()), 0);
    const auto row_bytes = shape.row_bytes(), block_bytes = std::int64_t{codec::block_side} * shape.channels;
    std::int64_t block_end = 0;  // end of the current block in this row
    for (std::uint32_t i = 0; i < changes.summaries[0].count; ++i) {
        const std::int64_t position = changes.positions[i];
        if (position < block_end) continue;
        const auto y = position / row_bytes, column = position % row_bytes / block_bytes;
        block_end = std::min((y + 1) * row_bytes, y * row_bytes + (column + 1) * block_bytes);
        blocks[static_cast<std::size_t>(y / codec::block_side * grid.columns() + column)] = 1;
    }
}

}  // namespace

// Encoder for one kind of backend and mode. The frame has the shape of the encoder.
class StreamEncoder::Implementation {
public:
    virtual ~Implementation() = default;
    virtual codec::EncodedFrame encode(Frame& frame, codec::PackAs as, int within) = 0;
    virtual void refine(Frame& frame, codec::EncodedFrame& encoded, codec::Refiner& refiner,
                        const codec::Refiner::Moment& moment, codec::RefinementDelta& step) = 0;
    virtual void set_effort(int) {}
    virtual HostView<const std::uint8_t> reference() const = 0;
};

class StreamEncoder::OnHost final : public Implementation {
public:
    OnHost(const codec::EncoderParameters& parameters, const Shape& frame, Executor& executor, bool refines)
        : encoder_(parameters, frame, executor.pool(), refines) {}

    codec::EncodedFrame encode(Frame& frame, codec::PackAs as, int within) override {
        return encoder_.encode(frame.in<MemorySpace::host>(), as, within);
    }
    void refine(Frame& frame, codec::EncodedFrame& encoded, codec::Refiner& refiner,
                const codec::Refiner::Moment& moment, codec::RefinementDelta& step) override {
        encoder_.refine(frame.in<MemorySpace::host>(), encoded, refiner, moment, step);
    }
    void set_effort(int effort) override { encoder_.set_effort(effort); }
    HostView<const std::uint8_t> reference() const override { return encoder_.reference(); }

private:
    codec::HostEncoder encoder_;
};

// Part that both encoders on the GPU share: R on the GPU, and its copy on the host. The classes below are only
// constructed in builds with CUDA; their members are defined in the classes, so that other builds do not emit them.
class StreamEncoder::OnGpu : public Implementation {
public:
    HostView<const std::uint8_t> reference() const override { return reference_.view(); }

    // The refinement is also applied to the copy of R on the host.
    void refine(Frame& frame, codec::EncodedFrame& encoded, codec::Refiner& refiner,
                const codec::Refiner::Moment& moment, codec::RefinementDelta& step) override {
        if (encoded.whole || encoded.packed.empty())
            refiner.begin_again();
        else
            report_changes(refiner);
        const DeviceView<const std::uint8_t> camera = frame.in<MemorySpace::device>();
        refiner.refine(camera, on_gpu_.view(), moment, step);
        step.wait();
        step.apply_to(reference_.view());
        step.add_errors_to(encoded.found);
    }

protected:
    OnGpu(const Shape& frame, Executor& executor) : on_gpu_(frame), reference_(frame, executor.frame_memory()) {}

    // Reports the changes of the last delta frame to the refiner.
    virtual void report_changes(codec::Refiner& refiner) const = 0;

    cuda::DeviceImage on_gpu_;  // R
    HostImage reference_;       // R on the host
    std::vector<std::uint8_t> packed_;
    bool started_ = false;
};

// Mode bounded on the GPU: frames are packed there, so that only packed bytes and R are downloaded.
class StreamEncoder::BoundedOnGpu final : public OnGpu {
public:
    BoundedOnGpu(const codec::EncoderParameters& parameters, const Shape& frame, Executor& executor)
        : OnGpu(frame, executor),
          executor_(&executor),
          packer_(frame, parameters.effort, executor),
          reported_(sizeof(Reported), executor.frame_memory()),
          transfer_(executor) {}

    codec::EncodedFrame encode(Frame& frame, codec::PackAs as, int within) override {
        const DeviceView<const std::uint8_t> camera = frame.in<MemorySpace::device>();
        const auto reference = on_gpu_.view();
        if (as == codec::PackAs::delta_frame && !started_) as = codec::PackAs::keyframe;
        packed_.clear();
        codec::EncodedFrame encoded{.whole = as != codec::PackAs::delta_frame};
        if (as == codec::PackAs::nothing)
            cuda::copy(camera, reference, executor_->stream());
        else
            encoded.found = fetch(encoded.whole ? packer_.pack_first(camera, reference, within)
                                                : packer_.pack_step(camera, reference, within));
        transfer_.down([&](const cuda::Stream& stream) { cuda::download(reference, reference_.view(), stream); });
        transfer_.wait();
        started_ = true;
        encoded.packed = packed_;
        return encoded;
    }
    void set_effort(int effort) override { packer_.set_effort(effort); }

private:
    // Downloads the packed bytes and returns the summary.
    codec::Summary fetch(const codec::PackedBatch& batch) {
        off_ = batch.off;
        auto& reported = *reinterpret_cast<Reported*>(reported_.data());
        transfer_.down([&](const cuda::Stream& stream) {
            batch.ready->make_wait(stream);
            cuda::download(batch.begins, reported.begins, sizeof(reported.begins), stream);
            cuda::download(batch.summaries, &reported.found, sizeof(reported.found), stream);
        });
        transfer_.wait();
        packed_.resize(static_cast<std::size_t>(reported.begins[1]));
        transfer_.down(
            [&](const cuda::Stream& stream) { cuda::download(batch.bytes, packed_.data(), packed_.size(), stream); });
        return reported.found;
    }

    void report_changes(codec::Refiner& refiner) const override { refiner.take_blocks(off_); }

    Executor* executor_;
    codec::BoundedBatchPacker packer_;
    HostBuffer reported_;                 // range of the packed bytes, followed by the summary
    const std::uint32_t* off_ = nullptr;  // output of the last delta frame, see PackedBatch
    cuda::Transfer transfer_;             // last member: waits before the memory is freed
};

// Modes exact and lossless: the GPU lists the changes, and the host applies them to its copy of R and packs them.
class StreamEncoder::ExactOnGpu final : public OnGpu {
public:
    ExactOnGpu(const codec::EncoderParameters& parameters, const Shape& frame, Executor& executor)
        : OnGpu(frame, executor),
          executor_(&executor),
          encoder_(parameters, frame, executor),
          decoder_(frame, executor),
          packer_(frame, &executor.pool()),
          changes_(frame),
          landing_(1,
                   std::min(frame.bytes(), std::max(least_landing_changes, frame.bytes() / bytes_per_landing_change)),
                   cuda::pinned_memory()),
          all_(frame),
          transfer_(executor) {
        // Downloads include entries that no change has used yet, so all entries must be initialised.
        const auto places = changes_.view();
        const auto bytes = static_cast<std::size_t>(frame.bytes());
        cuda::fill(places.positions, 0, bytes * sizeof(std::uint32_t), executor.stream());
        cuda::fill(places.differences, 0, bytes, executor.stream());
    }

    codec::EncodedFrame encode(Frame& frame, codec::PackAs as, int within) override {
        const DeviceView<const std::uint8_t> camera = frame.in<MemorySpace::device>();
        packed_.clear();
        if (!started_ || as == codec::PackAs::keyframe) {
            copy_to_reference(camera);
            if (as != codec::PackAs::nothing) packer_.pack_picture(std::as_const(reference_).view(), within, packed_);
            started_ = true;
            return {.whole = true, .packed = packed_};
        }
        encoder_.encode(camera, on_gpu_.view(), changes_.view(), within);
        const auto changes = fetch();
        decoder_.decode(changes, reference_.view());
        codec::EncodedFrame encoded{.found = changes.summaries[0]};
        if (as == codec::PackAs::nothing) {
            find_changed_blocks(changes, reference_.shape(), changed_);
            encoded.changed = &changed_;
        } else {
            packer_.pack_changes(changes, within, packed_);
            encoded.packed = packed_;
        }
        return encoded;
    }

private:
    void copy_to_reference(DeviceView<const std::uint8_t> camera) {
        cuda::copy(camera, on_gpu_.view(), executor_->stream());
        transfer_.down([&](const cuda::Stream& stream) { cuda::download(camera, reference_.view(), stream); });
        transfer_.wait();
    }

    // Downloads the changes. Their number varies little between frames, so a quarter more than in the last frame is
    // downloaded together with the actual number. If there are more changes, downloads all of them, to pageable memory
    // if the staging buffer is too small.
    codec::ChangesView<MemorySpace::host> fetch() {
        auto found = landing_.view();
        const auto expected = std::min(found.capacity, last_count_ * 5 / 4 + least_landing_changes);
        transfer_.down([&](const cuda::Stream& stream) { download(changes_.view(), found, expected, stream); });
        transfer_.wait();
        const auto count = std::int64_t{found.summaries[0].count};
        if (count > all_.view().capacity)
            fail(ErrorCode::internal, "{} changes were found, but the frame has only {} bytes", count,
                 all_.view().capacity);
        last_count_ = count;
        if (count <= expected) return found;
        if (count > found.capacity) found = all_.view();
        transfer_.down([&](const cuda::Stream& stream) { download(changes_.view(), found, count, stream); });
        transfer_.wait();
        return found;
    }

    void report_changes(codec::Refiner& refiner) const override { refiner.take_step(changes_.view()); }

    Executor* executor_;
    codec::Encoder encoder_;
    codec::Decoder decoder_;
    codec::Packer packer_;
    codec::DeviceChanges changes_;
    codec::HostChanges landing_;  // staging buffer of pinned memory
    codec::HostChanges all_;      // room for a change of every byte; the system provides pages only as they are written
    codec::BlockSet changed_;
    std::int64_t last_count_ = 0;  // number of changes in the last frame
    cuda::Transfer transfer_;      // last member: waits before the memory is freed
};

StreamEncoder::StreamEncoder(const codec::EncoderParameters& parameters, const Shape& frame, Executor& executor,
                             bool refines)
    : parameters_(parameters), shape_(frame) {
    codec::validate(parameters, "the encoder");
    if (frame.frames != 1) fail(ErrorCode::usage, "a stream takes one frame at a time, not {}", frame.frames);
    executor.in_its_space([&]<MemorySpace space>() {
        if constexpr (space == MemorySpace::host)
            implementation_ = std::make_unique<OnHost>(parameters, frame, executor, refines);
        else if (parameters.mode == codec::Mode::bounded)
            implementation_ = std::make_unique<BoundedOnGpu>(parameters, frame, executor);
        else
            implementation_ = std::make_unique<ExactOnGpu>(parameters, frame, executor);
    });
}
StreamEncoder::~StreamEncoder() = default;

codec::EncodedFrame StreamEncoder::encode(Frame& frame, codec::PackAs as, std::optional<int> threshold) {
    if (frame.shape() != shape_)
        fail(ErrorCode::usage, "the frame to encode is {}, but the stream has {}", to_string(frame.shape()),
             to_string(shape_));
    const int within = threshold.value_or(parameters_.effective_threshold());
    codec::validate_packed_threshold(within);
    return implementation_->encode(frame, as, within);
}

void StreamEncoder::refine(Frame& frame, codec::EncodedFrame& encoded, codec::Refiner& refiner,
                           const codec::Refiner::Moment& moment, codec::RefinementDelta& step) {
    implementation_->refine(frame, encoded, refiner, moment, step);
}

void StreamEncoder::set_effort(int effort) { implementation_->set_effort(effort); }

HostView<const std::uint8_t> StreamEncoder::reference() const { return implementation_->reference(); }

}  // namespace framewire
