#pragma once

namespace framewire::e2e {

// Absolute paths of this build. Only places.cpp is compiled with them, so that ccache can share all other objects
// between folders.
extern const char* const program_path;        ///< path of the framewire program
extern const char* const test_programs_path;  ///< folder of test-camera and similar programs

}  // namespace framewire::e2e
