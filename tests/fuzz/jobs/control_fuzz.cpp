// Fuzzes control requests and camera states: malformed ones must be parsed, or refused with a message.

#include "framewire/core/error.hpp"
#include "framewire/service/control.hpp"

#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace framewire;
    const std::string text(reinterpret_cast<const char*>(data), size);
    try {
        const auto request = service::parse_control(text);
        // A request that is written and parsed again has nearly the same meaning: numbers keep four decimal places.
        if (service::parse_control(service::to_text(request)).index() != request.index()) std::abort();
    } catch (const Error&) {
    }
    try {
        const auto controls = service::parse_controls(text);
        if (service::parse_controls(service::to_json(controls)) != controls) std::abort();
    } catch (const Error&) {
    }
    return 0;
}
