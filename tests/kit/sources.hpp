#pragma once

namespace framewire::kit {

/// The project's folder, for tests that read source files. The path is absolute and differs between builds: only
/// sources.cpp is compiled with it, so that ccache can share all other objects between folders.
extern const char* const sources_path;

}  // namespace framewire::kit
