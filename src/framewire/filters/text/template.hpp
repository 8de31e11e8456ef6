#pragma once

#include "framewire/filters/frame_values.hpp"

#include <cstddef>
#include <ctime>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace framewire {

/// Most characters of a text in the picture, with its tokens filled in.
inline constexpr std::size_t max_text_characters = 2048;

/// Parsed text of the text filter: characters, and tokens that are filled in for each frame. Clock tokens follow
/// strftime on the local time; each conversion is a part of its own.
class TextTemplate {
public:
    /// Parses UTF-8. `\n` and a line feed end a line; `\\`, `\{` and `\}` are those characters; `{name}` is a token.
    /// `{clock:FORMAT}` is a token as well, with strftime's conversions a A b B d e F H I j m M p R S T y Y z %.
    /// Invalid UTF-8 and control characters become U+FFFD, a tab becomes a space. Throws Error{usage} on other escapes,
    /// unknown tokens or conversions, an unclosed brace, and more than max_text_characters.
    explicit TextTemplate(std::string_view text);

    /// Returns true if the text has tokens.
    bool has_tokens() const { return has_tokens_; }
    /// Every character that filled-in texts can contain; for a source's name, those of Latin-1.
    std::u32string characters() const;
    /// Returns the text with its tokens filled in; lines end with '\n'. Does not allocate. Valid until the next call.
    std::u32string_view fill(const FrameValues& values);

private:
    /// In the order of the names in template.cpp.
    enum class Token { fps, process_ms, bandwidth, changed, frame, time, source, read_ms, send_ms };
    /// One strftime conversion of a clock.
    struct ClockPart {
        char conversion;
    };
    /// A part of the text: a character, a token, or a conversion.
    using Part = std::variant<char32_t, Token, ClockPart>;
    /// The token with a name, if there is one.
    static std::optional<Token> token_from(std::string_view name);
    /// Appends to the filled-in text.
    void append(char32_t character);
    void append(Token token, const FrameValues& values);
    void append(ClockPart part, const std::tm& clock);
    /// Adds the parts of `{clock:FORMAT}`. Returns the most characters that they produce.
    std::size_t add_clock(std::string_view format);

    std::vector<Part> parts_;
    bool has_tokens_ = false, has_clock_ = false;
    std::u32string filled_;
};

}  // namespace framewire
