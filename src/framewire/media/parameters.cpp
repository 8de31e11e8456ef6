#include "framewire/media/parameters.hpp"

#include "framewire/core/error.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>

namespace framewire {
namespace {

constexpr std::int64_t largest_term = 1'000'000'000;  // of a rate

std::optional<std::int64_t> parse_integer(std::string_view text) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

// Digits, with at most three after a point.
std::optional<std::int64_t> parse_thousandths(std::string_view text) {
    const auto point = text.find('.');
    const auto whole = parse_integer(text.substr(0, point));
    if (!whole || *whole < 0 || *whole > 1'000'000'000) return std::nullopt;
    std::int64_t fraction = 0;
    if (point != std::string_view::npos) {
        const auto digits = text.substr(point + 1);
        const auto value = parse_integer(digits);
        if (!value || *value < 0 || digits.size() > 3 || digits.front() == '-') return std::nullopt;
        fraction = *value;
        for (auto size = digits.size(); size < 3; ++size) fraction *= 10;
    }
    return *whole * 1000 + fraction;
}

std::string join(std::initializer_list<std::string_view> words) {
    std::string text;
    for (const auto word : words) {
        if (!text.empty()) text += ", ";
        text += word;
    }
    return text;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    for (;;) {
        const auto end = text.find(separator);
        parts.push_back(text.substr(0, end));
        if (end == std::string_view::npos) return parts;
        text.remove_prefix(end + 1);
    }
}

}  // namespace

std::optional<Rational> parse_rate(std::string_view text) {
    Rational rate;
    if (const auto slash = text.find('/'); slash != std::string_view::npos) {
        const auto numerator = parse_integer(text.substr(0, slash));
        const auto denominator = parse_integer(text.substr(slash + 1));
        if (!numerator || !denominator) return std::nullopt;
        rate = {*numerator, *denominator};
    } else {
        const auto value = parse_thousandths(text);
        if (!value) return std::nullopt;
        rate = {*value, 1000};
    }
    if (rate.numerator > largest_term || rate.denominator > largest_term) return std::nullopt;
    return claimed_rate(rate.numerator, rate.denominator);
}

std::optional<Rational> claimed_rate(std::int64_t numerator, std::int64_t denominator) {
    if (numerator < 1 || denominator < 1) return std::nullopt;
    const auto reduced = [](const Rational& rate) {
        const auto divisor = std::gcd(rate.numerator, rate.denominator);
        return Rational{rate.numerator / divisor, rate.denominator / divisor};
    };
    const auto rate = reduced({numerator, denominator});
    if (rate.value() < 0.001 || rate.value() > 1000) return std::nullopt;
    if (rate.numerator <= largest_term && rate.denominator <= largest_term) return rate;
    return reduced({std::llround(rate.value() * 1000), 1000});
}

Parameters::Parameters(std::string source, std::string_view text, std::initializer_list<std::string_view> keys)
    : source_(std::move(source)) {
    if (text.empty()) return;
    for (const auto part : split(text, ':')) {
        const auto equals = part.find('=');
        const auto key = part.substr(0, equals);
        if (equals == std::string_view::npos || std::find(keys.begin(), keys.end(), key) == keys.end())
            fail(ErrorCode::usage, "{}: '{}' is none of its parameters; they are {}, each as key=value", source_, part,
                 join(keys));
        if (this->text(key)) fail(ErrorCode::usage, "{}: {} is given twice", source_, key);
        values_.emplace_back(key, part.substr(equals + 1));
    }
}

std::pair<std::string, Parameters> Parameters::after_path(std::string source, std::string_view text,
                                                          std::initializer_list<std::string_view> keys) {
    // The parameters begin at the first colon that a known key and '=' follow.
    std::size_t begin = std::string_view::npos;
    for (auto colon = text.find(':'); colon != std::string_view::npos; colon = text.find(':', colon + 1)) {
        const auto rest = text.substr(colon + 1);
        const auto equals = rest.find('=');
        if (equals != std::string_view::npos &&
            std::find(keys.begin(), keys.end(), rest.substr(0, equals)) != keys.end()) {
            begin = colon;
            break;
        }
    }
    const auto parameters = begin == std::string_view::npos ? std::string_view{} : text.substr(begin + 1);
    return {std::string(text.substr(0, begin)), Parameters(std::move(source), parameters, keys)};
}

const std::string* Parameters::text(std::string_view key) const {
    const auto found =
        std::find_if(values_.begin(), values_.end(), [&](const auto& pair) { return pair.first == key; });
    return found == values_.end() ? nullptr : &found->second;
}

std::int64_t Parameters::integer(std::string_view key, std::int64_t otherwise, std::int64_t minimum,
                                 std::int64_t maximum) const {
    const auto* value = text(key);
    if (!value) return otherwise;
    const auto number = parse_integer(*value);
    if (!number || *number < minimum || *number > maximum)
        fail(ErrorCode::usage, "{}: {}={}; allowed are whole numbers from {} to {}", source_, key, *value, minimum,
             maximum);
    return *number;
}

std::int64_t Parameters::thousandths(std::string_view key, std::int64_t otherwise, std::int64_t maximum) const {
    const auto* value = text(key);
    if (!value) return otherwise;
    const auto number = parse_thousandths(*value);
    if (!number || *number > maximum)
        fail(ErrorCode::usage, "{}: {}={}; allowed are numbers from 0 to {} with up to three decimals", source_, key,
             *value, maximum / 1000);
    return *number;
}

Rational Parameters::rate(std::string_view key, Rational otherwise) const {
    const auto* value = text(key);
    if (!value) return otherwise;
    const auto rate = parse_rate(*value);
    if (!rate)
        fail(ErrorCode::usage, "{}: {}={}; allowed are 0.001 to 1000 frames a second, as 30, 29.97 or 30000/1001",
             source_, key, *value);
    return *rate;
}

std::optional<std::pair<int, int>> Parameters::size(std::string_view key) const {
    const auto* value = text(key);
    if (!value) return std::nullopt;
    const auto cross = value->find('x');
    const auto side = [](std::string_view digits) {
        const auto number = parse_integer(digits);
        return number && *number >= 1 && *number <= max_side_px ? static_cast<int>(*number) : 0;
    };
    const auto view = std::string_view(*value);
    const int width = cross == std::string::npos ? 0 : side(view.substr(0, cross));
    const int height = cross == std::string::npos ? 0 : side(view.substr(cross + 1));
    if (!width || !height)
        fail(ErrorCode::usage, "{}: {}={}; allowed is WIDTHxHEIGHT with sides of 1 to {} pixels", source_, key, *value,
             max_side_px);
    return std::pair{width, height};
}

std::string Parameters::choice(std::string_view key, std::string_view otherwise,
                               std::initializer_list<std::string_view> choices) const {
    const auto* value = text(key);
    if (!value) return std::string(otherwise);
    if (std::find(choices.begin(), choices.end(), *value) == choices.end())
        fail(ErrorCode::usage, "{}: {}={}; allowed are {}", source_, key, *value, join(choices));
    return *value;
}

}  // namespace framewire
