// Parameters of the difference encoder, and the constructors that both backends share. encode() and decode() are in
// one source per backend.

#include "framewire/delta/delta.hpp"

#include "framewire/core/error.hpp"
#include "framewire/core/parameters/fields.hpp"
#include "framewire/delta/comparing/encoder_layout.hpp"
#include "framewire/delta/packing/packed.hpp"

namespace framewire::delta {

namespace {

constexpr NamedValue<Mode> mode_names[] = {
    {"exact", Mode::exact}, {"lossless", Mode::lossless}, {"bounded", Mode::bounded}};

}  // namespace

std::string_view to_string(Mode mode) { return name_of(mode_names, mode); }

const ParameterFields<EncoderParameters>& encoder_fields() {
    static const ParameterFields<EncoderParameters> fields = {
        parameter_field(
            &EncoderParameters::threshold,
            {.name = "threshold", .help = "bytes are sent when they differ by more than this", .maximum = 254}),
        parameter_field(
            &EncoderParameters::mode, mode_names,
            {.name = "mode", .help = "exact: sent bytes arrive exactly; lossless: threshold 0; bounded: fewest bytes"}),
        parameter_field(&EncoderParameters::effort,
                        {.name = "effort", .help = "how long the mode bounded looks for motion", .maximum = 2}),
    };
    return fields;
}

void validate(const EncoderParameters& parameters, const char* what) { encoder_fields().check(parameters, what); }

Encoder::Encoder(EncoderParameters parameters, const Shape& shape, Executor& executor)
    : parameters_(parameters), shape_(shape), executor_(&executor) {
    validate(shape, "the encoder's frame");
    delta::validate(parameters, "the encoder");
    if (parameters.mode == Mode::bounded) fail(ErrorCode::usage, "the mode bounded has no changes to find");
    workspace_ =
        BackendBuffer(executor.backend() == Backend::cpu
                          ? static_cast<std::size_t>(CpuChunks(shape).per_frame * shape.frames) * sizeof(Summary)
                          : CudaWorkspace::bytes(shape),
                      executor);
    workspace_.fill(0);
}

int Encoder::threshold_of_frame(std::optional<int> threshold) const {
    if (threshold) validate_packed_threshold(*threshold);
    return threshold.value_or(parameters_.effective_threshold());
}

Decoder::Decoder(const Shape& shape, Executor& executor) : shape_(shape), executor_(&executor) {
    validate(shape, "the decoder's frame");
}

}  // namespace framewire::delta
