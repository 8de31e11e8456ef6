#include "framewire/service/control.hpp"
#include "framewire/core/error.hpp"
#include "framewire/core/json_text.hpp"
#include "framewire/core/parameters.hpp"
#include "framewire/core/text.hpp"
#include "framewire/filters/adjust.hpp"
#include "framewire/plan/chain.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <limits>
#include <optional>
#include <system_error>

namespace framewire::service {
namespace {

constexpr std::size_t max_controls_bytes = 64 * 1024;

// Returns the text after `word` and a space, or nullopt if it does not start with them.
std::optional<std::string_view> behind(std::string_view text, std::string_view word) {
    if (!text.starts_with(word) || text.size() <= word.size() || text[word.size()] != ' ') return std::nullopt;
    return text.substr(word.size() + 1);
}

// The text comes from a viewer, so it is made printable for the message.
[[noreturn]] void refuse_control(std::string_view text) {
    fail(ErrorCode::usage,
         "'{}' is not a control request; allowed: 'adjust brightness=10:contrast=1.5:saturation=1:gain=1' and 'filter "
         "2 off'",
         printable(text));
}

// Parses values with the `adjust` filter, which also checks their ranges.
Adjustment adjustment_of(std::string_view values) {
    const auto chain = parse_chain(fmt::format("adjust={}", values));
    if (chain.calls.size() != 1) fail(ErrorCode::usage, "'{}' does more than adjust the picture", printable(values));
    return adjustment_from(chain.calls.front().values);
}

// Parses "2 off"; `text` is the whole request, for messages.
FilterRequest filter_request_of(std::string_view text, std::string_view words) {
    FilterRequest request;
    if (take_number(words, request.number) != std::errc{} || (words != " on" && words != " off")) refuse_control(text);
    request.on = words == " on";
    return request;
}

// Converts a JSON number to int. A plain conversion would accept numbers out of range and change their value.
int whole_number(const nlohmann::json& value) {
    if (!value.is_number_integer() || std::abs(value.get<double>()) > std::numeric_limits<int>::max())
        fail(ErrorCode::usage, "the control state contains a value of type {} instead of a 32-bit integer",
             value.type_name());
    return value.get<int>();
}

}  // namespace

ControlRequest parse_control(std::string_view text) {
    if (text.size() > max_control_bytes)
        fail(ErrorCode::usage, "the control request has {} bytes; the limit is {}", text.size(), max_control_bytes);
    if (const auto values = behind(text, "adjust")) return adjustment_of(*values);
    if (const auto words = behind(text, "filter")) return filter_request_of(text, *words);
    refuse_control(text);
}

std::string to_text(const ControlRequest& request) {
    if (const auto* filter = std::get_if<FilterRequest>(&request))
        return fmt::format("filter {} {}", filter->number, filter->on ? "on" : "off");
    const auto& adjustment = std::get<Adjustment>(request);
    return fmt::format("adjust brightness={}:contrast={:.4f}:saturation={:.4f}:gain={:.4f}", adjustment.brightness,
                       adjustment.contrast, adjustment.saturation, adjustment.gain);
}

std::string to_json(const Controls& controls) {
    nlohmann::json filters = nlohmann::json::array();
    for (const auto& filter : controls.filters)
        filters.push_back({{"text", filter.text}, {"on", filter.on}, {"fixed_because", filter.fixed_because}});
    const auto& set = controls.adjustment;
    const nlohmann::json json{{"adjust",
                               {{"brightness", set.brightness},
                                {"contrast", set.contrast},
                                {"saturation", set.saturation},
                                {"gain", set.gain},
                                {"fixed_because", controls.fixed_because}}},
                              {"filters", std::move(filters)}};
    return ascii_json_text(json);
}

// Viewers do not trust a server's answer, so sizes, types and ranges are checked.
Controls parse_controls(std::string_view json) try {
    if (json.size() > max_controls_bytes)
        fail(ErrorCode::usage, "the control state has {} bytes; the limit is {}", json.size(), max_controls_bytes);
    const auto all = nlohmann::json::parse(json);
    const auto& set = all.at("adjust");
    Controls controls{.adjustment = {.brightness = whole_number(set.at("brightness")),
                                     .contrast = set.at("contrast").get<double>(),
                                     .saturation = set.at("saturation").get<double>(),
                                     .gain = set.at("gain").get<double>()},
                      .fixed_because = set.at("fixed_because").get<std::string>()};
    // throws if a value is out of range
    adjust_terms(controls.adjustment);
    const auto& filters = all.at("filters");
    if (filters.size() > max_chain_filters)
        fail(ErrorCode::usage, "the control state has {} filters; the limit is {}", filters.size(), max_chain_filters);
    for (const auto& filter : filters)
        controls.filters.push_back({.text = filter.at("text").get<std::string>(),
                                    .on = filter.at("on").get<bool>(),
                                    .fixed_because = filter.at("fixed_because").get<std::string>()});
    return controls;
} catch (const nlohmann::json::exception& error) {
    fail(ErrorCode::usage, "cannot parse the control state: {}", error.what());
}

}  // namespace framewire::service
