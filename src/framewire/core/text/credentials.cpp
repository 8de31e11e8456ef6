#include "framewire/core/text/credentials.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace framewire {
namespace {

constexpr auto npos = std::string_view::npos;
constexpr std::string_view blanks = " \t\r\n\v\f", mark = "://", hidden = "***";

// What a key holds that names a secret: rather too many values are hidden than one too few.
constexpr std::array<std::string_view, 16> secret_words{"pas", "pw",   "token", "secret", "key",    "auth",
                                                        "sig", "cred", "sess",  "jwt",    "bearer", "streamid",
                                                        "md5", "hash", "hmac",  "otp"};

char small(char letter) { return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter; }

bool is_digit(char letter) { return letter >= '0' && letter <= '9'; }

bool names_a_secret(std::string_view key) {
    std::string lower(key);
    std::ranges::transform(lower, lower.begin(), small);
    return std::ranges::any_of(secret_words, [&](auto word) { return lower.find(word) != npos; });
}

// Whether what follows the host's name can be a port; where it is none, it is part of a password.
bool may_have_port(std::string_view authority) {
    const auto after_address = authority.starts_with('[') ? authority.find(']') : 0;
    const auto colon = authority.find(':', after_address == npos ? 0 : after_address);
    return colon == npos || std::ranges::all_of(authority.substr(colon + 1), is_digit);
}

// Where in `rest`, what a URL has behind "://", the '@' is that ends user name and password; npos without them.
std::size_t end_of_user(std::string_view rest) {
    const auto authority = rest.substr(0, rest.find_first_of("/?#"));
    const auto at = authority.rfind('@');
    // "user:pass/word@host": no valid URL, but a password for that.
    return at == npos && !may_have_port(authority) ? rest.rfind('@') : at;
}

// Hides the values of secrets in `rest`.
std::string with_hidden_values(std::string_view rest) {
    std::string shown;
    while (!rest.empty()) {
        const auto separator = rest.find_first_of("?&;#");
        const auto begin = separator == npos ? rest.size() : separator + 1;
        shown += rest.substr(0, begin);
        rest.remove_prefix(begin);
        const auto key = rest.substr(0, rest.find_first_of("=?&;#"));
        if (key.size() == rest.size() || rest[key.size()] != '=' || !names_a_secret(key)) continue;
        shown.append(key).append("=").append(hidden);
        const bool is_last = rest.find('&') == npos;
        if (is_last && rest.ends_with(':')) shown += ':';  // of the sentence that goes on behind the address
        rest.remove_prefix(is_last ? rest.size() : rest.find('&'));
    }
    return shown;
}

}  // namespace

std::string without_credentials(std::string_view text) {
    std::string shown;
    for (;;) {
        const auto found = text.find(mark);
        if (found == npos) return shown.append(text);
        shown += text.substr(0, found + mark.size());
        text.remove_prefix(found + mark.size());

        auto rest = text.substr(0, text.find_first_of(blanks));
        if (const auto at = end_of_user(rest); at != npos && at > 0) {
            shown += hidden;
            text.remove_prefix(at);
            rest.remove_prefix(at);
        }
        // Up to a URL within this one, which has its own turn.
        rest = rest.substr(0, rest.find(mark));
        shown += with_hidden_values(rest);
        text.remove_prefix(rest.size());
    }
}

}  // namespace framewire
