#include "framewire/pipeline/chain.hpp"

#include "framewire/pipeline/excerpt.hpp"
#include "framewire/pipeline/nearest_name.hpp"
#include "framewire/pipeline/parameter_check.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace framewire {
namespace {

constexpr std::string_view spaces = " \t\r\n";

bool is_key_character(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

std::vector<std::string_view> names(std::span<const FilterInfo> registry) {
    std::vector<std::string_view> all;
    for (const auto& filter : registry) all.push_back(filter.name);
    return all;
}

std::vector<std::string_view> names(const std::vector<ParameterInfo>& parameters) {
    std::vector<std::string_view> all;
    for (const auto& parameter : parameters) all.push_back(parameter.name);
    return all;
}

class ChainReader {
public:
    ChainReader(std::string_view text, std::span<const FilterInfo> registry) : text_(text), registry_(registry) {}

    std::vector<FilterCall> read() {
        std::vector<FilterCall> calls;
        skip_spaces();
        if (at_end()) return calls;
        do {
            skip_spaces();
            if (calls.size() == max_chain_filters) fail_here(fmt::format("more than {} filters", max_chain_filters));
            calls.push_back(read_call());
        } while (take(','));
        return calls;
    }

private:
    struct Value {
        std::string text;
        std::size_t offset = 0;
    };

    FilterCall read_call() {
        FilterCall call;
        call.offset = at_;
        const auto name = read_name();
        if (name.empty()) fail_here(fmt::format("the name of a filter is missing; filters are {}", all_filters()));
        const auto found =
            std::find_if(registry_.begin(), registry_.end(), [&](const auto& filter) { return filter.name == name; });
        if (found == registry_.end())
            fail_at(call.offset, fmt::format("no filter {}; filters are {}{}", in_quotes(name), all_filters(),
                                             did_you_mean(name, names(registry_))));
        call.filter = &*found;
        std::vector<bool> given(found->parameters.size());
        bool first = !at_end() && peek() == '=';  // behind "name:" a key is needed
        if (take('=') || take(':')) {
            do {
                read_parameter(call, given, std::exchange(first, false));
            } while (take(':'));
        }
        add_defaults(call, given);
        return call;
    }

    void read_parameter(FilterCall& call, std::vector<bool>& given, bool first) {
        const auto& filter = *call.filter;
        skip_spaces();
        const auto offset = at_;
        if (filter.parameters.empty()) fail_at(offset, fmt::format("filter '{}' takes no parameters", filter.name));
        std::size_t index = 0;
        if (const auto key = read_key(); !key.empty()) {
            index = find_parameter(filter, key, offset);
        } else if (!first) {
            fail_at(offset,
                    fmt::format("filter '{}': only the value right behind '{}=' may go without a key; keys are {}",
                                filter.name, filter.name, fmt::join(names(filter.parameters), ", ")));
        }
        const auto& parameter = filter.parameters[index];
        if (given[index] && !parameter.repeatable)
            fail_at(offset, fmt::format("filter '{}': '{}' is given twice", filter.name, parameter.name));
        given[index] = true;

        auto value = read_value(filter, parameter);
        if (const auto problem = problem_with(parameter, value.text); !problem.empty())
            fail_at(value.offset, fmt::format("filter '{}': {} {} {}; allowed is {}{}", filter.name, parameter.name,
                                              in_quotes(value.text), problem, allowed_values(parameter),
                                              did_you_mean(value.text, parameter.choices)));
        call.values.add(std::string(parameter.name), std::move(value.text));
    }

    std::size_t find_parameter(const FilterInfo& filter, std::string_view key, std::size_t offset) const {
        const auto& parameters = filter.parameters;
        const auto found =
            std::find_if(parameters.begin(), parameters.end(), [&](const auto& one) { return one.name == key; });
        if (found == parameters.end())
            fail_at(offset,
                    fmt::format("filter '{}' has no parameter {}; its parameters are {}{}", filter.name, in_quotes(key),
                                fmt::join(names(parameters), ", "), did_you_mean(key, names(parameters))));
        return static_cast<std::size_t>(found - parameters.begin());
    }

    void add_defaults(FilterCall& call, const std::vector<bool>& given) const {
        for (std::size_t index = 0; index < given.size(); ++index) {
            const auto& parameter = call.filter->parameters[index];
            if (given[index]) continue;
            if (is_required(parameter))
                fail_at(call.offset, fmt::format("filter '{}' needs '{}', {}", call.filter->name, parameter.name,
                                                 allowed_values(parameter)));
            if (!parameter.repeatable || !parameter.default_value.empty())
                call.values.add(std::string(parameter.name), std::string(parameter.default_value));
        }
    }

    // A filter's name: all up to what ends one, so that a message can show the whole of a wrong one.
    std::string_view read_name() {
        const auto begin = at_;
        at_ = std::min(text_.find_first_of("=:,", at_), text_.size());
        const auto name = text_.substr(begin, at_ - begin);
        return name.substr(0, name.find_last_not_of(spaces) + 1);
    }

    // A key and the '=' behind it; empty, and nothing read, when a value begins here.
    std::string_view read_key() {
        auto end = at_;
        while (end < text_.size() && is_key_character(text_[end])) ++end;
        const auto equals = std::min(text_.find_first_not_of(spaces, end), text_.size());
        if (end == at_ || equals == text_.size() || text_[equals] != '=') return {};
        const auto key = text_.substr(at_, end - at_);
        at_ = equals + 1;
        return key;
    }

    // Up to the next ':' or ',' that is neither quoted nor escaped, without the spaces around it that are neither.
    Value read_value(const FilterInfo& filter, const ParameterInfo& parameter) {
        skip_spaces();
        Value value{{}, at_};
        std::size_t kept = 0;  // length up to the last character that is no plain space
        bool any = false;
        while (!at_end() && peek() != ':' && peek() != ',') {
            const auto offset = at_;
            const char c = text_[at_++];
            if (c == '\'') {
                const auto close = text_.find('\'', at_);
                if (close == text_.npos)
                    fail_at(offset, fmt::format("filter '{}': the quote opened here is never closed", filter.name));
                value.text += text_.substr(at_, close - at_);
                at_ = close + 1;
            } else if (c == '\\') {
                if (at_end())
                    fail_at(offset, fmt::format("filter '{}': a backslash with nothing behind it", filter.name));
                value.text += text_[at_++];
            } else {
                value.text += c;
                if (spaces.find(c) != spaces.npos) continue;
            }
            kept = value.text.size();
            any = true;
        }
        value.text.resize(kept);
        if (!any)
            fail_at(value.offset, fmt::format("filter '{}': the value of '{}' is missing; allowed is {}", filter.name,
                                              parameter.name, allowed_values(parameter)));
        return value;
    }

    std::string all_filters() const { return fmt::format("{}", fmt::join(names(registry_), ", ")); }

    bool at_end() const { return at_ == text_.size(); }
    char peek() const { return text_[at_]; }
    bool take(char c) {
        if (at_end() || peek() != c) return false;
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

void fail_in_chain(std::string_view text, std::size_t offset, std::string_view problem) {
    throw ExcerptError(ErrorCode::usage, fmt::format("filters, column {}: {}", column(text, offset), problem),
                       pointed_out(text, offset));
}

Chain parse_chain(std::string_view text, std::span<const FilterInfo> registry) {
    return {std::string(text), ChainReader(text, registry).read()};
}

}  // namespace framewire
