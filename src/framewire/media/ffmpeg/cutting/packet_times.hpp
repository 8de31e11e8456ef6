#pragma once

#include "framewire/media/sources/frame_times.hpp"

namespace framewire {

/// The times of a video's frames by those of its packets, all of which are read and none decoded. Unknown where packets
/// tell no times, go back in time, hold fields or are broken. A key frame is an entry where all packets before it are
/// of earlier frames. Throws Error{no_input} where the file cannot be opened.
FrameTimes packet_times(const MediumFile& medium, const SourceOptions& options);

}  // namespace framewire
