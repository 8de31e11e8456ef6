#pragma once

#include "command_line/command_line.hpp"

#include "framewire/media/media.hpp"

namespace framewire::app {

/// Adds `--segment-time` and `--keep`, which split a recording into segments.
void add_recording_options(Command& command, SegmentOptions& segments);

/// Adds `--no-audio`.
Option add_no_audio(Command& command, bool& no_audio);

}  // namespace framewire::app
