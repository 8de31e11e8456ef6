#include "kit/sources.hpp"

#include <cstdlib>

namespace framewire::kit {

const char* const sources_path = FRAMEWIRE_SOURCES;

std::string clips_folder() {
    const char* const folder = std::getenv("FRAMEWIRE_TEST_CLIPS");
    return (folder ? std::string(folder) : std::string(sources_path) + "/src/framewire/media/ffmpeg/clips") + "/";
}

}  // namespace framewire::kit
