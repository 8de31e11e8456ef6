#pragma once

#include <string>

namespace framewire {

/// Returns the URL in the form that FFmpeg accepts. `{file:PATH}` and `{env:NAME}` in `text` are replaced by the first
/// line of a file and by an environment variable, percent-encoded, so that secrets appear neither on the command line
/// nor in displayed names. Spaces are percent-encoded too. Throws Error{no_input} if the file or variable does not
/// exist, and Error{usage} if a value is empty, longer than 4096 bytes, contains control characters, or cannot be used
/// with the protocol.
std::string network_address(const std::string& text);

}  // namespace framewire
