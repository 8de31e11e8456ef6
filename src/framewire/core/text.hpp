#pragma once

#include "framewire/core/error.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace framewire {

/// Returns `text`, a URL or a sentence that contains URLs, with secrets hidden: in each URL the part before `@HOST`
/// becomes `***`, and so do the values of query keys that name a secret (`?token=`, `&password=`, `&api_key=`,
/// `&sig=` ...). Passwords that are not valid in a URL are found too, even with blanks, unless the text reads as a
/// URL followed by other words. The function is idempotent. Path components, such as the key of an RTMP stream, count
/// as names and stay.
std::string without_credentials(std::string_view text);

/// Hides secrets like without_credentials(), for a text that is exactly one address of a source or destination as the
/// user wrote it, so that blanks are part of it. Every name that is derived from an address passes through this
/// function.
std::string address_without_credentials(std::string_view address);

/// Half-open range of bytes of a text.
struct TextRange {
    std::size_t begin = 0, end = 0;
};

/// Returns the parts of an address that address_without_credentials() hides, in order.
std::vector<TextRange> credentials_in_address(std::string_view address);

/// Returns `text` in single quotes for a message: credentials hidden, made printable, cut after 40 bytes.
std::string in_quotes(std::string_view text);

/// Returns the 1-based number of the character at byte `offset` of a UTF-8 text.
std::size_t column(std::string_view text, std::size_t offset);

/// Returns two lines for the end of a message, each preceded by a line break: the part of `text` around byte `offset`,
/// made printable, and a caret line that points at that byte.
std::string pointed_out(std::string_view text, std::size_t offset);

/// An Error whose what() ends with a caret line. The two parts are kept apart because a line break in the first part
/// belongs to a name and must be escaped when it is printed.
class ExcerptError : public Error {
public:
    /// `excerpt` is the caret line with the line above it.
    ExcerptError(ErrorCode code, const std::string& text, const std::string& excerpt)
        : Error(code, text + excerpt), text_(text), excerpt_(excerpt) {}

    /// The message without the excerpt.
    const std::string& text() const noexcept { return text_; }
    /// The two lines of the excerpt.
    const std::string& excerpt() const noexcept { return excerpt_; }

private:
    std::string text_, excerpt_;
};

/// Returns the candidate that `name` was probably meant to be: the one with the fewest letters to change, add, remove
/// or swap with their neighbour (optimal string alignment distance). If several are equally near, returns the first;
/// if more than half of the longer name's letters would have to change, an empty text. Names above 64 bytes match
/// nothing.
std::string_view nearest_name(std::string_view name, std::span<const std::string_view> candidates);

/// Returns "; did you mean 'NAME'?" for the end of a message, or an empty text if no candidate is near.
std::string did_you_mean(std::string_view name, std::span<const std::string_view> candidates);

/// Returns `text`, a message for someone on another machine, with each absolute path cut to its last component. A path
/// that contains blanks is recognised as a whole only in quotes or brackets. URLs stay as they are.
std::string without_paths(std::string_view text);

/// Returns `text` in a form that is safe to print on one line of a terminal, a log or a window title. Names of files,
/// cameras and streams come from others and can contain escape sequences, line breaks that forge a line, or
/// bidirectional controls. Control characters and bytes that are not valid UTF-8 become escapes such as `\x1b`; U+0080
/// to U+009F, the bidirectional controls (U+061C, U+200E, U+200F, U+202A to U+202E, U+2066 to U+2069) and the line
/// separators U+2028 and U+2029 become `\u{202e}`. Everything else stays, including the backslash.
std::string printable(std::string_view text);

/// Applies printable() to each line of a text whose line breaks are genuine.
std::string printable_lines(std::string_view text);

/// Returns `text` as one word of a POSIX shell, in single quotes.
std::string shell_quoted(std::string_view text);

/// Returns `text` unquoted if every character is safe in a shell, else as shell_quoted() does.
std::string shell_word(std::string_view text);

}  // namespace framewire
