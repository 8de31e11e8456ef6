#include "framewire/session/live/live_settings.hpp"

#include "framewire/core/error.hpp"
#include "framewire/core/log.hpp"
#include "framewire/core/text/excerpt.hpp"
#include "framewire/delta/packing/packed.hpp"
#include "framewire/delta/rate/rate_control.hpp"
#include "framewire/filters/adjust/adjust.hpp"
#include "framewire/filters/text/glyphs/font.hpp"
#include "framewire/pipeline/chain/chain.hpp"
#include "framewire/session/relay/relay.hpp"

namespace framewire::session {
namespace {

// The only filter parameter that can name a file; a test checks this against the filter registry.
constexpr std::string_view font_parameter = "font";

}  // namespace

delta::EncoderParameters encoder_with(const BroadcastOptions& asked, const LiveSettings& ordered) {
    auto encoder = asked.encoder;
    if (ordered.mode) encoder.mode = *ordered.mode;
    if (ordered.threshold) encoder.threshold = *ordered.threshold;
    delta::validate_packed_threshold(encoder.threshold);
    if (!asked.rate) return encoder;
    if (encoder.mode == delta::Mode::lossless)
        fail(ErrorCode::usage, "a bitrate does not go with the mode lossless; exact and bounded are allowed");
    delta::validate(*asked.rate, encoder.threshold);
    return encoder;
}

// Persisted settings that no longer fit are dropped; they do not prevent the server from starting.
LiveSettings fitting(const BroadcastOptions& asked, LiveSettings ordered) {
    const auto& name = asked.server.stream;
    if (relayed_stream(asked.input.source) && ordered != LiveSettings{}) {
        log_warning("{}: it is forwarded as it comes; what was ordered of it before is left out", name);
        return {};
    }
    try {
        encoder_with(asked, ordered);
    } catch (const Error& error) {
        log_warning("{}: the threshold and the mode that were ordered before are left out: {}", name, error.what());
        ordered.threshold.reset();
        ordered.mode.reset();
    }
    return ordered;
}

BroadcastOptions options_with(const BroadcastOptions& asked, const LiveSettings& ordered) {
    auto options = asked;
    if (ordered.chain) options.input.filters = *ordered.chain;
    options.encoder = encoder_with(asked, ordered);
    options.zones = ordered.zones;
    return options;
}

Adjustment adjustment_of_chain(const std::string& chain) {
    for (const auto& call : parse_chain(chain).calls)
        if (call.filter->name == "adjust") return adjustment_from(call.values);
    return {};
}

void check_ordered_chain(const std::string& chain) {
    for (const auto& call : parse_chain(chain).calls)
        for (const auto& parameter : call.filter->parameters) {
            if (parameter.name != font_parameter || !call.values.is_given(parameter.name)) continue;
            const auto& text = call.values.text(parameter.name);
            if (names_font_file(text))
                fail(ErrorCode::usage, "font {}: a file of the server's machine; a family's name is allowed here",
                     in_quotes(text));
        }
}

}  // namespace framewire::session
