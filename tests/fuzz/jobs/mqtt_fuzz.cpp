// Fuzzes addresses of MQTT brokers and spool files of events: malformed ones must be refused without showing any
// password, or parsed.

#include "framewire/core/error.hpp"
#include "framewire/service/events.hpp"
#include "framewire/service/mqtt.hpp"
#include "framewire/service/mqtt_spool.hpp"
#include "fuzz/memory_file.hpp"

#include <cstdlib>
#include <string>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace framewire;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    try {
        const auto address = service::parse_mqtt_address(text);
        const auto again = service::parse_mqtt_address(service::to_string(address));
        if (again.host != address.host || again.port != address.port || again.prefix != address.prefix) std::abort();
    } catch (const Error& error) {
        if (error.code() != ErrorCode::usage) std::abort();
    }
    try {
        constexpr std::size_t limit = 5;
        const fuzz::MemoryFile file(data, size);
        service::SpoolFile spool(file.path());
        if (spool.read(limit).waiting.size() > limit) std::abort();
    } catch (const Error& error) {
        if (error.code() != ErrorCode::config) std::abort();
    }
    if (const auto event = service::read_event(text); event && event->json != text) std::abort();
    return 0;
}
