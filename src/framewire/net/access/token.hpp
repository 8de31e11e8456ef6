#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace framewire::net {

/// Throws Error{usage} unless the token has 16 to 255 visible ASCII characters without blanks. The message names
/// `where`, the source of the token, and never the token itself.
void validate_token(std::string_view token, std::string_view where);

/// Returns the token that is the only line of a file; the line may end with LF or CRLF. Throws Error{no_input} if the
/// file cannot be read, and Error{usage} as validate_token() does.
std::string read_token_file(const std::string& path);

/// Returns a random token of 32 characters (192 bits from the system's generator, in the URL-safe Base64 alphabet).
/// Throws Error{config} if the system has no random numbers.
std::string make_token();

/// Compares tokens in constant time. It compares SHA-256 digests, which have the same length for all tokens, so the
/// time reveals nothing about the secret.
class TokenCheck {
public:
    /// If `token` is empty, viewers need no token.
    explicit TokenCheck(std::string_view token);

    /// Returns true if a token is needed.
    bool needed() const { return needed_; }
    /// Returns true if `given` equals the token.
    bool matches(std::string_view given) const;

    /// A SHA-256 digest.
    using Digest = std::array<std::uint8_t, 32>;
    /// Returns the digest of a token. Also used to remember wrong tokens without storing them.
    static Digest digest_of(std::string_view token);

private:
    bool needed_;
    Digest digest_;
};

}  // namespace framewire::net
