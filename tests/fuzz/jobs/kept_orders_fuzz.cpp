// Fuzzes files of persisted state: malformed ones must be refused, or parsed so that writing them again gives the same.

#include "framewire/core/error.hpp"
#include "framewire/jobs/persisted_state.hpp"
#include "framewire/net/address.hpp"

#include <cstdint>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace framewire;
    try {
        const auto cameras = jobs::parse_state({reinterpret_cast<const char*>(data), size}, "fuzz");
        for (const auto& [name, settings] : cameras) {
            if (!net::is_stream_name(name)) std::abort();
            if (settings.threshold.value_or(0) < 0 || settings.threshold.value_or(0) > 254) std::abort();
            service::check_zones(settings.zones.zones, settings.zones.drawn_on);
        }
        const auto json = jobs::to_json(cameras);
        if (jobs::to_json(jobs::parse_state(json, "again")) != json) std::abort();
    } catch (const Error& error) {
        if (error.code() != ErrorCode::config) std::abort();
    }
    return 0;
}
