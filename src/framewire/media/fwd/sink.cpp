// Encodes frames of any source as a difference stream in a file. `reference_` is R, the picture that a reader of the
// file has after each frame; the packers update it, so errors do not accumulate over frames.

#include "framewire/core/buffer.hpp"
#include "framewire/core/error.hpp"
#include "framewire/core/parameters/fields.hpp"
#include "framewire/cuda/executor.hpp"
#include "framewire/delta/packing/bounded_packer.hpp"
#include "framewire/delta/packing/exact_packer.hpp"
#include "framewire/media/fwd/file/writer.hpp"
#include "framewire/media/fwd/fwd.hpp"
#include "framewire/media/fwd/settings.hpp"

#include <algorithm>
#include <utility>
#include <variant>

namespace framewire {
namespace {

// The encoder for the selected mode.
using FramePacker = std::variant<delta::ExactPacker, delta::BoundedPacker>;

FramePacker packer_for(const delta::EncoderParameters& encoder, const Shape& frame, const ThreadPool& pool) {
    if (encoder.mode == delta::Mode::bounded) return delta::BoundedPacker(frame, encoder.effort, &pool);
    return delta::ExactPacker(frame, &pool);
}

// Encodes on the CPU: frames of a sink are in host memory.
class FwdSink final : public Sink {
public:
    FwdSink(const SinkCall& call, const Shape& frame, Rational rate, const SinkOptions& options)
        : settings_(fwd::settings_of(call, options.source_threshold)),
          shape_(frame),
          executor_(BackendChoice::cpu, options.encoder_threads),
          reference_(frame),
          writer_(call.path, recording(settings_, frame, rate, options), options.file_options(), executor_.pool()),
          packer_(packer_for(settings_.encoder, frame, executor_.pool())) {}

    void write(HostView<const std::uint8_t> image, const FrameTime& time) override {
        validate(image, shape_, "the frame to write");
        const bool whole = pictures_.is_due(time.seconds);
        const int threshold = settings_.encoder.effective_threshold();
        packed_.clear();
        const auto pack = [&](auto& packer) {
            whole ? packer.pack_first(image, reference_.view(), threshold, packed_)
                  : packer.pack_step(image, reference_.view(), threshold, packed_);
        };
        std::visit(pack, packer_);
        writer_.write(packed_, time);
        if (whole) pictures_.wrote_one(time.seconds);
    }

    void finish(Ending ending) override { writer_.finish(ending); }
    std::int64_t bytes() const override { return writer_.bytes(); }

private:
    // The header's properties. The stored threshold is that of the whole chain, from the camera to this file.
    static fwd::Recording recording(const fwd::Settings& settings, const Shape& frame, Rational rate,
                                    const SinkOptions& options) {
        // Errors add up: a recording of a stream that was not lossless is not lossless either.
        const int before = options.source_threshold.value_or(0);
        const bool exact = before > 0 && settings.encoder.mode == delta::Mode::lossless;
        return {.shape = frame,
                .mode = exact ? delta::Mode::exact : settings.encoder.mode,
                .threshold = std::min(before + settings.encoder.effective_threshold(), 254),
                .rate = rate,
                .pixel_aspect = options.facts.pixel_aspect,
                .live = options.live,
                .begin_seconds = options.begin_seconds};
    }

    fwd::Settings settings_;
    Shape shape_;
    Executor executor_;
    HostImage reference_;  // R: the picture that a reader gets
    fwd::Writer writer_;
    fwd::PictureClock pictures_{settings_.key_seconds};
    FramePacker packer_;
    fwd::Bytes packed_;
};

}  // namespace

std::unique_ptr<Sink> open_fwd_sink(const SinkCall& call, const Shape& frame, Rational rate,
                                    const SinkOptions& options) {
    return std::make_unique<FwdSink>(call, frame, rate, options);
}

}  // namespace framewire
