#pragma once

#include "framewire/core/time.hpp"
#include "framewire/net/limits.hpp"
#include "framewire/net/transport.hpp"
#include "framewire/net/wire.hpp"

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace framewire::net {

/// Throws Error{usage} unless the token has 16 to 255 visible ASCII characters without blanks. The message names
/// `where`, the token's source, but never contains the token.
void validate_token(std::string_view token, std::string_view where);

/// Returns the token in a file with a single line, which may end with LF or CRLF. Throws Error{no_input} if the file
/// cannot be read, and Error{usage} if the token is invalid, see validate_token().
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

    /// Returns true if viewers need a token.
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

/// Checks tokens and limits guesses. A guess is a wrong token that its peer has not sent before within the window, so a
/// program that repeats an outdated token makes one guess, and a missing token is not a guess. A peer that reaches the
/// limit is refused until the window ends, unless the right token came from its address within the last day: many
/// clients can share one address, and one of them must not lock out the others. Memory is bounded. Not thread-safe.
class Gate {
public:
    /// Maximum number of guesses per peer within `failures_window`.
    static constexpr int failures_allowed = 5;
    /// Window over which guesses are counted.
    static constexpr std::chrono::seconds failures_window{10};
    /// Time for which a peer that sent the right token cannot be locked out.
    static constexpr std::chrono::hours known_for{24};

    /// If `token` is empty, every peer is let in.
    explicit Gate(std::string_view token) : token_(token) {}

    /// Returns true if peers have to send a token.
    bool needs_token() const { return token_.needed(); }
    /// Returns why the peer is refused before it sends a token, or nullopt if it may send one.
    std::optional<ServerError> closed_to(const std::string& peer, Clock::time_point now) const;
    /// Returns why the peer is refused with this token, or nullopt if it is let in. Records a wrong token as a failure.
    std::optional<ServerError> check(const std::string& peer, std::string_view token, Clock::time_point now);

private:
    static constexpr std::size_t peers_known = 4096;

    TokenCheck token_;
    PeerAttempts failures_{failures_allowed, failures_window, peers_known};
    PeerAttempts wrong_tokens_{1, failures_window, failures_allowed* peers_known};  // keys: peer and token digest
    PeerAttempts let_in_{1, known_for, peers_known};                                // peers that sent the right token
};

/// Returns the content of a small file: a token, a key or a certificate. Throws Error{no_input} if the file cannot be
/// read or is longer than 64 KiB.
std::string read_small_file(const std::string& path);

/// Like read_small_file(), but logs a warning if the group or others may read the file.
std::string read_secret_file(const std::string& path);

/// Returns the path of a file that this user's programs keep between runs: `name` in $XDG_STATE_HOME/framewire, or in
/// ~/.local/state/framewire if that variable is not set to an absolute path. Throws Error{config} if HOME is not set
/// either.
std::string kept_file(const std::string& name);

/// Writes the text that `make` returns to a file that only its owner may read, and creates missing folders with mode
/// 0700. The file appears complete or not at all, even after a crash. Returns false and changes nothing if the file
/// exists. Throws Error{io} if the file cannot be written, and whatever `make` throws.
bool keep_secret(const std::string& path, const std::function<std::string()>& make);

/// Reverse proxies whose X-Forwarded-For header is believed. Anybody can send that header, so it counts only on a
/// connection from one of these addresses, and only up to the entry that the last trusted proxy has added. Immutable
/// after construction.
class TrustedProxies {
public:
    /// Takes addresses and networks in CIDR notation: "10.0.0.5", "10.0.0.0/8", "::1", "fd00::/8". Throws Error{usage}
    /// if one of them is invalid. If the list is empty, no proxy is trusted.
    explicit TrustedProxies(const std::vector<std::string>& networks = {});

    /// Returns true if the other end of the connection is a trusted proxy.
    bool trusts(const Connection& connection) const;

    /// A client behind a trusted proxy.
    struct Client {
        std::string address;
        /// The key for limits per peer, see Connection::peer(): the address, or the /64 network of an IPv6 address.
        std::string peer;
    };
    /// Returns the client on whose behalf a trusted proxy sends a request: the rightmost address in its X-Forwarded-For
    /// fields that is not a trusted proxy, or the leftmost address if all of them are. Returns nullopt if the header is
    /// missing or its last entry is not an address; the request is then the proxy's own. `forwarded_for` holds the
    /// header fields in the order in which they were received.
    std::optional<Client> client_of(const std::vector<std::string_view>& forwarded_for) const;

private:
    using Bytes16 = std::array<std::uint8_t, 16>;  // IPv4 addresses are mapped into IPv6
    struct Network {
        Bytes16 address;
        int prefix_bits;
    };
    bool trusts(const Bytes16& address) const;

    std::vector<Network> networks_;
};

}  // namespace framewire::net
