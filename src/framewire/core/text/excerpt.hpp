#pragma once

#include "framewire/core/error.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace framewire {

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
    ExcerptError(ErrorCode code, const std::string& text, const std::string& excerpt)
        : Error(code, text + excerpt), text_(text), excerpt_(excerpt) {}

    /// The message without the caret line, and the two lines of it.
    const std::string& text() const noexcept { return text_; }
    const std::string& excerpt() const noexcept { return excerpt_; }

private:
    std::string text_, excerpt_;
};

}  // namespace framewire
