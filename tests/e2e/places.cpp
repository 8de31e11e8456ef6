#include "e2e/places.hpp"

namespace framewire::e2e {

const char* const program_path = FRAMEWIRE_PROGRAM;
const char* const test_programs_path = FRAMEWIRE_TEST_PROGRAMS;

}  // namespace framewire::e2e
