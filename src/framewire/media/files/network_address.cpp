// Secrets in URLs. The command line of a process is visible to all users, so credentials can be given as {file:PATH}
// or {env:NAME}, which this function replaces when the source is opened.

#include "framewire/media/files/network_address.hpp"

#include "framewire/core/error.hpp"
#include "framewire/core/log.hpp"
#include "framewire/core/text/credentials.hpp"
#include "framewire/media/files/input_file.hpp"

#include <fmt/format.h>

#include <sys/stat.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdlib>
#include <string_view>

namespace framewire {
namespace {

constexpr std::size_t longest_value_bytes = 4096;
constexpr std::string_view file_mark = "{file:", environment_mark = "{env:";

bool is_control(char letter) { return static_cast<unsigned char>(letter) < 0x20 || letter == 0x7f; }

// Encodes all but the unreserved characters of RFC 3986, section 2.3.
std::string percent_encoded(std::string_view text) {
    std::string encoded;
    for (const unsigned char letter : text)
        if (std::isalnum(letter) || std::string_view("-._~").find(static_cast<char>(letter)) != std::string_view::npos)
            encoded += static_cast<char>(letter);
        else
            encoded += fmt::format("%{:02X}", letter);
    return encoded;
}

// First line of a file with a secret; warns if other users may read the file.
std::string first_line(const std::string& path) {
    struct stat status {};
    if (::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) && (status.st_mode & 077) != 0)
        log_warning("{} holds a secret, and others may read it; 'chmod 600' makes it the owner's", path);
    InputFile file(path, {});
    std::string line;
    for (int letter = file.get(); letter >= 0 && letter != '\n' && line.size() <= longest_value_bytes;
         letter = file.get())
        line += static_cast<char>(letter);
    if (line.ends_with('\r')) line.pop_back();
    return line;
}

// Value of an environment variable.
std::string variable(const std::string& name) {
    const char* value = std::getenv(name.c_str());
    if (!value) fail(ErrorCode::no_input, "the environment has no variable {}", name);
    return value;
}

// Validates and encodes the value that replaces a placeholder `place` such as "{file:/run/secrets/door}".
std::string inserted(const std::string& value, std::string_view place, std::string_view text) {
    if (value.empty()) fail(ErrorCode::usage, "{} is empty", place);
    if (value.size() > longest_value_bytes)
        fail(ErrorCode::usage, "{} is longer than {} bytes", place, longest_value_bytes);
    if (std::ranges::any_of(value, is_control)) fail(ErrorCode::usage, "{} holds control characters", place);
    if (!text.starts_with("srt://")) return percent_encoded(value);
    // FFmpeg does not decode the values of SRT options, so they are inserted unencoded.
    if (value.find_first_of("&+#") != value.npos)
        fail(ErrorCode::usage, "{} holds one of '&', '+' and '#', which an srt:// address cannot", place);
    return value;
}

}  // namespace

std::string network_address(const std::string& text) {
    std::string address;
    for (std::size_t at = 0; at < text.size();) {
        const auto rest = std::string_view(text).substr(at);
        const bool is_file = rest.starts_with(file_mark);
        if (!is_file && !rest.starts_with(environment_mark)) {
            address += text[at] == ' ' ? "%20" : std::string(1, text[at]);
            ++at;
            continue;
        }
        const auto end = rest.find('}');
        if (end == rest.npos)
            fail(ErrorCode::usage, "{}: {{file:PATH}} and {{env:NAME}} end in '}}'", address_without_credentials(text));
        const auto name_begin = (is_file ? file_mark : environment_mark).size();
        const std::string name(rest.substr(name_begin, end - name_begin));
        address += inserted(is_file ? first_line(name) : variable(name), rest.substr(0, end + 1), text);
        at += end + 1;
    }
    return address;
}

}  // namespace framewire
