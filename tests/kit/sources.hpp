#pragma once

namespace framewire::kit {

/// The project's folder, where tests find what lies with the sources. An absolute path of this build: only sources.cpp
/// is compiled with it, so that the rest is the same in any folder, as ccache wants it.
extern const char* const sources_path;

}  // namespace framewire::kit
