// Fuzzes filter chains: malformed ones must be parsed and connected to an image, or refused with a message.

#include "framewire/core/error.hpp"
#include "framewire/plan/chain.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace framewire;
    try {
        const auto chain = parse_chain(std::string(reinterpret_cast<const char*>(data), size), filter_registry());
        // Sizes, matrices and zones are texts, which are parsed when the shapes are computed.
        Shape shape{1, 48, 64, 3};
        for (const auto& call : chain.calls) {
            const auto from = shape;
            shape = call.filter->output_shape(call.values, from);
            if (call.filter->placement) call.filter->placement(call.values, from);
        }
    } catch (const Error&) {
    }
    return 0;
}
