#pragma once

#include <string>

namespace framewire::kit {

/// The project's folder, for tests that read source files. The path is absolute and differs between builds: only
/// sources.cpp is compiled with it, so that ccache can share all other objects between folders.
extern const char* const sources_path;

/// Returns the folder, with a slash, of the clips that tests of decoders read: FRAMEWIRE_TEST_CLIPS, or the one beside
/// the sources.
std::string clips_folder();

}  // namespace framewire::kit
