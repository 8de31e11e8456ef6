#include "framewire/plan/chain.hpp"
#include "framewire/core/error.hpp"
#include "framewire/core/json_text.hpp"
#include "framewire/core/parameters.hpp"
#include "framewire/core/text.hpp"
#include "framewire/filters/adjust.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

// Grammar of a chain: filters separated by commas, each with a name and an optional parameter list (see
// core/parameters.cpp):
//
//     chain  = [ filter { "," filter } ]
//     filter = name [ ( "=" | ":" ) list ]

namespace framewire {
namespace {

constexpr std::string_view spaces = " \t\r\n";

std::vector<std::string_view> names(std::span<const FilterInfo> registry) {
    std::vector<std::string_view> all;
    for (const auto& filter : registry) all.push_back(filter.name);
    return all;
}

// Parses a chain of filters. read_parameters() parses the parameters of each filter.
class ChainReader {
public:
    ChainReader(std::string_view text, std::span<const FilterInfo> registry) : text_(text), registry_(registry) {}

    // Parses filters separated by commas. Blank text is an empty chain.
    std::vector<FilterCall> read() {
        std::vector<FilterCall> calls;
        skip_spaces();
        if (at_end()) return calls;
        do {
            skip_spaces();
            if (calls.size() == max_chain_filters) fail_here(fmt::format("more than {} filters", max_chain_filters));
            auto call = read_call();
            const auto text = text_.substr(call.offset, at_ - call.offset);
            call.text = text.substr(0, text.find_last_not_of(spaces) + 1);
            calls.push_back(std::move(call));
        } while (take(','));
        return calls;
    }

private:
    // Parses one filter with its parameters.
    FilterCall read_call() {
        FilterCall call;
        call.offset = at_;
        const auto name = read_name();
        if (name.empty()) fail_here(fmt::format("the name of a filter is missing; filters: {}", all_filters()));
        const auto found =
            std::find_if(registry_.begin(), registry_.end(), [&](const auto& filter) { return filter.name == name; });
        if (found == registry_.end())
            fail_at(call.offset,
                    fmt::format("unknown filter {}; filters: {}{}", in_quotes(name), all_filters(), meant_by(name)));
        call.filter = &*found;
        const ParameterSyntax syntax{.who = fmt::format("filter '{}'", name),
                                     .parameters = found->parameters,
                                     .main_behind = fmt::format("{}=", name),
                                     .unnamed = found->unnamed,
                                     .end = ","};
        const bool main_first = !at_end() && text_[at_] == '=';  // after "name:" a key is required
        if (take('=') || take(':'))
            call.values = read_parameters(text_, at_, syntax, main_first,
                                          [&](std::size_t at, const std::string& problem) { fail_at(at, problem); });
        if (const auto missing = missing_parameter(syntax, call.values); !missing.empty())
            fail_at(call.offset, missing);
        call.values.add_defaults(found->parameters);
        return call;
    }

    // Parses everything up to a delimiter, so that a message can show the whole of an unknown name.
    std::string_view read_name() {
        const auto begin = at_;
        at_ = std::min(text_.find_first_of("=:,", at_), text_.size());
        const auto name = text_.substr(begin, at_ - begin);
        return name.substr(0, name.find_last_not_of(spaces) + 1);
    }

    // Returns the suggestion for an unknown name. Users of FFmpeg expect a name to mean what it means there.
    std::string meant_by(std::string_view name) const {
        // The suggested filter may have parameters: "flip=vertical".
        const auto like = filter_like_ffmpegs(name);
        const auto own = like.substr(0, like.find('='));
        const bool is_there = std::ranges::any_of(registry_, [&](const auto& filter) { return filter.name == own; });
        return is_there ? fmt::format("; did you mean '{}'?", like) : did_you_mean(name, names(registry_));
    }

    std::string all_filters() const { return fmt::format("{}", fmt::join(names(registry_), ", ")); }

    bool at_end() const { return at_ == text_.size(); }
    bool take(char c) {
        if (at_end() || text_[at_] != c) return false;
        ++at_;
        return true;
    }
    void skip_spaces() { at_ = std::min(text_.find_first_not_of(spaces, at_), text_.size()); }

    [[noreturn]] void fail_at(std::size_t offset, std::string_view problem) const {
        fail_in_chain(text_, offset, problem);
    }
    [[noreturn]] void fail_here(std::string_view problem) const { fail_at(at_, problem); }

    std::string_view text_;
    std::span<const FilterInfo> registry_;
    std::size_t at_ = 0;
};

}  // namespace

// Columns are counted in characters, not bytes.
void fail_in_chain(std::string_view text, std::size_t offset, std::string_view problem) {
    throw ExcerptError(ErrorCode::usage, fmt::format("filters, column {}: {}", column(text, offset), problem),
                       pointed_out(text, offset));
}

// When the filter that changes the rate is found, all filters collected so far move to `before`.
RateSplit split_at_rate(const Chain& chain) {
    RateSplit split{chain, {chain.text, {}}, {chain.text, {}}};
    for (const auto& call : chain.calls) {
        if (call.filter->rate) {
            if (split.rate)
                fail_in_chain(chain.text, call.offset,
                              fmt::format("filter '{}': a chain may change the rate only once", call.filter->name));
            split.rate = call.filter->rate(call.values);
            split.rate_text = call.text;
            split.before.calls = std::move(split.after.calls);
            split.after.calls.clear();
        } else {
            split.after.calls.push_back(call);
        }
    }
    return split;
}

Chain parse_chain(std::string_view text, std::span<const FilterInfo> registry) {
    return {std::string(text), ChainReader(text, registry).read()};
}

}  // namespace framewire

// All filters, one per line, in alphabetical order.
// clang-format off
#define FRAMEWIRE_FILTERS(filter) \
    filter(adjust) \
    filter(binarize) \
    filter(boxes) \
    filter(close) \
    filter(compare) \
    filter(convolve) \
    filter(crop) \
    filter(deinterlace) \
    filter(dilate) \
    filter(erode) \
    filter(flip) \
    filter(fps) \
    filter(gaussian) \
    filter(gray) \
    filter(heatmap) \
    filter(mean) \
    filter(median) \
    filter(mosaic) \
    filter(noise) \
    filter(open) \
    filter(pad) \
    filter(rotate) \
    filter(scale) \
    filter(text)
// clang-format on

namespace framewire {

// The source file of each filter defines NAME_info().
#define FRAMEWIRE_DECLARE(name) FilterInfo name##_info();
FRAMEWIRE_FILTERS(FRAMEWIRE_DECLARE)
#undef FRAMEWIRE_DECLARE

// The registry is built on first use, by calling the info function of each filter.
const std::vector<FilterInfo>& filter_registry() {
#define FRAMEWIRE_CALL(name) name##_info(),
    static const std::vector<FilterInfo> filters = {FRAMEWIRE_FILTERS(FRAMEWIRE_CALL)};
#undef FRAMEWIRE_CALL
    return filters;
}

namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 24> names_of_ffmpeg{{
    {"avgblur", "mean"},
    {"blur", "gaussian"},
    {"boxblur", "mean"},
    {"bwdif", "deinterlace"},
    {"convolution", "convolve"},
    {"dilation", "dilate"},
    {"drawtext", "text"},
    {"eq", "adjust"},
    {"erosion", "erode"},
    {"framerate", "fps"},
    {"gblur", "gaussian"},
    {"grayscale", "gray"},
    {"hflip", "flip"},
    {"hstack", "compare"},
    {"hue", "adjust"},
    {"pixelize", "mosaic"},
    {"resize", "scale"},
    {"sharpen", "convolve=matrix='0 -1 0 -1 5 -1 0 -1 0'"},
    {"threshold", "binarize"},
    {"transpose", "rotate=90"},
    {"unsharp", "convolve=matrix='0 -1 0 -1 5 -1 0 -1 0'"},
    {"vflip", "flip=vertical"},
    {"vstack", "compare=above"},
    {"yadif", "deinterlace"},
}};

}  // namespace

std::string_view filter_like_ffmpegs(std::string_view name) {
    const auto found = std::ranges::find(names_of_ffmpeg, name, [](const auto& names) { return names.first; });
    return found == names_of_ffmpeg.end() ? std::string_view() : found->second;
}

// The settings of the chain's own `adjust` are applied first, so that the source takes what it can from the start.
CameraControls::CameraControls(const Chain& chain, Source& source, SetInChain set_in_chain)
    : source_(&source), set_in_chain_(std::move(set_in_chain)) {
    const auto adjust = std::find_if(chain.calls.begin(), chain.calls.end(),
                                     [](const auto& call) { return call.filter->name == "adjust"; });
    if (adjust != chain.calls.end()) set(adjustment_from(adjust->values));
}

// The source applies the settings for which it has controls. The chain's `adjust`, if there is one, applies the rest.
Adjustment CameraControls::set(const Adjustment& wanted) {
    adjust_terms(wanted);  // validates first, so that nothing changes if a setting is not allowed
    const std::lock_guard lock(mutex_);
    const auto rest = source_->set_adjustment(wanted);
    return set_in_chain_(rest) ? Adjustment{} : rest;
}

namespace {

using ListedJson = nlohmann::ordered_json;
using ParameterType = ParameterInfo::Type;

// Returns the name of a parameter type in JSON.
std::string_view name_of(ParameterType type) {
    switch (type) {
        case ParameterType::integer: return "integer";
        case ParameterType::real: return "real";
        case ParameterType::flag: return "flag";
        case ParameterType::choice: return "choice";
        case ParameterType::size: return "size";
        case ParameterType::rate: return "rate";
        case ParameterType::text: break;
    }
    return "text";
}

// Converts a parameter's value to the JSON type that matches the parameter.
ListedJson typed(ParameterType type, std::string_view text) {
    if (type == ParameterType::integer) return number_in<std::int64_t>(text).value();
    if (type == ParameterType::real) return number_in<double>(text).value();
    if (type == ParameterType::flag) return text == "1";
    return text;
}

// Returns a limit as JSON; null means infinity, which JSON cannot represent.
ListedJson limit(double number) { return std::isfinite(number) ? ListedJson(number) : ListedJson(nullptr); }

// Returns one parameter as a JSON object.
ListedJson listed(const ParameterInfo& parameter) {
    // Optional parameters have no default, and required ones must be given.
    const bool has_default = !is_required(parameter) && !parameter.optional;
    ListedJson json{{"name", parameter.name}, {"help", parameter.help}, {"type", name_of(parameter.type)}};
    json["required"] = is_required(parameter);
    json["default"] = has_default ? typed(parameter.type, parameter.default_value) : ListedJson(nullptr);
    if (!parameter.choices.empty()) {
        for (const auto choice : parameter.choices) json["choices"].push_back(typed(parameter.type, choice));
    } else if (parameter.type == ParameterType::integer || parameter.type == ParameterType::size) {
        json["minimum"] = static_cast<std::int64_t>(parameter.minimum);
        json["maximum"] = static_cast<std::int64_t>(parameter.maximum);
    } else if (parameter.type == ParameterType::real) {
        json["minimum"] = limit(parameter.minimum);
        json["maximum"] = limit(parameter.maximum);
    }
    json["allowed"] = allowed_values(parameter);
    json["odd_only"] = parameter.odd_only;
    json["repeatable"] = parameter.repeatable;
    return json;
}

ListedJson listed(std::span<const ParameterInfo> parameters) {
    auto json = ListedJson::array();
    for (const auto& parameter : parameters) json.push_back(listed(parameter));
    return json;
}

ListedJson listed(const FilterInfo& filter) {
    return {{"name", filter.name},
            {"summary", filter.summary},
            {"needs_previous", filter.needs_previous},
            {"examples", filter.examples},
            {"parameters", listed(std::span<const ParameterInfo>(filter.parameters))}};
}

}  // namespace

std::string to_json(std::span<const ParameterInfo> parameters) { return json_text(listed(parameters)); }
std::string to_json(const FilterInfo& filter) { return json_text(listed(filter)); }

std::string filters_json() {
    auto json = ListedJson::array();
    for (const auto& filter : filter_registry()) json.push_back(listed(filter));
    return json_text(json);
}

namespace {

// Returns the name of a filter from its text in a chain.
std::string_view name_of(std::string_view text) { return text.substr(0, text.find_first_of("= \t\n")); }

// Returns one switch per filter; those that cannot be switched state the reason.
std::vector<FilterSwitch> switches_of(const Chain& chain, const Shape& frame) {
    std::vector<FilterSwitch> switches;
    // Filters before a change of the rate stay on, because the pipeline around the rate change depends on whether there
    // are any.
    const auto changes_rate = [](const FilterCall& call) { return static_cast<bool>(call.filter->rate); };
    const auto rated = std::ranges::find_if(chain.calls, changes_rate);
    bool before_rate = rated != chain.calls.end();
    auto shape = frame;
    for (std::size_t index = 0; index < chain.calls.size(); ++index) {
        const auto& call = chain.calls[index];
        const auto& join = call.filter->original;
        const auto result = naming_place(chain, call, [&] {
            return join ? join->output_shape(call.values, shape, frame) : call.filter->output_shape(call.values, shape);
        });
        FilterSwitch one{.text = call.text};
        if (changes_rate(call)) {
            one.fixed_because = "it changes the number of frames";
            before_rate = false;
        } else if (before_rate) {
            one.fixed_because = std::string("it comes before ") + std::string(rated->filter->name);
        } else if (result != shape) {
            one.fixed_because = "it changes the size from " + to_string(shape) + " to " + to_string(result);
        }
        switches.push_back(std::move(one));
        shape = result;
    }
    return switches;
}

}  // namespace

// Pairs each filter of the new chain with at most one filter of the old chain.
std::vector<std::size_t> numbers_of_off(std::span<const FilterSwitch> before, std::span<const FilterSwitch> now) {
    std::vector<bool> gone(before.size()), known(now.size());
    std::vector<std::size_t> numbers;
    const auto pair_up = [&](const auto& are_one) {
        for (std::size_t to = 0; to < now.size(); ++to)
            for (std::size_t from = 0; from < before.size() && !known[to]; ++from) {
                if (gone[from] || !are_one(before[from], now[to])) continue;
                gone[from] = known[to] = true;
                if (!before[from].on && now[to].fixed_because.empty()) numbers.push_back(to + 1);
            }
    };
    pair_up([](const auto& a, const auto& b) { return a.text == b.text; });
    pair_up([](const auto& a, const auto& b) { return name_of(a.text) == name_of(b.text); });
    return numbers;
}

ChainSwitches::ChainSwitches(Chain chain, const Shape& frame)
    : chain_(std::move(chain)), switches_(switches_of(chain_, frame)) {}

// The new switches are computed before the mutex is locked, because computing them can throw.
void ChainSwitches::take(Chain chain, const Shape& frame) {
    auto switches = switches_of(chain, frame);
    const std::lock_guard lock(mutex_);
    for (const auto number : numbers_of_off(switches_, switches)) switches[number - 1].on = false;
    chain_ = std::move(chain);
    switches_ = std::move(switches);
}

std::vector<FilterSwitch> ChainSwitches::all() const {
    const std::lock_guard lock(mutex_);
    return switches_;
}

void ChainSwitches::set(std::size_t number, bool on) {
    const std::lock_guard lock(mutex_);
    if (number < 1 || number > switches_.size())
        fail(ErrorCode::usage, "there is no filter {}; the chain has {}", number, switches_.size());
    auto& one = switches_[number - 1];
    if (!one.fixed_because.empty())
        fail(ErrorCode::usage, "filter {} ({}) cannot be switched on or off: {}", number, one.text, one.fixed_because);
    one.on = on;
}

// Filters that are off are left out; the others keep their values.
Chain ChainSwitches::active() const {
    const std::lock_guard lock(mutex_);
    Chain active{chain_.text, {}};
    for (std::size_t index = 0; index < switches_.size(); ++index)
        if (switches_[index].on) active.calls.push_back(chain_.calls[index]);
    return active;
}

}  // namespace framewire
