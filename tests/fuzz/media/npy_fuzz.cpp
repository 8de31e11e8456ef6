// Fuzzes NumPy files: malformed ones must be refused, or read with as many values as their shape has.

#include "framewire/core/error.hpp"
#include "framewire/media/npy.hpp"

#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace framewire;
    try {
        const auto array = parse_npy({data, size}, "fuzz");
        std::uint64_t values = 1;
        for (const auto side : array.shape) values *= static_cast<std::uint64_t>(side);
        if (values != array.values.size()) std::abort();
    } catch (const Error&) {
    }
    return 0;
}
