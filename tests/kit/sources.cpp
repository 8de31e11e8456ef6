#include "kit/sources.hpp"

namespace framewire::kit {

const char* const sources_path = FRAMEWIRE_SOURCES;

}  // namespace framewire::kit
