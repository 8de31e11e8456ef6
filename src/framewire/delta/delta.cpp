#include "framewire/delta/delta.hpp"

#include "framewire/core/error.hpp"
#include "framewire/delta/encoder_layout.hpp"

namespace framewire::delta {

Mode parse_mode(std::string_view text) {
    if (text == "exact") return Mode::exact;
    if (text == "lossless") return Mode::lossless;
    fail(ErrorCode::usage, "no mode '{}'; allowed are exact and lossless", text);
}

std::string_view to_string(Mode mode) { return mode == Mode::exact ? "exact" : "lossless"; }

Encoder::Encoder(EncoderParameters parameters, const Shape& shape, Executor& executor)
    : parameters_(parameters), shape_(shape), executor_(&executor) {
    validate(shape, "the encoder's frame");
    if (parameters.threshold < 0 || parameters.threshold > 254)
        fail(ErrorCode::usage, "threshold {}; allowed are 0 to 254", parameters.threshold);
    workspace_ =
        BackendBuffer(executor.backend() == Backend::cpu
                          ? static_cast<std::size_t>(CpuChunks(shape).per_frame * shape.frames) * sizeof(Summary)
                          : CudaWorkspace::bytes(shape),
                      executor);
    workspace_.fill(0);
}

Decoder::Decoder(const Shape& shape, Executor& executor) : shape_(shape), executor_(&executor) {
    validate(shape, "the decoder's frame");
}

}  // namespace framewire::delta
