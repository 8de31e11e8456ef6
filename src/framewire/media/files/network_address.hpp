#pragma once

#include <string>

namespace framewire {

/// A URL as FFmpeg takes it. `{file:PATH}` and `{env:NAME}` in `text` become the first line of a file and a variable of
/// the environment, percent-encoded, so that no secret stands on a command line or in a name that is shown. Blanks are
/// percent-encoded too. Throws Error{no_input} if there is no such file or variable, and Error{usage} if a value is
/// empty, longer than 4096 bytes, holds control characters, or is one that the protocol cannot take.
std::string network_address(const std::string& text);

}  // namespace framewire
