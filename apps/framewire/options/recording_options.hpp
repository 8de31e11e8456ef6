#pragma once

#include "command_line/command_line.hpp"

#include "framewire/media/media.hpp"

namespace framewire::app {

/// `--segment-time` and `--keep`: a recording in pieces.
void add_recording_options(Command& command, SegmentOptions& segments);

/// `--no-audio`.
Option add_no_audio(Command& command, bool& no_audio);

}  // namespace framewire::app
