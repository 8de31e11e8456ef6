// Fuzzes model files: malformed ones must be read, or refused with a message.

#include "framewire/core/error.hpp"
#include "framewire/media/window_model_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace framewire;
    try {
        // The window has one block, so the model has 4 weights.
        parse_window_model(
            {data, size}, "fuzz",
            {.hog = {.cell = 4, .bins = 4, .norm = HogNorm::l2, .block = 1}, .width_px = 4, .height_px = 4});
    } catch (const Error&) {
    }
    return 0;
}
