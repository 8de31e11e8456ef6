#pragma once

#include <functional>
#include <string>

namespace framewire::net {

/// What a small file holds: a token, a key or a certificate. Throws Error{no_input} when it cannot be read, or is
/// longer than such files are (64 KiB).
std::string read_small_file(const std::string& path);

/// The same of a file that is its owner's alone: logs a warning where others may read it.
std::string read_secret_file(const std::string& path);

/// A file that this user's programs keep between runs, in $XDG_STATE_HOME/framewire, or ~/.local/state/framewire
/// without that. Throws Error{config} where neither is known.
std::string kept_file(const std::string& name);

/// Keeps what `make` gives in a file that only its owner may read; its folder is made (0700), too. The file is whole
/// whenever it is there, also after kill -9. False, and nothing changed, where there is one already. Throws Error{io}.
bool keep_secret(const std::string& path, const std::function<std::string()>& make);

}  // namespace framewire::net
