#pragma once

#include "framewire/media/images/sequence.hpp"
#include "framewire/media/sinks/sink_kind.hpp"

namespace framewire {

/// What makes the bytes of pictures by their ending: JPEG of 4:4:4, WebP, TIFF or BMP.
EncodeImage still_encoder(const SinkCall& call);

}  // namespace framewire
