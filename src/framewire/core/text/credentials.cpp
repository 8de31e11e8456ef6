#include "framewire/core/text/credentials.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace framewire {
namespace {

constexpr auto npos = std::string_view::npos;
constexpr std::string_view blanks = " \t\r\n\v\f", mark = "://", hidden = "***";

// Substrings of keys that name a secret. The list errs on the side of hiding: a harmless value may be hidden too.
constexpr std::array<std::string_view, 16> secret_words{"pas", "pw",   "token", "secret", "key",    "auth",
                                                        "sig", "cred", "sess",  "jwt",    "bearer", "streamid",
                                                        "md5", "hash", "hmac",  "otp"};

// ASCII only and independent of the locale.
char small(char letter) { return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter; }

bool is_digit(char letter) { return letter >= '0' && letter <= '9'; }

// Returns true if the key of a query contains one of the words, in any case.
bool names_a_secret(std::string_view key) {
    std::string lower(key);
    std::ranges::transform(lower, lower.begin(), small);
    return std::ranges::any_of(secret_words, [&](auto word) { return lower.find(word) != npos; });
}

// Returns true if the text after the host name can be a port. If it cannot, it is part of a password.
bool may_have_port(std::string_view authority) {
    const auto after_address = authority.starts_with('[') ? authority.find(']') : 0;
    const auto colon = authority.find(':', after_address == npos ? 0 : after_address);
    return colon == npos || std::ranges::all_of(authority.substr(colon + 1), is_digit);
}

// Returns the position of the '@' that ends user name and password in `rest`, the part of a URL after "://"; npos if
// there is none.
std::size_t end_of_user(std::string_view rest) {
    const auto authority = rest.substr(0, rest.find_first_of("/?#"));
    const auto at = authority.rfind('@');
    // "user:pass/word@host" is not a valid URL, but users write such passwords.
    return at == npos && !may_have_port(authority) ? rest.rfind('@') : at;
}

// Returns true if a host name or an address can start with the character.
bool may_begin_host(char letter) {
    return is_digit(letter) || letter == '[' || (small(letter) >= 'a' && small(letter) <= 'z');
}

// The same for a URL in a sentence, where a blank either ends the URL or is part of a password: "user:pass word@host".
// `line` is the rest of the line after "://", up to the next URL.
std::size_t end_of_user_in_sentence(std::string_view line) {
    const auto word = line.substr(0, line.find_first_of(blanks));
    const auto at = end_of_user(word);
    const auto host = word.substr(at == npos ? 0 : at + 1);
    const auto host_end = host.find_first_of("/?#");
    const bool goes_on = host_end == npos || !may_have_port(host.substr(0, host_end));
    if (!goes_on || line.substr(0, line.rfind('@')).find(':') == npos) return at;
    for (auto later = line.rfind('@'); later != npos && later >= word.size(); later = line.rfind('@', later - 1))
        if (later + 1 < line.size() && may_begin_host(line[later + 1])) return later;
    return at;
}

// Appends the ranges of secret values in the queries of `rest`, which starts at `offset` of the whole text.
void add_secret_values(std::string_view rest, std::size_t offset, bool in_sentence, std::vector<TextRange>& found) {
    for (;;) {
        const auto separator = rest.find_first_of("?&;#");
        if (separator == npos) return;
        rest.remove_prefix(separator + 1);
        offset += separator + 1;
        const auto key = rest.substr(0, rest.find_first_of("=?&;#"));
        if (key.size() == rest.size() || rest[key.size()] != '=' || !names_a_secret(key)) continue;
        const auto begin = key.size() + 1;
        const auto end = std::min(rest.find('&'), rest.size());
        // A colon at the end belongs to the sentence around the address and stays.
        const bool has_colon = in_sentence && end == rest.size() && end > begin && rest.back() == ':';
        found.push_back({offset + begin, offset + end - (has_colon ? 1 : 0)});
        rest.remove_prefix(end);
        offset += end;
    }
}

// Returns the secret ranges of all URLs in a sentence.
std::vector<TextRange> credentials_in_words(std::string_view text) {
    std::vector<TextRange> found;
    for (std::size_t at = text.find(mark); at != npos; at = text.find(mark, at)) {
        at += mark.size();
        auto line = text.substr(at, text.find_first_of("\r\n", at) - at);
        // A URL inside or after this one is handled in its own iteration.
        line = line.substr(0, line.find(mark));
        if (const auto user = end_of_user_in_sentence(line); user != npos && user > 0) {
            found.push_back({at, at + user});
            at += user;
            line.remove_prefix(user);
        }
        add_secret_values(line.substr(0, line.find_first_of(blanks)), at, true, found);
    }
    return found;
}

// Replaces the given ranges, which are in order, by `***`.
std::string with_hidden(std::string_view text, const std::vector<TextRange>& secrets) {
    std::string shown;
    std::size_t at = 0;
    for (const auto& secret : secrets) {
        shown.append(text.substr(at, secret.begin - at)).append(hidden);
        at = secret.end;
    }
    return shown.append(text.substr(at));
}

}  // namespace

std::vector<TextRange> credentials_in_address(std::string_view address) {
    const auto scheme = address.find(mark);
    // Several addresses in one text, as a multiplexer takes them, are treated as a sentence.
    if (scheme == npos || address.find(mark, scheme + mark.size()) != npos) return credentials_in_words(address);
    std::vector<TextRange> found;
    auto begin = scheme + mark.size();
    auto rest = address.substr(begin);
    if (const auto user = end_of_user(rest); user != npos && user > 0) {
        found.push_back({begin, begin + user});
        begin += user;
        rest.remove_prefix(user);
    }
    add_secret_values(rest, begin, false, found);
    return found;
}

std::string without_credentials(std::string_view text) { return with_hidden(text, credentials_in_words(text)); }

std::string address_without_credentials(std::string_view address) {
    return with_hidden(address, credentials_in_address(address));
}

}  // namespace framewire
