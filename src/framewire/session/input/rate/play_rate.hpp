#pragma once

#include "framewire/session/options.hpp"

#include <string>
#include <string_view>

namespace framewire::session {

/// What `--rate` says: whether frames keep their own times, or are handed on as soon as they are there.
enum class PlayRate { by_output, own, max };

/// Reads auto, own, max or so many frames a second, which `options` take and which leave the rest to the output. Throws
/// Error{usage}, saying what is `allowed`.
PlayRate take_rate(const std::string& text, std::string_view allowed, InputOptions& options);

}  // namespace framewire::session
