#pragma once

#include "framewire/session/options.hpp"

#include <string>
#include <string_view>

namespace framewire::session {

/// Meaning of `--rate`: the output decides, frames keep their own times, or they are passed on as soon as they are
/// available.
enum class PlayRate { by_output, own, max };

/// Parses auto, own, max or a number of frames per second. A number is stored in `options`, and the output then decides
/// when frames are passed on. Throws Error{usage} that lists `allowed` for any other text.
PlayRate take_rate(const std::string& text, std::string_view allowed, InputOptions& options);

}  // namespace framewire::session
