#include "framewire/session/web/json/orders.hpp"

#include "framewire/core/error.hpp"
#include "framewire/core/parameters/fields.hpp"
#include "framewire/delta/delta.hpp"
#include "framewire/session/web/json/strict_json.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

namespace framewire::session::web {
namespace {

using OrderJson = nlohmann::ordered_json;

// Members of a control request that are real numbers.
constexpr std::array<std::pair<std::string_view, double Adjustment::*>, 3> factors{
    {{"contrast", &Adjustment::contrast}, {"saturation", &Adjustment::saturation}, {"gain", &Adjustment::gain}}};

// Reads the values through the parser of the `adjust` filter, which reports values out of range.
Adjustment adjustment_of(const OrderJson& json, Adjustment now) {
    std::string values;
    for (const auto& [name, value] : json.items()) {
        if (!value.is_number()) fail(ErrorCode::usage, "{} is {}; allowed is a number", name, value.type_name());
        values += fmt::format("{}{}={}", values.empty() ? "" : ":", name, value.dump());
    }
    // Takes only the values that were named; the others stay as they are now.
    const auto given = std::get<Adjustment>(parse_control("adjust " + values));
    if (json.contains("brightness")) now.brightness = given.brightness;
    for (const auto& [name, member] : factors)
        if (json.contains(name)) now.*member = given.*member;
    return now;
}

// Checks a value against the encoder's parameter of that name.
void check_of_encoder(std::string_view name, const std::string& text) {
    for (const auto& info : delta::encoder_fields().infos())
        if (info.name == name)
            if (const auto refusal = refusal_of(info, text); !refusal.empty()) fail(ErrorCode::usage, "{}", refusal);
}

}  // namespace

std::string read_chain_order(std::string_view body) {
    const auto json = read_object(body);
    check_names(json, "the order", {"chain"});
    return text_of(json, "chain");
}

ControlOrder read_control_order(std::string_view body, const Adjustment& now) {
    const auto json = read_object(body);
    if (json.contains("filter") || json.contains("on")) {
        check_names(json, "the order of a filter", {"filter", "on"});
        // more than any chain has; the camera knows its own filters
        constexpr int most_filters = 1000;
        return FilterOrder{static_cast<std::size_t>(integer_of(json, "filter", 1, most_filters)), flag_of(json, "on")};
    }
    check_names(json, "the order", {"brightness", "contrast", "saturation", "gain", "filter", "on"});
    return adjustment_of(json, now);
}

ThresholdOrder read_threshold_order(std::string_view body) {
    const auto json = read_object(body);
    check_names(json, "the order", {"threshold", "mode"});
    ThresholdOrder order;
    if (json.contains("threshold")) {
        // Wider than the encoder's range, so that the encoder's own message is shown.
        constexpr int beyond = 100'000;
        order.threshold = integer_of(json, "threshold", -beyond, beyond);
        check_of_encoder("threshold", fmt::to_string(*order.threshold));
    }
    if (json.contains("mode")) {
        const auto text = text_of(json, "mode");
        check_of_encoder("mode", text);
        for (const auto mode : {delta::Mode::exact, delta::Mode::lossless, delta::Mode::bounded})
            if (delta::to_string(mode) == text) order.mode = mode;
    }
    return order;
}

std::vector<LiveZone> read_zones_order(std::string_view body) {
    const auto json = read_object(body);
    check_names(json, "the order", {"zones"});
    const auto& all = json["zones"];
    if (!all.is_array()) fail(ErrorCode::usage, "zones is {}; allowed is an array of zones", all.type_name());
    if (all.size() > max_live_zones) fail(ErrorCode::usage, "{} zones; {} are allowed", all.size(), max_live_zones);
    std::vector<LiveZone> zones;
    for (const auto& zone : all) {
        check_names(zone, "a zone", {"kind", "x", "y", "width", "height"});
        zones.push_back({parse_zone_kind(text_of(zone, "kind")),
                         {integer_of(zone, "x", 0, max_side_px), integer_of(zone, "y", 0, max_side_px),
                          integer_of(zone, "width", 1, max_side_px), integer_of(zone, "height", 1, max_side_px)}});
    }
    return zones;
}

bool read_record_order(std::string_view body) {
    const auto json = read_object(body);
    check_names(json, "the order", {"on"});
    return flag_of(json, "on");
}

void read_empty_order(std::string_view body) {
    const auto json = read_object(body);
    if (!json.empty()) fail(ErrorCode::usage, "the order has something in it; {{}} is allowed");
}

}  // namespace framewire::session::web
