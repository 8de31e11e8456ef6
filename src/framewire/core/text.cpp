#include "framewire/core/text.hpp"
#include "framewire/core/utf8.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <utility>

namespace framewire {
namespace {

constexpr auto npos = std::string_view::npos;
constexpr std::string_view blanks = " \t\r\n\v\f", mark = "://", hidden = "***";

// Substrings of keys that name a secret. The list errs on the side of hiding: a harmless value may be hidden too.
constexpr std::array<std::string_view, 16> secret_words{"pas", "pw",   "token", "secret", "key",    "auth",
                                                        "sig", "cred", "sess",  "jwt",    "bearer", "streamid",
                                                        "md5", "hash", "hmac",  "otp"};

// Returns a letter in lower case. ASCII only and independent of the locale.
char small(char letter) { return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter; }

bool is_digit(char letter) { return letter >= '0' && letter <= '9'; }

// Returns true if the key of a query contains one of `secret_words`, in any case.
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

// Does the same as end_of_user() for a URL in a sentence, where a blank either ends the URL or is part of a password:
// "user:pass word@host". `line` is the rest of the line after "://", up to the next URL.
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

namespace {

constexpr std::size_t longest_quote = 40;
// Bytes shown around the offset. With dots and indent the line stays below 80 columns.
constexpr std::size_t shown_before = 50, shown_after = 25;

// Returns true for the second and later bytes of a UTF-8 character.
bool continues_character(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

// Returns the end of the character that contains the byte before `offset`.
std::size_t next_boundary(std::string_view text, std::size_t offset) {
    while (offset < text.size() && continues_character(text[offset])) ++offset;
    return std::min(offset, text.size());
}

}  // namespace

std::string in_quotes(std::string_view whole) {
    // Credentials are hidden before the cut, which could remove the '@' that marks a password.
    const auto text = address_without_credentials(whole);
    if (text.size() <= longest_quote) return "'" + printable(text) + "'";
    return "'" + printable(text.substr(0, next_boundary(text, longest_quote))) + "...'";
}

std::size_t column(std::string_view text, std::size_t offset) {
    const auto before = text.substr(0, offset);
    return 1 + static_cast<std::size_t>(
                   std::count_if(before.begin(), before.end(), [](char c) { return !continues_character(c); }));
}

// Places the caret by the printed part before it, because printable text can be longer than the original.
std::string pointed_out(std::string_view text, std::size_t offset) {
    offset = std::min(offset, text.size());
    // Cuts are moved to the start of a character.
    const auto begin = std::min(next_boundary(text, offset > shown_before ? offset - shown_before : 0), offset);
    const auto end = next_boundary(text, std::min(offset + shown_after, text.size()));
    const std::string_view dots_before = begin > 0 ? "..." : "", dots_after = end < text.size() ? "..." : "";
    std::string lines = "\n  ";
    lines += dots_before;
    const auto before = printable(text.substr(begin, offset - begin));
    lines += before;
    lines += printable(text.substr(offset, end - offset));
    lines += dots_after;
    lines += "\n  ";
    lines.append(dots_before.size() + column(before, before.size()) - 1, ' ');
    lines += '^';
    return lines;
}

namespace {

// Longer texts are not mistyped names. The limit also bounds the work.
constexpr std::size_t longest_name = 64;

// Returns the optimal string alignment distance, by dynamic programming over three rows.
std::size_t letters_to_change(std::string_view a, std::string_view b) {
    using Row = std::array<std::size_t, longest_name + 1>;
    // Distances from the first i, i-1 and i-2 letters of a to the first j letters of b.
    Row row{}, before{}, before_that{};
    for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        before_that = std::exchange(before, row);
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            row[j] = std::min({before[j - 1] + (a[i - 1] != b[j - 1]), before[j] + 1, row[j - 1] + 1});
            const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (swapped) row[j] = std::min(row[j], before_that[j - 2] + 1);
        }
    }
    return row[b.size()];
}

}  // namespace

// Suggests nothing if more than half of the letters differ, because such names have nothing in common.
std::string_view nearest_name(std::string_view name, std::span<const std::string_view> candidates) {
    std::string_view nearest;
    if (name.size() > longest_name) return nearest;
    auto fewest = longest_name;
    for (const auto candidate : candidates) {
        if (candidate.size() > longest_name) continue;
        const auto letters = letters_to_change(name, candidate);
        if (letters < fewest && 2 * letters <= std::max(name.size(), candidate.size())) {
            fewest = letters;
            nearest = candidate;
        }
    }
    return nearest;
}

std::string did_you_mean(std::string_view name, std::span<const std::string_view> candidates) {
    const auto nearest = nearest_name(name, candidates);
    return nearest.empty() ? std::string() : fmt::format("; did you mean '{}'?", nearest);
}

namespace {

// Returns true if a slash after `letter` can start a path. It does not in "a/b", "://host/path", "*/", "{name}/x" and
// "//".
bool may_precede(char letter) {
    const bool is_alphanumeric =
        (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || (letter >= '0' && letter <= '9');
    return !is_alphanumeric && std::string_view("/.-_~%*@}").find(letter) == std::string_view::npos &&
           static_cast<unsigned char>(letter) < 128;
}

// Returns the characters that end a path whose preceding character is `opening`.
std::string_view ends_of(char opening) {
    switch (opening) {
        case '\'': return "'";
        case '"': return "\"";
        case '[': return "]";
        default: return " \t\r\n'\",;)]";
    }
}

}  // namespace

// Copies the text character by character; where a path starts, only its last component is copied.
std::string without_paths(std::string_view text) {
    std::string shown;
    for (std::size_t at = 0; at < text.size();) {
        const char before = at > 0 ? text[at - 1] : ' ';
        const auto rest = text.substr(at);
        // "://" is part of a URL, unless a third slash starts a path.
        const bool is_url = before == ':' && rest.starts_with("//") && !rest.starts_with("///");
        if (text[at] != '/' || !may_precede(before) || is_url) {
            shown += text[at++];
            continue;
        }
        const auto path = text.substr(at, std::min(text.find_first_of(ends_of(before), at), text.size()) - at);
        auto end = path.size();
        while (end > 1 && std::string_view(":.").find(path[end - 1]) != std::string_view::npos)
            --end;  // punctuation of the surrounding sentence
        const auto name = path.substr(0, end).substr(0, path.substr(0, end).find_last_not_of('/') + 1);
        const auto slash = name.rfind('/');
        shown += name.empty() ? std::string_view("/") : name.substr(slash == std::string_view::npos ? 0 : slash + 1);
        at += end;
    }
    return shown;
}

namespace {

// Returns true for Unicode controls that change the direction of the text that follows (UAX #9).
bool is_bidirectional_control(char32_t code) {
    return code == 0x061c || code == 0x200e || code == 0x200f || (code >= 0x202a && code <= 0x202e) ||
           (code >= 0x2066 && code <= 0x2069);
}

// Returns true for LINE SEPARATOR and PARAGRAPH SEPARATOR.
bool breaks_lines(char32_t code) { return code == 0x2028 || code == 0x2029; }

}  // namespace

std::string printable(std::string_view text) {
    std::string shown;
    shown.reserve(text.size());
    const auto out = std::back_inserter(shown);
    while (!text.empty()) {
        const auto [code, bytes, valid] = first_character(text);
        if (!valid || code < 0x20 || code == 0x7f)
            fmt::format_to(out, "\\x{:02x}", static_cast<unsigned char>(text.front()));
        else if (code < 0x80)
            shown += text.front();
        else if (code < 0xa0 || is_bidirectional_control(code) || breaks_lines(code))
            fmt::format_to(out, "\\u{{{:x}}}", static_cast<unsigned>(code));
        else
            shown += text.substr(0, bytes);
        text.remove_prefix(valid ? bytes : 1);
    }
    return shown;
}

std::string printable_lines(std::string_view text) {
    std::string shown;
    for (;;) {
        const auto end = text.find('\n');
        shown += printable(text.substr(0, end));
        if (end == std::string_view::npos) return shown;
        shown += '\n';
        text.remove_prefix(end + 1);
    }
}

// A single quote inside single quotes is written as '\'': end the quotes, an escaped quote, new quotes.
std::string shell_quoted(std::string_view text) {
    std::string quoted = "'";
    for (const char letter : text)
        if (letter == '\'')
            quoted += "'\\''";
        else
            quoted += letter;
    return quoted + "'";
}

std::string shell_word(std::string_view text) {
    constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=:,./@%";
    const bool is_plain = !text.empty() && text.find_first_not_of(plain) == std::string_view::npos;
    return is_plain ? std::string(text) : shell_quoted(text);
}

}  // namespace framewire
