#include "framewire/filters/text/template.hpp"

#include "framewire/core/error.hpp"
#include "framewire/filters/text/glyphs/utf8.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <utility>

namespace framewire {
namespace {

// In the order of TextTemplate::Token, with the most characters each can be filled with.
struct TokenName {
    std::string_view name;
    std::size_t most_characters;
};
constexpr TokenName tokens[] = {{"fps", 8},    {"process_ms", 9}, {"bandwidth", 12}, {"changed", 7},
                                {"frame", 20}, {"time", 14},      {"source", 256}};
constexpr std::string_view token_list = "{fps} {process_ms} {bandwidth} {changed} {frame} {time} {source}";

// Held to what there is room for on the picture; what is no number is 0.
double held(double value, double most) { return value > 0 ? std::min(value, most) : 0; }

using Buffer = std::array<char, 64>;

template <class... Values>
std::string_view format(Buffer& buffer, fmt::format_string<Values...> text, Values&&... values) {
    const auto result = fmt::format_to_n(buffer.data(), buffer.size(), text, std::forward<Values>(values)...);
    return {buffer.data(), std::min(result.size, buffer.size())};
}

std::string_view format_bandwidth(Buffer& buffer, double bits_per_s) {
    const auto held_bits = held(bits_per_s, 999.9e9);
    if (held_bits >= 0.99995e9) return format(buffer, "{:.1f} Gb/s", held_bits / 1e9);
    if (held_bits >= 0.99995e6) return format(buffer, "{:.1f} Mb/s", held_bits / 1e6);
    return format(buffer, "{:.1f} kb/s", held_bits / 1e3);
}

std::string_view format_time(Buffer& buffer, double seconds) {
    const auto ms = static_cast<std::int64_t>(held(seconds, 9999.0 * 3600) * 1000 + 0.5);
    return format(buffer, "{}:{:02}:{:02}.{:03}", ms / 3600000, ms / 60000 % 60, ms / 1000 % 60, ms % 1000);
}

bool is_control(char32_t character) { return character < 0x20 || (character >= 0x7F && character < 0xA0); }

}  // namespace

std::optional<TextTemplate::Token> TextTemplate::token_from(std::string_view name) {
    const auto found =
        std::find_if(std::begin(tokens), std::end(tokens), [&](const auto& one) { return one.name == name; });
    return found == std::end(tokens) ? std::nullopt : std::optional(static_cast<Token>(found - std::begin(tokens)));
}

TextTemplate::TextTemplate(std::string_view text) {
    std::size_t most_characters = 0;
    while (!text.empty()) {
        if (text.front() == '{') {
            const auto close = text.find('}');
            if (close == text.npos)
                fail(ErrorCode::usage, "the text has a '{{' without a '}}'; tokens are {}, and '\\{{' is a brace",
                     token_list);
            const auto name = text.substr(1, close - 1);
            const auto token = token_from(name);
            if (!token)
                fail(ErrorCode::usage, "no token '{{{}}}'; tokens are {}, and '\\{{' is a brace", name, token_list);
            parts_.push_back(*token);
            has_tokens_ = true;
            most_characters += tokens[static_cast<std::size_t>(*token)].most_characters;
            text.remove_prefix(close + 1);
        } else {
            auto [character, bytes] = first_character(text);
            if (character == '\\') {
                const char escaped = text.size() > 1 ? text[1] : '\0';
                if (escaped != 'n' && escaped != '\\' && escaped != '{' && escaped != '}')
                    fail(ErrorCode::usage, "the text has a backslash before {}; it may stand before n, \\, {{ and }}",
                         text.size() > 1 ? fmt::format("'{}'", text.substr(1, first_character(text.substr(1)).bytes))
                                         : "nothing");
                character = escaped == 'n' ? U'\n' : static_cast<char32_t>(escaped);
                bytes = 2;
            } else if (character == '\t') {
                character = ' ';
            } else if (is_control(character) && character != '\n') {
                character = replacement_character;
            }
            parts_.push_back(character);
            ++most_characters;
            text.remove_prefix(bytes);
        }
        if (most_characters > max_text_characters)
            fail(ErrorCode::usage, "the text is too long: at most {} characters, its tokens filled in",
                 max_text_characters);
    }
    filled_.reserve(most_characters);
}

std::u32string TextTemplate::characters() const {
    std::u32string all;
    for (const auto& part : parts_) {
        if (const auto* character = std::get_if<char32_t>(&part)) {
            if (*character != '\n') all += *character;
        } else if (std::get<Token>(part) == Token::source) {
            for (char32_t c = 0x20; c < 0x100; ++c)
                if (!is_control(c)) all += c;
            all += replacement_character;
        } else {
            all += U"0123456789.: %kMGb/s";
        }
    }
    return all;
}

void TextTemplate::append(char32_t character) { filled_ += character; }

void TextTemplate::append(Token token, const FrameValues& values) {
    Buffer buffer;
    std::string_view text;
    switch (token) {
        case Token::fps: text = format(buffer, "{:.1f}", held(values.fps, 99999.9)); break;
        case Token::process_ms: text = format(buffer, "{:.2f}", held(values.process_ms, 99999.99)); break;
        case Token::bandwidth: text = format_bandwidth(buffer, values.bandwidth_bits_per_s); break;
        case Token::changed: text = format(buffer, "{:.1f} %", 100 * held(values.changed, 1)); break;
        case Token::frame: text = format(buffer, "{}", std::max<std::int64_t>(values.frame, 0)); break;
        case Token::time: text = format_time(buffer, values.time_s); break;
        case Token::source: text = values.source; break;
    }
    for (auto left = tokens[static_cast<std::size_t>(token)].most_characters; left > 0 && !text.empty(); --left) {
        const auto [character, bytes] = first_character(text);
        append(is_control(character) ? replacement_character : character);
        text.remove_prefix(bytes);
    }
}

std::u32string_view TextTemplate::fill(const FrameValues& values) {
    filled_.clear();
    for (const auto& part : parts_)
        if (const auto* character = std::get_if<char32_t>(&part))
            append(*character);
        else
            append(std::get<Token>(part), values);
    return filled_;
}

}  // namespace framewire
