#pragma once

#include <functional>
#include <string>

namespace framewire::net {

/// Returns the content of a small file: a token, a key or a certificate. Throws Error{no_input} if the file cannot be
/// read or is longer than 64 KiB.
std::string read_small_file(const std::string& path);

/// Like read_small_file(), but logs a warning if the group or others may read the file.
std::string read_secret_file(const std::string& path);

/// Returns the path of a file that this user's programs keep between runs: `name` in $XDG_STATE_HOME/framewire, or in
/// ~/.local/state/framewire if that variable is not set to an absolute path. Throws Error{config} if HOME is not set
/// either.
std::string kept_file(const std::string& name);

/// Writes the text that `make` returns to a file that only its owner may read, and creates missing folders with mode
/// 0700. The file appears complete or not at all, even after a crash. Returns false and changes nothing if the file
/// exists. Throws Error{io} if the file cannot be written, and whatever `make` throws.
bool keep_secret(const std::string& path, const std::function<std::string()>& make);

}  // namespace framewire::net
