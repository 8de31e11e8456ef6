#pragma once

#include "framewire/media/media.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace framewire {

/// framewire's own camera, a still room with moving figures and sensor noise: "size=1280x720:fps=30:noise=6:objects=5:
/// seed=1:frames=N:truth=boxes.jsonl", what follows "synth:", each part optional. The same bytes for the same text on
/// every machine. `truth` is a file of one JSON line a frame with the boxes of the figures; it appears when the source
/// ends or is closed. Throws Error{usage}, or Error{io} where the truth cannot be written.
std::unique_ptr<Source> open_synth_source(std::string_view parameters, const SourceOptions& options);

/// The file that `truth` names, where it is given. Throws Error{usage}.
std::optional<std::string> synth_truth(std::string_view parameters);

}  // namespace framewire
