// Fuzzes source parameters (`raw:PATH:size=...`, `synth:...`): malformed ones must be refused, and accepted ones must
// be within the allowed range.

#include "framewire/core/buffer.hpp"
#include "framewire/core/error.hpp"
#include "framewire/media/sources.hpp"

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

// Checks that each accepted parameter is within its range.
void check(const SourceCall& call) {
    for (const auto& parameter : call.kind->parameters) {
        if (!call.values.has(parameter.name)) continue;
        expect(problem_with(parameter, call.values.text(parameter.name)).empty());
        if (parameter.type == ParameterInfo::Type::size) {
            const auto [width, height] = call.values.size(parameter.name);
            expect(width >= 1 && width <= max_side_px && height >= 1 && height <= max_side_px);
        } else if (parameter.type == ParameterInfo::Type::rate) {
            const auto rate = call.values.rate(parameter.name).value();
            expect(rate >= 0.001 && rate <= 1000);
        } else if (parameter.type == ParameterInfo::Type::real || parameter.type == ParameterInfo::Type::integer) {
            const auto number = call.values.real(parameter.name);
            expect(number >= parameter.minimum && number <= parameter.maximum);
        }
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string text(reinterpret_cast<const char*>(data), size);
    for (const auto* prefix : {"raw:", "v4l2:", "synth:"})
        taken_or_refused([&] {
            const auto call = parse_source(prefix + text);
            expect(text.starts_with(call.path));
            check(call);
        });
    // The parameter `truth` would write files at any path in the text, so skip it.
    if (text.find("truth") != std::string::npos) return 0;
    taken_or_refused([&] {
        const auto source = open_source("synth:" + text, {.max_pixels = 1024});
        HostImage image(source->info().shape);
        FrameTime time;
        for (int frame = 0; frame < 2; ++frame) source->read(image.view(), time);
    });
    return 0;
}
