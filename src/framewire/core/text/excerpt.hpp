#pragma once

#include "framewire/core/error.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace framewire {

/// `text` in quotes for a message: without_credentials(), printable(), cut after 40 bytes.
std::string in_quotes(std::string_view text);

/// The number of the character at byte `offset` of a UTF-8 text, from 1.
std::size_t column(std::string_view text, std::size_t offset);

/// Two lines for the end of a message: the part of `text` around byte `offset`, printable(), and under that byte a
/// caret. Each begins with a line break.
std::string pointed_out(std::string_view text, std::size_t offset);

/// An Error whose what() ends with the lines of pointed_out(). They are told apart, for a line break in the text before
/// them is part of a name and not to be printed as one.
class ExcerptError : public Error {
public:
    ExcerptError(ErrorCode code, const std::string& text, const std::string& excerpt)
        : Error(code, text + excerpt), text_(text), excerpt_(excerpt) {}

    const std::string& text() const noexcept { return text_; }
    const std::string& excerpt() const noexcept { return excerpt_; }

private:
    std::string text_, excerpt_;
};

}  // namespace framewire
