#include "framewire/net/access/token.hpp"

#include "framewire/core/error.hpp"
#include "framewire/net/access/secret_file.hpp"

#include <openssl/crypto.h>
#include <openssl/sha.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace framewire::net {

namespace {

constexpr std::size_t least_token_bytes = 16, most_token_bytes = 255;
// 32 characters with 6 bits each: 192 bits.
constexpr std::size_t made_token_bytes = 32;

}  // namespace

void validate_token(std::string_view token, std::string_view where) {
    const bool visible = std::all_of(token.begin(), token.end(), [](char c) { return c > ' ' && c <= '~'; });
    if (token.size() < least_token_bytes || token.size() > most_token_bytes || !visible)
        fail(ErrorCode::usage, "{} holds no token: one line of {} to {} visible characters (ASCII, no blanks) is one",
             where, least_token_bytes, most_token_bytes);
}

std::string read_token_file(const std::string& path) {
    auto token = read_secret_file(path);
    if (token.ends_with('\n')) token.pop_back();
    if (token.ends_with('\r')) token.pop_back();
    validate_token(token, path);
    return token;
}

std::string make_token() {
    constexpr std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    std::array<std::uint8_t, made_token_bytes> random;
    if (::getentropy(random.data(), random.size()) != 0)
        fail(ErrorCode::config, "the system has no random numbers for a token: {}", std::strerror(errno));
    std::string token;
    // The alphabet has 64 characters, which divides 256, so every character is equally likely.
    for (const auto byte : random) token += alphabet[byte % alphabet.size()];
    return token;
}

TokenCheck::TokenCheck(std::string_view token) : needed_(!token.empty()), digest_(digest_of(token)) {}

bool TokenCheck::matches(std::string_view given) const {
    const auto digest = digest_of(given);
    // Constant time: std::equal would reveal the length of the common prefix.
    return CRYPTO_memcmp(digest.data(), digest_.data(), digest.size()) == 0;
}

TokenCheck::Digest TokenCheck::digest_of(std::string_view token) {
    Digest digest{};
    SHA256(reinterpret_cast<const std::uint8_t*>(token.data()), token.size(), digest.data());
    return digest;
}

}  // namespace framewire::net
