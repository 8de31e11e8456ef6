#pragma once

namespace framewire::e2e {

// Absolute paths of this build. Only places.cpp is compiled with them, so that the rest is the same in any folder, as
// ccache wants it.
extern const char* const program_path;        ///< framewire
extern const char* const test_programs_path;  ///< the folder of test-camera and its like

}  // namespace framewire::e2e
