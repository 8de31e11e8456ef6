// Fuzzes EXIF data, and TIFF files, which begin in the same way: malformed ones must give an orientation or none.

#include "framewire/media/orientation.hpp"

#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace framewire;
    const int number = exif_orientation({data, size});
    if (number < 0 || number > 8) std::abort();
    const Shape stored{1, 3, 5, 3};
    const auto orientation = orientation_of_exif(number);
    if (orientation.turned(orientation.turned(stored)) != stored) std::abort();
    if (number == 0 && !orientation.upright()) std::abort();
    return 0;
}
