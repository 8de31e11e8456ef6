#include "framewire/pipeline/frames/bounded_encoder.hpp"

#include "framewire/core/error.hpp"
#include "framewire/core/parameters/fields.hpp"

namespace framewire {

BoundedEncoder::BoundedEncoder(const delta::EncoderParameters& parameters, const Shape& frame, Executor& executor)
    : threshold_(parameters.threshold), packer_(frame, parameters.effort, &executor.pool()), reference_(frame) {
    delta::encoder_fields().check(parameters, "the encoder");
    if (parameters.mode != delta::Mode::bounded)
        fail(ErrorCode::usage, "a bounded encoder in mode {}", to_string(parameters.mode));
}

BoundedEncoder::Outcome BoundedEncoder::encode(HostView<const std::uint8_t> camera, bool watched) {
    Outcome outcome;
    outcome.whole = !watched || !started_;
    packed_.clear();
    if (!watched)
        copy(camera, reference_.view());
    else if (!started_)
        outcome.found = packer_.pack_first(camera, reference_.view(), threshold_, packed_);
    else
        outcome.found = packer_.pack_step(camera, reference_.view(), threshold_, packed_);
    started_ = true;
    outcome.packed = packed_;
    return outcome;
}

}  // namespace framewire
