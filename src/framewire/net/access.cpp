#include "framewire/net/access.hpp"
#include "framewire/core/error.hpp"
#include "framewire/core/log.hpp"
#include "framewire/core/parameters.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/sha.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

namespace framewire::net {

namespace {

// Returns the refusal for too many failed logins. The reason is "too many", not "not allowed", because an honest viewer
// behind the same address should try again later.
ServerError too_many_failures() {
    return {Refusal::too_many_viewers, fmt::format("too many failed logins from its address (limit: {} in {} s)",
                                                   Gate::failures_allowed, Gate::failures_window.count())};
}

}  // namespace

// A peer that has sent the right token within the last day is not locked out, however many wrong tokens it sends.
std::optional<ServerError> Gate::closed_to(const std::string& peer, Clock::time_point now) const {
    if (!failures_.exhausted(peer, now) || let_in_.exhausted(peer, now)) return std::nullopt;
    return too_many_failures();
}

std::optional<ServerError> Gate::check(const std::string& peer, std::string_view token, Clock::time_point now) {
    if (!token_.needed()) return std::nullopt;
    // Checked again here: a peer may have opened many connections before its failures reached the limit.
    if (auto why = closed_to(peer, now)) return why;
    if (token_.matches(token)) {
        let_in_.forget(peer);  // the day counts from the latest success
        let_in_.add(peer, now);
        return std::nullopt;
    }
    if (token.empty()) return ServerError{Refusal::not_allowed, "a token is required (view --token-file FILE)"};
    if (failures_.exhausted(peer, now)) return too_many_failures();
    // Only a digest of a wrong token is stored. A repeated guess does not count as another failure.
    const auto digest = TokenCheck::digest_of(token);
    const auto guess = peer + ' ' + std::string(digest.begin(), digest.end());
    if (!wrong_tokens_.exhausted(guess, now)) {
        wrong_tokens_.add(guess, now);
        failures_.add(peer, now);
    }
    return ServerError{Refusal::not_allowed, "the token is wrong"};
}

namespace {

constexpr std::size_t most_secret_bytes = 64 * 1024;

// Owns a file descriptor.
class Descriptor {
public:
    explicit Descriptor(int number) : number_(number) {}
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    ~Descriptor() {
        if (number_ >= 0) ::close(number_);
    }
    int number() const { return number_; }

private:
    int number_;
};

// Returns the folder that the environment variable names with `below` appended, or an empty string.
std::string folder_from(const char* variable, std::string_view below) {
    const char* folder = std::getenv(variable);
    // The XDG Base Directory Specification says to ignore relative paths:
    // https://specifications.freedesktop.org/basedir-spec
    if (!folder || folder[0] != '/') return {};
    return std::string(folder) + std::string(below);
}

void write_all(int file, std::string_view text, const std::string& path) {
    while (!text.empty()) {
        const auto written = ::write(file, text.data(), text.size());
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) fail(ErrorCode::io, "{} cannot be written: {}", path, std::strerror(errno));
        text.remove_prefix(static_cast<std::size_t>(written));
    }
    if (::fsync(file) != 0) fail(ErrorCode::io, "{} cannot be written: {}", path, std::strerror(errno));
}

// Creates the folder and its missing parents with the mode that the XDG specification asks for, 0700. Folders that
// exist keep their mode.
void make_private_folders(const std::filesystem::path& folder) {
    std::error_code ignored;
    if (folder.empty() || std::filesystem::is_directory(folder, ignored)) return;
    if (folder.has_relative_path()) make_private_folders(folder.parent_path());
    if (::mkdir(folder.c_str(), S_IRWXU) != 0 && errno != EEXIST)
        fail(ErrorCode::io, "cannot create the folder {}: {}", folder.string(), std::strerror(errno));
}

}  // namespace

std::string read_small_file(const std::string& path) {
    const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (file.number() < 0) fail(ErrorCode::no_input, "{} cannot be read: {}", path, std::strerror(errno));
    std::string text(most_secret_bytes + 1, '\0');
    std::size_t bytes = 0;
    while (bytes < text.size()) {
        const auto got = ::read(file.number(), text.data() + bytes, text.size() - bytes);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) fail(ErrorCode::no_input, "{} cannot be read: {}", path, std::strerror(errno));
        if (got == 0) break;
        bytes += static_cast<std::size_t>(got);
    }
    if (bytes > most_secret_bytes)
        fail(ErrorCode::no_input, "{} is larger than {} bytes, so it cannot be a token, key or certificate", path,
             most_secret_bytes);
    text.resize(bytes);
    return text;
}

std::string read_secret_file(const std::string& path) {
    auto text = read_small_file(path);
    struct stat about {};
    // Only regular files are checked, so that pipes and devices cause no warning.
    constexpr mode_t others = S_IRGRP | S_IROTH;
    if (::stat(path.c_str(), &about) == 0 && S_ISREG(about.st_mode) && (about.st_mode & others) != 0)
        log_warning("{} can be read by other users; restrict it with 'chmod 600 {}'", path, path);
    return text;
}

std::string kept_file(const std::string& name) {
    auto folder = folder_from("XDG_STATE_HOME", "/framewire/");
    if (folder.empty()) folder = folder_from("HOME", "/.local/state/framewire/");
    if (folder.empty())
        fail(ErrorCode::config, "no folder for '{}': neither XDG_STATE_HOME nor HOME is set to an absolute path", name);
    return folder + name;
}

// Uses mkostemp(), write(), fsync() and link(), so that readers see the complete file or none, even after a crash.
bool keep_secret(const std::string& path, const std::function<std::string()>& make) {
    const auto folder = std::filesystem::path(path).parent_path();
    std::error_code error;
    if (std::filesystem::exists(path, error)) return false;
    make_private_folders(folder);

    auto unfinished = path + ".XXXXXX";
    const Descriptor file(::mkostemp(unfinished.data(), O_CLOEXEC));  // mode 0600
    if (file.number() < 0) fail(ErrorCode::io, "{} cannot be written: {}", path, std::strerror(errno));
    try {
        write_all(file.number(), make(), path);
    } catch (...) {
        ::unlink(unfinished.c_str());
        throw;
    }
    // Unlike rename(), link() fails if another program has created the file meanwhile, so the first one wins.
    const bool kept = ::link(unfinished.c_str(), path.c_str()) == 0;
    const int problem = errno;
    ::unlink(unfinished.c_str());
    if (!kept && problem != EEXIST) fail(ErrorCode::io, "{} cannot be written: {}", path, std::strerror(problem));
    return kept;
}

namespace {

constexpr std::size_t least_token_bytes = 16, most_token_bytes = 255;
// 192 random bits, and the number of Base64 characters for them, each of which encodes 6 bits.
constexpr std::size_t made_token_bytes = 24, made_token_characters = made_token_bytes / 3 * 4;

}  // namespace

void validate_token(std::string_view token, std::string_view where) {
    const bool visible = std::all_of(token.begin(), token.end(), [](char c) { return c > ' ' && c <= '~'; });
    if (token.size() < least_token_bytes || token.size() > most_token_bytes || !visible)
        fail(ErrorCode::usage,
             "invalid token in {}; expected one line of {} to {} visible ASCII characters without spaces", where,
             least_token_bytes, most_token_bytes);
}

std::string read_token_file(const std::string& path) {
    auto token = read_secret_file(path);
    if (token.ends_with('\n')) token.pop_back();
    if (token.ends_with('\r')) token.pop_back();
    validate_token(token, path);
    return token;
}

std::string make_token() {
    std::array<std::uint8_t, made_token_bytes> random;
    if (::getentropy(random.data(), random.size()) != 0)
        fail(ErrorCode::config, "cannot generate a random token: {}", std::strerror(errno));
    // EVP_EncodeBlock() appends a NUL, which needs one more byte.
    std::string token(made_token_characters + 1, '\0');
    EVP_EncodeBlock(reinterpret_cast<unsigned char*>(token.data()), random.data(), made_token_bytes);
    token.resize(made_token_characters);
    // The URL-safe alphabet (RFC 4648, section 5) has other characters for 62 and 63.
    std::ranges::replace(token, '+', '-');
    std::ranges::replace(token, '/', '_');
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

namespace {

using Bytes16 = std::array<std::uint8_t, 16>;
// Bytes that precede the IPv4 address in an IPv4-mapped IPv6 address (RFC 4291, 2.5.5.2).
constexpr std::size_t mapped_bytes = 12;

// Returns true for an IPv4-mapped IPv6 address (RFC 4291, 2.5.5.2).
bool is_mapped(const Bytes16& address) {
    return std::all_of(address.begin(), address.begin() + 10, [](auto byte) { return byte == 0; }) &&
           address[10] == 0xff && address[11] == 0xff;
}

// Parses a numeric IPv4 or IPv6 address. IPv4 addresses are returned in mapped form.
std::optional<Bytes16> parse_ip(std::string_view text) {
    const std::string terminated(text);
    Bytes16 address{};
    if (::inet_pton(AF_INET6, terminated.c_str(), address.data()) == 1) return address;
    address[10] = address[11] = 0xff;
    if (::inet_pton(AF_INET, terminated.c_str(), address.data() + mapped_bytes) == 1) return address;
    return std::nullopt;
}

// Formats an address, an IPv4 address without the mapping prefix.
std::string to_text(const Bytes16& address) {
    std::array<char, INET6_ADDRSTRLEN> text{};
    if (is_mapped(address))
        ::inet_ntop(AF_INET, address.data() + mapped_bytes, text.data(), text.size());
    else
        ::inet_ntop(AF_INET6, address.data(), text.data(), text.size());
    return text.data();
}

// Returns the client at an address. Its peer is an IPv6 /64 network or a single IPv4 address, as in peer_of() of
// tcp.cpp.
TrustedProxies::Client client_at(Bytes16 address) {
    TrustedProxies::Client client{to_text(address), {}};
    if (!is_mapped(address)) std::fill(address.begin() + 8, address.end(), std::uint8_t{0});
    client.peer = to_text(address);
    return client;
}

bool is_port(std::string_view text) {
    std::uint16_t port = 0;
    return read_number(text, port) == std::errc{};
}

// Parses an entry of X-Forwarded-For. Proxies write "192.0.2.1", "192.0.2.1:4711", "2001:db8::1", "[2001:db8::1]" or
// "[2001:db8::1]:4711".
std::optional<Bytes16> parse_entry(std::string_view text) {
    constexpr std::string_view blanks = " \t";
    text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
    text = text.substr(0, text.find_last_not_of(blanks) + 1);
    if (text.starts_with('[')) {
        const auto end = text.find(']');
        if (end == text.npos) return std::nullopt;
        const auto rest = text.substr(end + 1);
        if (!rest.empty() && (rest.front() != ':' || !is_port(rest.substr(1)))) return std::nullopt;
        return parse_ip(text.substr(1, end - 1));
    }
    if (auto address = parse_ip(text)) return address;
    // A single colon separates an IPv4 address from its port. Several colons without brackets are an invalid IPv6
    // address.
    const auto colon = text.rfind(':');
    if (colon == text.npos || text.find(':') != colon || !is_port(text.substr(colon + 1))) return std::nullopt;
    return parse_ip(text.substr(0, colon));
}

}  // namespace

TrustedProxies::TrustedProxies(const std::vector<std::string>& networks) {
    for (const auto& text : networks) {
        const auto slash = std::min(text.find('/'), text.size());
        const auto address = parse_ip(std::string_view(text).substr(0, slash));
        const int most = address && is_mapped(*address) ? 32 : 128;
        int bits = most;
        if (!address ||
            (slash < text.size() &&
             (read_number(std::string_view(text).substr(slash + 1), bits) != std::errc{} || bits < 0 || bits > most)))
            fail(ErrorCode::usage, "'{}' is not a proxy address such as 10.0.0.5, 10.0.0.0/8, ::1 or fd00::/8", text);
        // Prefixes are counted in the mapped form, so an IPv4 /8 is stored as /104.
        networks_.push_back({*address, bits + 128 - most});
    }
}

bool TrustedProxies::trusts(const Bytes16& address) const {
    return std::ranges::any_of(networks_, [&](const Network& network) {
        for (int bit = 0; bit < network.prefix_bits; bit += 8) {
            const auto at = static_cast<std::size_t>(bit / 8);
            // The prefix may end within this byte.
            const int unused = std::max(0, 8 - (network.prefix_bits - bit));
            if ((address[at] ^ network.address[at]) >> unused != 0) return false;
        }
        return true;
    });
}

bool TrustedProxies::trusts(const Connection& connection) const {
    if (networks_.empty()) return false;
    const auto address = parse_entry(connection.name());
    return address && trusts(*address);
}

std::optional<TrustedProxies::Client> TrustedProxies::client_of(
    const std::vector<std::string_view>& forwarded_for) const {
    std::optional<Bytes16> found;
    // Read from right to left: each trusted proxy appends the address it received the request from.
    for (auto field = forwarded_for.rbegin(); field != forwarded_for.rend(); ++field)
        for (auto rest = *field;;) {
            const auto comma = rest.rfind(',');
            const auto address = parse_entry(comma == rest.npos ? rest : rest.substr(comma + 1));
            // A trusted proxy writes valid addresses, so everything to the left of an invalid one is untrusted.
            if (!address) return found ? std::optional(client_at(*found)) : std::nullopt;
            found = address;
            if (!trusts(*address)) return client_at(*found);
            if (comma == rest.npos) break;
            rest = rest.substr(0, comma);
        }
    return found ? std::optional(client_at(*found)) : std::nullopt;
}

}  // namespace framewire::net
