#include "framewire/core/buffer.hpp"
#include "framewire/core/error.hpp"
#include "framewire/core/parameters/fields.hpp"
#include "framewire/cuda/executor.hpp"
#include "framewire/delta/packing/bounded_packer.hpp"
#include "framewire/delta/packing/packing.hpp"
#include "framewire/media/fwd/file/writer.hpp"
#include "framewire/media/fwd/fwd.hpp"
#include "framewire/media/fwd/settings.hpp"

#include <optional>
#include <utility>

namespace framewire {
namespace {

// What an encoder that finds changes needs.
struct ChangesPacker {
    ChangesPacker(const delta::EncoderParameters& parameters, const Shape& shape, Executor& executor)
        : encoder(parameters, shape, executor),
          packer(shape, &executor.pool()),
          threshold(parameters.effective_threshold()),
          changes(shape) {}

    void pack(HostView<const std::uint8_t> image, HostView<std::uint8_t> reference, bool whole, fwd::Bytes& out) {
        if (whole) {
            copy(image, reference);
            return packer.pack_picture(reference, threshold, out);
        }
        encoder.encode(image, reference, changes.view());
        packer.pack_changes(changes.view(), threshold, out);
    }

    delta::Encoder encoder;
    delta::Packer packer;
    int threshold;
    delta::HostChanges changes;
};

class FwdSink final : public Sink {
public:
    FwdSink(const SinkCall& call, const Shape& frame, Rational rate, const SinkOptions& options)
        : settings_(fwd::settings_of(call)),
          shape_(frame),
          executor_(BackendChoice::cpu, options.encoder_threads),
          reference_(frame),
          writer_(call.path, recording(settings_, frame, rate, options), options.file_options(), executor_.pool()) {
        const auto& encoder = settings_.encoder;
        if (encoder.mode == delta::Mode::bounded)
            bounded_.emplace(frame, encoder.effort, &executor_.pool());
        else
            changes_.emplace(encoder, frame, executor_);
    }

    void write(HostView<const std::uint8_t> image, const FrameTime& time) override {
        validate(image, shape_, "the frame to write");
        const bool whole = pictures_.is_due(time.seconds);
        const int threshold = settings_.encoder.threshold;
        packed_.clear();
        if (changes_)
            changes_->pack(image, reference_.view(), whole, packed_);
        else if (whole)
            bounded_->pack_first(image, reference_.view(), threshold, packed_);
        else
            bounded_->pack_step(image, reference_.view(), threshold, packed_);
        writer_.write(packed_, time);
        if (whole) pictures_.wrote_one(time.seconds);
    }

    void finish(Ending ending) override { writer_.finish(ending); }
    std::int64_t bytes() const override { return writer_.bytes(); }

private:
    static fwd::Recording recording(const fwd::Settings& settings, const Shape& frame, Rational rate,
                                    const SinkOptions& options) {
        return {.shape = frame,
                .mode = settings.encoder.mode,
                .threshold = settings.encoder.effective_threshold(),
                .rate = rate,
                .pixel_aspect = options.facts.pixel_aspect,
                .live = options.live,
                .begin_seconds = options.begin_seconds};
    }

    fwd::Settings settings_;
    Shape shape_;
    Executor executor_;
    HostImage reference_;  // R: what a reader gets
    fwd::Writer writer_;
    fwd::PictureClock pictures_{settings_.key_seconds};
    std::optional<ChangesPacker> changes_;
    std::optional<delta::BoundedPacker> bounded_;  // one of the two
    fwd::Bytes packed_;
};

}  // namespace

std::unique_ptr<Sink> open_fwd_sink(const SinkCall& call, const Shape& frame, Rational rate,
                                    const SinkOptions& options) {
    return std::make_unique<FwdSink>(call, frame, rate, options);
}

}  // namespace framewire
