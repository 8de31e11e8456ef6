#pragma once

#include "framewire/session/batch/batch.hpp"
#include "framewire/session/batch/parts/stretches.hpp"
#include "framewire/session/options.hpp"

#include <functional>
#include <stop_token>
#include <string>

namespace framewire::session {

/// Makes the piece of work for one time range. Its outputs correspond to those of the whole piece, in the same order;
/// `name` makes their paths unique.
using StretchPiece = std::function<Piece(const Stretch& stretch, const std::string& name)>;

/// Throws Error{usage} if an output has a format that cannot be joined from parts.
void require_can_be_joined(const JobFiles& files);

/// Splits `whole`, whose job reads `input`, into one part per time range of its source, named 00000, 00001 and so on.
/// The joined outputs equal those of a run without splitting; the video that replaces the source gets the other
/// contents of its file, and its sound if `audio`. Returns a single part if the source cannot be split or is too short.
/// Throws as frame_times_of() does.
CutPiece cut_video(const Piece& whole, const InputOptions& input, const Cutting& cutting, bool audio,
                   const std::stop_token& stop, const StretchPiece& piece);

}  // namespace framewire::session
