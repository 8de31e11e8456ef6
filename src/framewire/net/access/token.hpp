#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace framewire::net {

/// Throws Error{usage} unless a token has 16 to 255 visible characters (ASCII, no blanks). `where` is where it comes
/// from; the token itself is in no message.
void validate_token(std::string_view token, std::string_view where);

/// The token in the one line of a file. Throws Error{no_input} when that cannot be read, and as validate_token().
std::string read_token_file(const std::string& path);

/// A new one of 32 characters, 192 bits of the system's generator. Throws Error{config} without that.
std::string make_token();

/// Compares tokens in a time that says nothing of them: digests of the same length, all of them.
class TokenCheck {
public:
    /// An empty token: none is needed.
    explicit TokenCheck(std::string_view token);

    bool needed() const { return needed_; }
    bool matches(std::string_view given) const;

    using Digest = std::array<std::uint8_t, 32>;  ///< SHA-256
    static Digest digest_of(std::string_view token);

private:
    bool needed_;
    Digest digest_;
};

}  // namespace framewire::net
