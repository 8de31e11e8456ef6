// Rebuilds the command line of a served camera from its options, e.g. to restart it with the settings made at the page.
#include "framewire/session/live/command.hpp"

#include "framewire/core/parameters/fields.hpp"
#include "framewire/core/text/credentials.hpp"
#include "framewire/core/text/shell_quoted.hpp"
#include "framewire/detect/detector.hpp"
#include "framewire/media/media.hpp"
#include "framewire/pipeline/chain/chain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <variant>

namespace framewire::session {
namespace {

// Builds a command line. Values are quoted for the shell; empty values and values equal to the defaults are left out.
class CommandLineText {
public:
    explicit CommandLineText(std::string begin) : text_(std::move(begin)) {}

    void flag(std::string_view name, bool given = true) {
        if (given) text_ += fmt::format(" {}", name);
    }
    void option(std::string_view name, std::string_view value) {
        if (!value.empty()) text_ += fmt::format(" {} {}", name, shell_word(value));
    }
    template <class Number>
    void number(std::string_view name, const std::optional<Number>& value) {
        if (value) option(name, fmt::to_string(*value));
    }
    // Adds one option per parameter that differs from its default.
    template <class Aggregate>
    void differences(const ParameterFields<Aggregate>& fields, const Aggregate& values,
                     std::string_view threshold = "threshold") {
        fields.for_differences(values, Aggregate{}, [&](const auto& info, const auto& text, const auto&) {
            const auto name = info.name == "threshold" ? threshold : info.name;
            if (info.type != ParameterInfo::Type::flag)
                option(fmt::format("--{}", name), text);
            else
                flag(fmt::format("--{}{}", text == "1" ? "" : "no-", name));
        });
    }
    void comment(std::string_view text) { text_ += fmt::format("  # {}", text); }
    const std::string& text() const { return text_; }

private:
    std::string text_;
};

// Options of the source and its filters.
void add_input(CommandLineText& line, const InputOptions& input) {
    line.option("-f", input.filters);
    line.option("--matrix", input.matrix);
    line.option("--range", input.range);
    if (input.start_seconds > 0) line.option("--start", fmt::to_string(input.start_seconds));
    line.number("--duration", input.duration_seconds);
    if (input.reconnect && *input.reconnect != SourceOptions::for_ever)
        line.option("--reconnect", fmt::format("{:g}", 1e-3 * static_cast<double>(input.reconnect->count())));
    line.number("--max-pixels", input.max_pixels);
    line.number("--max-memory", input.max_memory_bytes);
    line.flag("--loop", input.loop);
    line.flag("--panel", input.panel);
}

// Options of the detector that differ from the defaults.
void add_detector(CommandLineText& line, const DetectorOptions& detector) {
    line.flag("--detect");
    line.differences(detector_fields(), detector.parameters, "detect-threshold");
    if (const auto* zones = std::get_if<std::vector<Zone>>(&detector.region))
        for (const auto& zone : *zones)
            line.option("--roi", fmt::format("{},{},{},{}", zone.x, zone.y, zone.width, zone.height));
    if (const auto* picture = std::get_if<std::string>(&detector.region)) line.option("--roi-mask", *picture);
}

// Returns an `adjust` call with the values that are not neutral.
std::string adjust_text(const Adjustment& set) {
    const Adjustment nothing;
    std::string values;
    const auto add = [&](std::string_view name, const auto& value, const auto& usual) {
        if (value != usual) values += fmt::format("{}{}={}", values.empty() ? "" : ":", name, value);
    };
    add("brightness", set.brightness, nothing.brightness);
    add("contrast", set.contrast, nothing.contrast);
    add("saturation", set.saturation, nothing.saturation);
    add("gain", set.gain, nothing.gain);
    return values.empty() ? "adjust" : "adjust=" + values;
}

// Returns a shell comment that lists the zones.
std::string zones_text(const LiveZones& zones) {
    std::string text;
    for (const auto& [kind, area] : zones.zones)
        text += fmt::format("{}{} {},{},{},{}", text.empty() ? "" : "; ", to_string(kind), area.x, area.y, area.width,
                            area.height);
    return fmt::format("no option sets zones: {} (of {}x{}); --state FILE keeps them", text, zones.drawn_on.width,
                       zones.drawn_on.height);
}

}  // namespace

std::string chain_in_force(const std::string& chain, std::span<const FilterSwitch> filters,
                           const std::optional<Adjustment>& adjustment) {
    const auto calls = parse_chain(chain).calls;
    std::string on;
    const auto add = [&](std::string_view filter) { on.append(on.empty() ? "" : ",").append(filter); };
    const bool adjusts = std::ranges::any_of(calls, [](const auto& call) { return call.filter->name == "adjust"; });
    // If the chain has no `adjust`, the panel's own one runs first, or directly after the change of the rate.
    const auto changes_rate = [](const auto& call) { return static_cast<bool>(call.filter->rate); };
    bool owes_own = adjustment && !adjusts;
    if (owes_own && std::ranges::none_of(calls, changes_rate)) {
        add(adjust_text(*adjustment));
        owes_own = false;
    }
    bool is_set = !adjustment;
    for (std::size_t number = 0; number < calls.size(); ++number) {
        const bool sets = calls[number].filter->name == "adjust" && !std::exchange(is_set, true);
        if (number < filters.size() && !filters[number].on) continue;
        if (sets) {
            add(adjust_text(*adjustment));
            continue;
        }
        const auto begin = calls[number].offset;
        const auto end = number + 1 < calls.size() ? calls[number + 1].offset : chain.size();
        const auto text = std::string_view(chain).substr(begin, end - begin);
        add(text.substr(0, text.find_last_not_of(number + 1 < calls.size() ? ", \t\n" : " \t\n") + 1));
        if (owes_own && changes_rate(calls[number])) {
            add(adjust_text(*adjustment));
            owes_own = false;
        }
    }
    return on;
}

std::string command_of(const BroadcastOptions& options, const std::string& kept_in) {
    CommandLineText line("framewire serve");
    line.option("-i", fmt::format("{}={}", options.server.stream, address_without_credentials(options.input.source)));
    add_input(line, options.input);
    line.differences(delta::encoder_fields(), options.encoder);
    if (options.rate) {
        line.option("--max-bitrate", fmt::format("{:.0f}", options.rate->bits_per_second));
        line.number("--threshold-max", options.rate->threshold_max);
    }
    line.number("--refresh", options.refresh_seconds);
    if (options.hurries)
        line.option("--rate", "max");
    else if (options.input.fps > 0)
        line.option("--rate", fmt::to_string(options.input.fps));
    if (options.detector) add_detector(line, *options.detector);
    line.option("--record", options.record);
    line.option("--state", kept_in);
    if (kept_in.empty() && !options.zones.zones.empty()) line.comment(zones_text(options.zones));
    return line.text();
}

}  // namespace framewire::session
