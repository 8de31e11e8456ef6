// Malformed bodies of control requests over HTTP: read as allowed values, or refused with a message.

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
    using namespace framewire::session;
    const std::string_view body(reinterpret_cast<const char*>(data), size);
    read_or_refuse([&] { return web::read_chain_order(body).size() <= size; });
    read_or_refuse([&] {
        const auto order = web::read_control_order(body, {});
        const auto* set = std::get_if<Adjustment>(&order);
        return !set || (std::abs(set->brightness) <= 255 && set->gain >= 0 && set->gain <= 8);
    });
    read_or_refuse([&] {
        const auto threshold = web::read_threshold_order(body).threshold.value_or(0);
        return threshold >= 0 && threshold <= 254;
    });
    read_or_refuse([&] { return web::read_zones_order(body).size() <= max_live_zones; });
    read_or_refuse([&] { return web::read_record_order(body), true; });
    read_or_refuse([&] { return web::read_empty_order(body), true; });
    return 0;
}
