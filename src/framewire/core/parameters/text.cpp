#include "framewire/core/parameters/text.hpp"

#include "framewire/core/error.hpp"
#include "framewire/core/text/excerpt.hpp"
#include "framewire/core/text/nearest_name.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <utility>

// Grammar of a parameter list, where `end` are the delimiters of the surrounding text:
//
//     list      = parameter { ":" parameter }
//     parameter = [ key "=" ] value
//     value     = { "'" any "'" | "\" character | character other than ":" and `end` }
//
// A value without a key is allowed only at the start, for the first parameters of the owner.

namespace framewire {
namespace {

constexpr std::string_view spaces = " \t\r\n";

bool is_key_character(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

std::vector<std::string_view> names(std::span<const ParameterInfo> parameters) {
    std::vector<std::string_view> all;
    for (const auto& parameter : parameters) all.push_back(parameter.name);
    return all;
}

// Reads one parameter list. It looks at each byte a bounded number of times, so the time is linear in the text.
class Reader {
public:
    Reader(std::string_view text, std::size_t& at, const ParameterSyntax& syntax, const ParameterFailure& fail)
        : text_(text), at_(at), syntax_(syntax), fail_(fail), given_(syntax.parameters.size()) {}

    ParameterValues read(bool main_first) {
        // Values without keys come first; each belongs to the next parameter.
        std::size_t unnamed = main_first ? std::min(syntax_.unnamed, syntax_.parameters.size()) : 0;
        std::size_t next = 0;
        do {
            if (read_one(next < unnamed ? std::optional(next) : std::nullopt)) unnamed = 0;
            ++next;
        } while (take(':'));
        return std::move(values_);
    }

private:
    struct Value {
        std::string text;
        std::size_t offset = 0;
    };

    // Reads one parameter. Returns true if it has a key; one without a key belongs to parameter `unnamed`.
    bool read_one(std::optional<std::size_t> unnamed) {
        skip_spaces();
        const auto offset = at_;
        if (syntax_.parameters.empty()) fail_at(offset, fmt::format("{} takes no parameters", syntax_.who));
        const auto key = read_key();
        if (key.empty() && !unnamed) fail_without_key(offset);
        const auto index = key.empty() ? *unnamed : find(key, offset);
        const auto& parameter = syntax_.parameters[index];
        if (given_[index] && !parameter.repeatable)
            fail_at(offset, fmt::format("{}: '{}' is given twice", syntax_.who, parameter.name));
        given_[index] = true;

        auto value = read_value(parameter);
        if (const auto refusal = refusal_of(parameter, value.text); !refusal.empty())
            fail_at(value.offset, fmt::format("{}: {}{}", syntax_.who, refusal,
                                              key.empty() ? key_that_takes(value.text, &parameter) : ""));
        values_.add(parameter.name, std::move(value.text));
        return !key.empty();
    }

    // A hint for a message if `word`, given without a key, is a choice of another parameter, such as 'overlay' of the
    // filter noise.
    std::string key_that_takes(std::string_view word, const ParameterInfo* not_this) const {
        for (const auto& parameter : syntax_.parameters)
            if (&parameter != not_this && std::ranges::find(parameter.choices, word) != parameter.choices.end())
                return fmt::format("; did you mean '{}={}'?", parameter.name, word);
        return {};
    }

    // The message depends on whether the owner allows values without keys, and on how many.
    [[noreturn]] void fail_without_key(std::size_t offset) {
        const auto part = text_.substr(at_, text_.find_first_of(":" + std::string(syntax_.end), at_) - at_);
        const auto all = fmt::format("{}", fmt::join(names(syntax_.parameters), ", "));
        if (!syntax_.main_behind.empty() && syntax_.unnamed > 1)
            fail_at(offset, fmt::format("{}: only the first {} values behind '{}' may go without keys, and none behind "
                                        "one that has; keys are {}",
                                        syntax_.who, syntax_.unnamed, syntax_.main_behind, all));
        if (!syntax_.main_behind.empty())
            fail_at(offset, fmt::format("{}: only the value right behind '{}' may go without a key; keys are {}{}",
                                        syntax_.who, syntax_.main_behind, all, key_that_takes(part, nullptr)));
        fail_at(offset, fmt::format("{}: {} is no key=value; keys are {}{}", syntax_.who, in_quotes(part), all,
                                    did_you_mean(part, names(syntax_.parameters))));
    }

    // Returns the index of the parameter called `key`; an unknown key is an error with a suggestion.
    std::size_t find(std::string_view key, std::size_t offset) const {
        const auto& parameters = syntax_.parameters;
        const auto found =
            std::find_if(parameters.begin(), parameters.end(), [&](const auto& one) { return one.name == key; });
        if (found == parameters.end())
            fail_at(offset, fmt::format("{} has no parameter {}; its parameters are {}{}", syntax_.who, in_quotes(key),
                                        fmt::join(names(parameters), ", "), did_you_mean(key, names(parameters))));
        return static_cast<std::size_t>(found - parameters.begin());
    }

    // Reads a key and the '=' after it. Returns an empty text and reads nothing if a value starts here.
    std::string_view read_key() {
        auto end = at_;
        while (end < text_.size() && is_key_character(text_[end])) ++end;
        const auto equals = std::min(text_.find_first_not_of(spaces, end), text_.size());
        if (end == at_ || equals == text_.size() || text_[equals] != '=') return {};
        const auto key = text_.substr(at_, end - at_);
        at_ = equals + 1;
        return key;
    }

    // Reads up to the next separator that is neither quoted nor escaped. Spaces at both ends are removed unless they
    // are quoted or escaped.
    Value read_value(const ParameterInfo& parameter) {
        skip_spaces();
        Value value{{}, at_};
        std::size_t kept = 0;  // length up to the last character that is not a plain space
        bool any = false;
        while (!at_end()) {
            const auto offset = at_;
            const char c = text_[at_++];
            if (c == '\'') {
                const auto close = text_.find('\'', at_);
                if (close == text_.npos)
                    fail_at(offset, fmt::format("{}: the quote opened here is never closed", syntax_.who));
                value.text += text_.substr(at_, close - at_);
                at_ = close + 1;
            } else if (c == '\\') {
                if (at_ == text_.size())
                    fail_at(offset, fmt::format("{}: a backslash with nothing behind it", syntax_.who));
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
            fail_at(value.offset, fmt::format("{}: the value of '{}' is missing; allowed is {}", syntax_.who,
                                              parameter.name, allowed_values(parameter)));
        return value;
    }

    // Returns true if a value ends here.
    bool at_end() const {
        return at_ == text_.size() || text_[at_] == ':' || syntax_.end.find(text_[at_]) != syntax_.end.npos;
    }
    // Consumes `c` if it comes next.
    bool take(char c) {
        if (at_ == text_.size() || text_[at_] != c) return false;
        ++at_;
        return true;
    }
    // Spaces around keys and values are not part of them.
    void skip_spaces() { at_ = std::min(text_.find_first_not_of(spaces, at_), text_.size()); }

    // The callback knows the text around the list and throws.
    [[noreturn]] void fail_at(std::size_t offset, const std::string& problem) const {
        fail_(offset, problem);
        fail(ErrorCode::internal, problem.c_str());  // the callback throws; it must not return
    }

    std::string_view text_;
    std::size_t& at_;
    const ParameterSyntax& syntax_;
    const ParameterFailure& fail_;
    ParameterValues values_;
    std::vector<bool> given_;
};

}  // namespace

ParameterValues read_parameters(std::string_view text, std::size_t& at, const ParameterSyntax& syntax, bool main_first,
                                const ParameterFailure& fail_at) {
    return Reader(text, at, syntax, fail_at).read(main_first);
}

std::string missing_parameter(const ParameterSyntax& syntax, const ParameterValues& values) {
    for (const auto& parameter : syntax.parameters)
        if (is_required(parameter) && !values.has(parameter.name))
            return fmt::format("{} needs '{}', {}", syntax.who, parameter.name, allowed_values(parameter));
    return {};
}

ParameterValues parse_parameters(std::string_view text, const ParameterSyntax& syntax) {
    ParameterValues values;
    if (text.find_first_not_of(spaces) != text.npos) {
        std::size_t at = 0;
        values =
            read_parameters(text, at, syntax, !syntax.main_behind.empty(),
                            [](std::size_t, const std::string& problem) { throw Error(ErrorCode::usage, problem); });
    }
    if (const auto missing = missing_parameter(syntax, values); !missing.empty())
        throw Error(ErrorCode::usage, missing);
    values.add_defaults(syntax.parameters);
    return values;
}

std::size_t end_of_path(std::string_view text, std::span<const ParameterInfo> parameters) {
    for (auto colon = text.find(':'); colon != text.npos; colon = text.find(':', colon + 1)) {
        const auto rest = text.substr(colon + 1);
        const auto key = rest.substr(0, rest.find_first_of("=:"));
        const auto is_key = [&](const auto& parameter) { return parameter.name == key; };
        if (key.size() < rest.size() && rest[key.size()] == '=' &&
            std::any_of(parameters.begin(), parameters.end(), is_key))
            return colon;
    }
    return text.size();
}

}  // namespace framewire
