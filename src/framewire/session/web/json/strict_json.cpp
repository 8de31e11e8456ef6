#include "framewire/session/web/json/strict_json.hpp"

#include "framewire/core/error.hpp"
#include "framewire/core/text/excerpt.hpp"
#include "framewire/core/text/nearest_name.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace framewire::session::web {
namespace {

using OrderJson = nlohmann::ordered_json;

constexpr int deepest = 4;

// Parser callback. Refuses deep nesting and repeated names; the parser itself would keep one of several values.
class Watcher {
public:
    bool operator()(int depth, OrderJson::parse_event_t event, const OrderJson& value) {
        using Event = OrderJson::parse_event_t;
        if (depth > deepest) fail(ErrorCode::usage, "the body is nested deeper than {} levels", deepest);
        if (event == Event::object_start) names_.emplace_back();
        if (event == Event::object_end) names_.pop_back();
        if (event == Event::key && !names_.back().insert(value.get<std::string>()).second)
            fail(ErrorCode::usage, "{} is there twice", in_quotes(value.get<std::string>()));
        return true;
    }

private:
    // names seen in each open object
    std::vector<std::set<std::string>> names_;
};

// Throws with the value, if it is a number, or its type.
[[noreturn]] void refuse(std::string_view name, const OrderJson& value, std::string_view allowed) {
    fail(ErrorCode::usage, "{} is {}; allowed is {}", name,
         value.is_number() ? value.dump() : fmt::format("of the type {}", value.type_name()), allowed);
}

// Returns a member, which must exist.
const OrderJson& member(const OrderJson& object, std::string_view name) {
    const auto at = object.find(name);
    if (at == object.end()) fail(ErrorCode::usage, "'{}' is missing", name);
    return *at;
}

}  // namespace

// The library accepts repeated names and any depth; the callback rejects both while parsing.
OrderJson read_object(std::string_view body) try {
    Watcher watcher;
    auto json = OrderJson::parse(body, [&](int depth, OrderJson::parse_event_t event, OrderJson& value) {
        return watcher(depth, event, value);
    });
    if (!json.is_object()) fail(ErrorCode::usage, "the body is {}; it has to be an object", json.type_name());
    return json;
} catch (const OrderJson::parse_error& error) {
    fail(ErrorCode::usage, "the body is no JSON from byte {} on", error.byte);
} catch (const OrderJson::exception&) {
    fail(ErrorCode::usage, "the body has a number that is too large");
}

void check_names(const OrderJson& object, std::string_view what, std::initializer_list<std::string_view> allowed) {
    if (!object.is_object()) fail(ErrorCode::usage, "{} is {}; it has to be an object", what, object.type_name());
    if (object.empty()) fail(ErrorCode::usage, "{} has nothing in it; allowed are {}", what, fmt::join(allowed, ", "));
    for (const auto& [name, value] : object.items())
        if (std::find(allowed.begin(), allowed.end(), name) == allowed.end())
            fail(ErrorCode::usage, "{} has {}, which is not known; allowed are {}{}", what, in_quotes(name),
                 fmt::join(allowed, ", "), did_you_mean(name, {allowed.begin(), allowed.end()}));
}

bool flag_of(const OrderJson& object, std::string_view name) {
    const auto& value = member(object, name);
    if (!value.is_boolean()) refuse(name, value, "true or false");
    return value.get<bool>();
}

int integer_of(const OrderJson& object, std::string_view name, int minimum, int maximum) {
    const auto& value = member(object, name);
    const auto allowed = fmt::format("a whole number from {} to {}", minimum, maximum);
    if (!value.is_number_integer()) refuse(name, value, allowed);
    // Unsigned values above the signed range would become negative in get<std::int64_t>().
    const bool too_large =
        value.is_number_unsigned() && value.get<std::uint64_t>() > static_cast<std::uint64_t>(std::max(maximum, 0));
    if (too_large || value.get<std::int64_t>() < minimum || value.get<std::int64_t>() > maximum)
        fail(ErrorCode::usage, "{} {} is out of range; allowed is {}", name, value.dump(), allowed);
    return value.get<int>();
}

std::string text_of(const OrderJson& object, std::string_view name) {
    const auto& value = member(object, name);
    if (!value.is_string()) refuse(name, value, "a text");
    return value.get<std::string>();
}

}  // namespace framewire::session::web
