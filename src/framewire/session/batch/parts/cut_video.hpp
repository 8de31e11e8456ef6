#pragma once

#include "framewire/session/batch/batch.hpp"
#include "framewire/session/batch/parts/stretches.hpp"
#include "framewire/session/options.hpp"

#include <functional>
#include <stop_token>
#include <string>

namespace framewire::session {

/// Makes the piece of work of a stretch, whose outputs are the whole piece's in the same order, under names of their
/// own: `name` tells stretches apart.
using StretchPiece = std::function<Piece(const Stretch& stretch, const std::string& name)>;

/// Throws Error{usage} where an output is of a kind that cannot be joined of parts.
void require_can_be_joined(const JobFiles& files);

/// Cuts `whole`, whose job reads `input`, into pieces of the stretches of its source, called 00000 and so on. Joined,
/// they are the outputs of an uncut run; its film gets what goes along with the source's pictures, the sound where
/// `audio` is true. One part, which is all of it, where the source cannot be cut or is no longer than a stretch.
/// Throws as frame_times_of() does.
CutPiece cut_video(const Piece& whole, const InputOptions& input, const Cutting& cutting, bool audio,
                   const std::stop_token& stop, const StretchPiece& piece);

}  // namespace framewire::session
