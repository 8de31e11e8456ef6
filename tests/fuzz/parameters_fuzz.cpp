// Sources' parameters (`raw:PATH:size=...`, `synth:...`) as nobody would write them: refused, or within what is
// allowed.

#include "framewire/core/buffer.hpp"
#include "framewire/core/error.hpp"
#include "framewire/media/parameters.hpp"
#include "framewire/media/synth/source.hpp"

#include <cstdlib>

namespace {

using namespace framewire;

void expect(bool held) {
    if (!held) std::abort();
}

template <class Body>
void taken_or_refused(Body&& body) {
    try {
        body();
    } catch (const Error& error) {
        expect(error.code() == ErrorCode::usage);
    }
}

void read_all(const Parameters& parameters) {
    taken_or_refused([&] {
        const auto size = parameters.size("size");
        expect(!size ||
               (size->first >= 1 && size->first <= max_side_px && size->second >= 1 && size->second <= max_side_px));
    });
    taken_or_refused([&] {
        const auto rate = parameters.rate("fps", {30, 1}).value();
        expect(rate >= 0.001 && rate <= 1000);
    });
    taken_or_refused([&] {
        const auto number = parameters.integer("seed", 1, -5, 1000);
        expect(number >= -5 && number <= 1000);
    });
    taken_or_refused([&] {
        const auto noise = parameters.thousandths("noise", 6'000, 50'000);
        expect(noise >= 0 && noise <= 50'000);
    });
    taken_or_refused([&] { parameters.choice("format", "bgr", {"bgr", "gray"}); });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string text(reinterpret_cast<const char*>(data), size);
    taken_or_refused([&] {
        const auto [path, parameters] =
            Parameters::after_path("fuzz", text, {"size", "fps", "seed", "noise", "format"});
        expect(text.starts_with(path));
        read_all(parameters);
    });
    // It would write files wherever the text says.
    if (text.find("truth") != std::string::npos) return 0;
    taken_or_refused([&] {
        const auto source = open_synth_source(text, {.max_pixels = 1024});
        HostImage image(source->info().shape);
        FrameTime time;
        for (int frame = 0; frame < 2; ++frame) source->read(image.view(), time);
    });
    return 0;
}
