#include "framewire/session/live/command.hpp"

#include "framewire/core/parameters/fields.hpp"
#include "framewire/core/text/credentials.hpp"
#include "framewire/core/text/shell_quoted.hpp"
#include "framewire/detect/detector.hpp"
#include "framewire/media/media.hpp"

#include <fmt/format.h>

#include <variant>

namespace framewire::session {
namespace {

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
    const std::string& text() const { return text_; }

private:
    std::string text_;
};

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

void add_detector(CommandLineText& line, const DetectorOptions& detector) {
    line.flag("--detect");
    line.differences(detector_fields(), detector.parameters, "detect-threshold");
    if (const auto* zones = std::get_if<std::vector<Zone>>(&detector.region))
        for (const auto& zone : *zones)
            line.option("--roi", fmt::format("{},{},{},{}", zone.x, zone.y, zone.width, zone.height));
    if (const auto* picture = std::get_if<std::string>(&detector.region)) line.option("--roi-mask", *picture);
}

}  // namespace

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
    return line.text();
}

}  // namespace framewire::session
