#pragma once

#include "framewire/media/images/sequence.hpp"
#include "framewire/media/sinks/sink_kind.hpp"

namespace framewire {

/// Returns the encoder for still images with the call's extension: 4:4:4 JPEG, WebP, TIFF or BMP.
EncodeImage still_encoder(const SinkCall& call);

}  // namespace framewire
