// Fuzzes configurations of several cameras: malformed ones must be refused with problems that lie within the text, or
// parsed as values with which a server can be configured.

#include "framewire/core/error.hpp"
#include "framewire/jobs/configuration.hpp"
#include "framewire/net/address.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>

namespace {

void hold(bool held) {
    if (!held) std::abort();
}

void check_configuration(const framewire::jobs::Configuration& configuration, const std::string& text) {
    const auto lines = std::ranges::count(text, '\n') + std::ranges::count(text, '\r') + 1;
    for (const auto& [place, words] : configuration.problems) {
        hold(place.line >= 1 && place.line <= lines && place.column >= 1);
        hold(!words.empty());
    }
    hold(configuration.listener.viewers_limit >= 1 && configuration.listener.viewers_limit <= 10'000);
    if (!configuration.problems.empty()) return;
    hold(!configuration.cameras.empty());
    for (const auto& camera : configuration.cameras) {
        hold(framewire::net::is_stream_name(camera.server.stream));
        hold(!camera.input.source.empty());
        hold(camera.encoder.threshold >= 0 && camera.encoder.threshold <= 254);
        hold(camera.wait_for_viewers >= 0 && camera.wait_for_viewers <= 10'000);
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string text(reinterpret_cast<const char*>(data), size);
    try {
        check_configuration(framewire::jobs::parse_configuration(text, "fuzz"), text);
    } catch (const framewire::Error& error) {
        hold(error.code() == framewire::ErrorCode::config);
    }
    return 0;
}
