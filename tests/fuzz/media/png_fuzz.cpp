// Fuzzes PNG files: malformed ones must be refused when they are opened or read.

#include "fuzz/memory_file.hpp"

#include "framewire/core/buffer.hpp"
#include "framewire/core/error.hpp"
#include "framewire/media/image_formats.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace framewire;
    const fuzz::MemoryFile file(data, size);
    try {
        const auto source = open_png_source(file.path(), {.max_pixels = 4096});
        HostImage image(source->info().shape);
        FrameTime time;
        while (source->read(image.view(), time)) {
        }
    } catch (const Error&) {
    }
    return 0;
}
