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

/// Most characters a text can have on the picture, its tokens filled in.
inline constexpr std::size_t max_text_characters = 2048;

/// What the text filter writes: characters, and tokens that each frame fills in. The clock's are what strftime makes of
/// the local time, of which each conversion is a part of its own.
class TextTemplate {
public:
    /// Reads UTF-8. `\n` and a line feed end a line, `\\`, `\{` and `\}` are those characters, `{name}` is a token,
    /// and so is `{clock:FORMAT}` with strftime's conversions a A b B d e F H I j m M p R S T y Y z %.
    /// Broken bytes and control characters become U+FFFD, a tab a space. Throws Error{usage} on other escapes, unknown
    /// tokens, other conversions, an open brace, and more than max_text_characters.
    explicit TextTemplate(std::string_view text);

    bool has_tokens() const { return has_tokens_; }
    /// Every character that filled in texts can have; of a source's name those of Latin-1.
    std::u32string characters() const;
    /// The text with its tokens filled in; lines end with '\n'. Allocates nothing; holds until the next call.
    std::u32string_view fill(const FrameValues& values);

private:
    enum class Token { fps, process_ms, bandwidth, changed, frame, time, source, read_ms, send_ms };
    struct ClockPart {
        char conversion;
    };
    using Part = std::variant<char32_t, Token, ClockPart>;
    static std::optional<Token> token_from(std::string_view name);
    void append(char32_t character);
    void append(Token token, const FrameValues& values);
    void append(ClockPart part, const std::tm& clock);
    /// Those of `{clock:FORMAT}`; how many characters they come to at most.
    std::size_t add_clock(std::string_view format);

    std::vector<Part> parts_;
    bool has_tokens_ = false, has_clock_ = false;
    std::u32string filled_;
};

}  // namespace framewire
