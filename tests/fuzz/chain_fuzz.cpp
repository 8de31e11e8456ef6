// Filter chains as nobody would write them: read or refused with a message.

#include "framewire/core/error.hpp"
#include "framewire/pipeline/chain/chain.hpp"
#include "framewire/pipeline/chain/filter_registry.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace framewire;
    try {
        parse_chain(std::string(reinterpret_cast<const char*>(data), size), filter_registry());
    } catch (const Error&) {
    }
    return 0;
}
