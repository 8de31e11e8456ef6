// Malformed control requests and camera states: read, or refused with a message.

#include "framewire/core/error.hpp"
#include "framewire/service/control.hpp"

#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace framewire;
    const std::string text(reinterpret_cast<const char*>(data), size);
    try {
        const auto order = session::parse_control(text);
        // A request that is written again means nearly the same: numbers keep four decimal places.
        if (session::parse_control(session::to_text(order)).index() != order.index()) std::abort();
    } catch (const Error&) {
    }
    try {
        const auto controls = session::parse_controls(text);
        if (session::parse_controls(session::to_json(controls)) != controls) std::abort();
    } catch (const Error&) {
    }
    return 0;
}
