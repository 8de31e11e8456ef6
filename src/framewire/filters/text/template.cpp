#include "framewire/filters/text/template.hpp"

#include "framewire/core/error.hpp"
#include "framewire/core/text/utf8.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <utility>

// Parsing of the text filter's template, and filling in its tokens. The constructor computes the longest text that the
// tokens can produce and reserves memory for it, so that fill() never allocates.

namespace framewire {
namespace {

// In the order of TextTemplate::Token, with the most characters that each can produce.
struct TokenName {
    std::string_view name;
    std::size_t most_characters;
};
// The widths bound what append() can produce.
constexpr TokenName tokens[] = {{"fps", 8},   {"process_ms", 9}, {"bandwidth", 12}, {"changed", 7}, {"frame", 20},
                                {"time", 14}, {"source", 256},   {"read_ms", 9},    {"send_ms", 9}};
constexpr std::string_view token_list =
    "{fps} {process_ms} {bandwidth} {changed} {frame} {time} {source} {read_ms} {send_ms} {clock} {clock:%H:%M:%S}";

// Name of the clock token, and its default format.
constexpr std::string_view clock_name = "clock", clock_default = "%Y-%m-%d %H:%M:%S";
constexpr std::int64_t last_clock_s = 253402300799;  // end of the year 9999, because a year has four digits

// The strftime conversions that are allowed, with the most characters that each can produce.
struct Conversion {
    char letter;
    std::size_t most_characters;
};
constexpr Conversion conversions[] = {{'a', 3}, {'A', 9}, {'b', 3}, {'B', 9}, {'d', 2}, {'e', 2}, {'F', 10},
                                      {'H', 2}, {'I', 2}, {'j', 3}, {'m', 2}, {'M', 2}, {'p', 2}, {'R', 5},
                                      {'S', 2}, {'T', 8}, {'y', 2}, {'Y', 4}, {'z', 5}, {'%', 1}};
constexpr std::string_view conversion_list = "%a %A %b %B %d %e %F %H %I %j %m %M %p %R %S %T %y %Y %z %%";

// Most characters of a conversion; 0 if it is not allowed.
std::size_t most_characters_of(char conversion) {
    const auto* found = std::find_if(std::begin(conversions), std::end(conversions),
                                     [&](const auto& one) { return one.letter == conversion; });
    return found == std::end(conversions) ? 0 : found->most_characters;
}

// The local time, clamped to the years that four digits can show.
std::tm local_time(std::int64_t seconds) {
    const auto time = static_cast<std::time_t>(std::clamp<std::int64_t>(seconds, 0, last_clock_s - 86400));
    std::tm parts{};
    localtime_r(&time, &parts);
    return parts;
}

// Clamps to what fits the token's width; NaN becomes 0.
double held(double value, double most) { return value > 0 ? std::min(value, most) : 0; }

using Buffer = std::array<char, 64>;

// Formats into a buffer without allocating; cuts off what does not fit.
template <class... Values>
std::string_view format(Buffer& buffer, fmt::format_string<Values...> text, Values&&... values) {
    const auto result = fmt::format_to_n(buffer.data(), buffer.size(), text, std::forward<Values>(values)...);
    return {buffer.data(), std::min(result.size, buffer.size())};
}

// Bits per second in kb/s, Mb/s or Gb/s. The limits make values that round up to 1000.0 use the next unit.
std::string_view format_bandwidth(Buffer& buffer, double bits_per_s) {
    const auto held_bits = held(bits_per_s, 999.9e9);
    if (held_bits >= 0.99995e9) return format(buffer, "{:.1f} Gb/s", held_bits / 1e9);
    if (held_bits >= 0.99995e6) return format(buffer, "{:.1f} Mb/s", held_bits / 1e6);
    return format(buffer, "{:.1f} kb/s", held_bits / 1e3);
}

// Hours, minutes, seconds and milliseconds.
std::string_view format_time(Buffer& buffer, double seconds) {
    const auto ms = static_cast<std::int64_t>(held(seconds, 9999.0 * 3600) * 1000 + 0.5);
    return format(buffer, "{}:{:02}:{:02}.{:03}", ms / 3600000, ms / 60000 % 60, ms / 1000 % 60, ms % 1000);
}

// C0 and C1 control characters, and DEL.
bool is_control(char32_t character) { return character < 0x20 || (character >= 0x7F && character < 0xA0); }

}  // namespace

// The token with a name, if there is one.
std::optional<TextTemplate::Token> TextTemplate::token_from(std::string_view name) {
    const auto found =
        std::find_if(std::begin(tokens), std::end(tokens), [&](const auto& one) { return one.name == name; });
    return found == std::end(tokens) ? std::nullopt : std::optional(static_cast<Token>(found - std::begin(tokens)));
}

// Reads one token, escape or character at a time, and stops as soon as the text is too long.
TextTemplate::TextTemplate(std::string_view text) {
    std::size_t most_characters = 0;
    while (!text.empty()) {
        if (text.front() == '{') {
            // A token, up to its closing brace.
            const auto close = text.find('}');
            if (close == text.npos)
                fail(ErrorCode::usage, "the text has a '{{' without a '}}'; tokens are {}, and '\\{{' is a brace",
                     token_list);
            const auto name = text.substr(1, close - 1);
            if (const auto colon = name.find(':'); name.substr(0, colon) == clock_name) {
                most_characters += add_clock(colon == name.npos ? clock_default : name.substr(colon + 1));
                text.remove_prefix(close + 1);
                if (most_characters <= max_text_characters) continue;
                break;
            }
            const auto token = token_from(name);
            if (!token)
                fail(ErrorCode::usage, "no token '{{{}}}'; tokens are {}, and '\\{{' is a brace", name, token_list);
            parts_.push_back(*token);
            has_tokens_ = true;
            most_characters += tokens[static_cast<std::size_t>(*token)].most_characters;
            text.remove_prefix(close + 1);
        } else {
            // A character or an escape.
            auto [character, bytes, valid] = first_character(text);
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
        if (most_characters > max_text_characters) break;
    }
    if (most_characters > max_text_characters)
        fail(ErrorCode::usage, "the text is too long: at most {} characters, its tokens filled in",
             max_text_characters);
    filled_.reserve(most_characters);
}

std::size_t TextTemplate::add_clock(std::string_view format) {
    if (!std::exchange(has_clock_, true)) tzset();  // reads a file now, so that localtime_r need not do so later
    has_tokens_ = true;
    std::size_t most_characters = 0;
    while (!format.empty()) {
        const auto [character, bytes, valid] = first_character(format);
        format.remove_prefix(bytes);
        if (character != '%') {
            parts_.push_back(is_control(character) ? replacement_character : character);
            ++most_characters;
            continue;
        }
        const auto most = format.empty() ? 0 : most_characters_of(format.front());
        if (most == 0)
            fail(ErrorCode::usage, "the clock has '%{}'; allowed are {}",
                 format.substr(0, format.empty() ? 0 : first_character(format).bytes), conversion_list);
        parts_.push_back(ClockPart{format.front()});
        most_characters += most;
        format.remove_prefix(1);
    }
    return most_characters;
}

// A clock may show any printable ASCII character.
std::u32string TextTemplate::characters() const {
    std::u32string all;
    if (has_clock_)
        for (char32_t c = 0x20; c < 0x7F; ++c) all += c;
    for (const auto& part : parts_) {
        if (const auto* character = std::get_if<char32_t>(&part)) {
            if (*character != '\n') all += *character;
        } else if (std::holds_alternative<ClockPart>(part)) {
            continue;
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

// Formats a value into a buffer on the stack and appends its characters.
void TextTemplate::append(Token token, const FrameValues& values) {
    Buffer buffer;
    std::string_view text;
    switch (token) {
        case Token::fps: text = format(buffer, "{:.1f}", held(values.fps, 99999.9)); break;
        case Token::process_ms: text = format(buffer, "{:.2f}", held(values.process_ms, 99999.99)); break;
        case Token::read_ms: text = format(buffer, "{:.2f}", held(values.read_ms, 99999.99)); break;
        case Token::send_ms: text = format(buffer, "{:.2f}", held(values.send_ms, 99999.99)); break;
        case Token::bandwidth: text = format_bandwidth(buffer, values.bandwidth_bits_per_s); break;
        case Token::changed: text = format(buffer, "{:.1f} %", 100 * held(values.changed, 1)); break;
        case Token::frame: text = format(buffer, "{}", std::max<std::int64_t>(values.frame, 0)); break;
        case Token::time: text = format_time(buffer, values.time_s); break;
        case Token::source: text = values.source; break;
    }
    for (auto left = tokens[static_cast<std::size_t>(token)].most_characters; left > 0 && !text.empty(); --left) {
        const auto [character, bytes, valid] = first_character(text);
        append(is_control(character) ? replacement_character : character);
        text.remove_prefix(bytes);
    }
}

// One conversion of strftime. Bytes outside ASCII are reduced to seven bits.
void TextTemplate::append(ClockPart part, const std::tm& clock) {
    const char wanted[] = {'%', part.conversion, '\0'};
    char text[32];
    const auto length = std::strftime(text, sizeof text, wanted, &clock);
    const std::string_view words(text, std::min(length, most_characters_of(part.conversion)));
    for (const char letter : words) append(static_cast<char32_t>(static_cast<unsigned char>(letter) & 0x7F));
}

// The local time is computed once per frame.
std::u32string_view TextTemplate::fill(const FrameValues& values) {
    filled_.clear();
    const auto clock = has_clock_ ? local_time(values.clock_s) : std::tm{};
    for (const auto& part : parts_)
        if (const auto* character = std::get_if<char32_t>(&part))
            append(*character);
        else if (const auto* of_clock = std::get_if<ClockPart>(&part))
            append(*of_clock, clock);
        else
            append(std::get<Token>(part), values);
    return filled_;
}

}  // namespace framewire
