#include "framewire/core/text/paths.hpp"

#include <algorithm>

namespace framewire {
namespace {

// A slash after one of these does not start a path: "a/b", "://host/path", "*/", "{name}/x", "//".
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

}  // namespace framewire
