#pragma once

#include "framewire/media/sources/frame_times.hpp"

namespace framewire {

/// Times of a video's frames, taken from its packets, which are all read but not decoded. FrameTimes::unknown says why
/// if packets have no times, go back in time, contain fields, or are corrupt. A key frame is an entry point if all
/// packets before it belong to earlier frames. Throws Error{no_input} if the file cannot be opened.
FrameTimes packet_times(const MediumFile& medium, const SourceOptions& options);

}  // namespace framewire
