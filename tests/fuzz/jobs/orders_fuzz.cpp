// Fuzzes bodies of control requests over HTTP: malformed ones must be parsed as allowed values, or refused with a
// message.

#include "framewire/core/error.hpp"
#include "framewire/service/web/json.hpp"

#include <cstdlib>

namespace {

template <class Read>
void read_or_refuse(const Read& read) {
    try {
        if (!read()) std::abort();
    } catch (const framewire::Error& error) {
        if (error.code() != framewire::ErrorCode::usage) std::abort();
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace framewire;
    using namespace framewire::service;
    const std::string_view body(reinterpret_cast<const char*>(data), size);
    read_or_refuse([&] { return web::read_chain_request(body).size() <= size; });
    read_or_refuse([&] {
        const auto request = web::read_control_request(body, {});
        const auto* set = std::get_if<Adjustment>(&request);
        return !set || (std::abs(set->brightness) <= 255 && set->gain >= 0 && set->gain <= 8);
    });
    read_or_refuse([&] {
        const auto threshold = web::read_threshold_request(body).threshold.value_or(0);
        return threshold >= 0 && threshold <= 254;
    });
    read_or_refuse([&] { return web::read_zones_request(body).size() <= max_live_zones; });
    read_or_refuse([&] { return web::read_record_request(body), true; });
    read_or_refuse([&] { return web::read_empty_request(body), true; });
    return 0;
}
