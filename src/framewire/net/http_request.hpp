#pragma once

#include "framewire/core/time.hpp"
#include "framewire/net/access.hpp"
#include "framewire/net/http.hpp"
#include "framewire/net/wire.hpp"

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace framewire::net::http {

/// A complete, well-formed request exactly as it was sent. Its content has not been checked.
struct RawRequest {
    std::string method, target;
    /// True for HTTP/1.1, false for HTTP/1.0.
    bool version_1_1 = true;
    /// Header fields in the order in which they were sent, with names in lower case.
    std::vector<std::pair<std::string, std::string>> fields{};
    std::string body{};

    /// Returns the value of a field by its lower-case name, or nullopt if the field is missing or occurs more than
    /// once.
    std::optional<std::string_view> field(std::string_view name) const;
    /// Returns how many fields have this lower-case name.
    std::size_t count(std::string_view name) const;
    /// Returns true if a field that is a list of tokens, such as Connection, contains `token`, ignoring case.
    bool lists(std::string_view name, std::string_view token) const;
};

/// Decodes Base64 (RFC 4648), at most 1024 characters. Returns nullopt if the text is not valid Base64.
std::optional<std::string> from_base64(std::string_view coded);

/// Thrown to refuse a request: the status and text of the response. Only code that handles HTTP connections catches it.
struct Refused {
    int status = 400;
    std::string text{};
};

/// Access checks for HTTP requests. They protect a server's routes against requests without the token, against pages of
/// other origins (CSRF) and against DNS rebinding. Use it from one thread.
class Admission {
public:
    /// Settings of the server that the checks need.
    struct Rules {
        /// True if the server uses TLS; the origin of its own pages is then https.
        bool tls = false;
        /// Accepted host names, in addition to localhost, this machine's name and numeric addresses.
        std::vector<std::string> hosts{};
    };
    /// `gate` must outlive this object.
    Admission(Rules rules, Gate& gate);

    /// Throws Refused unless the Host field names this server, as a protection against DNS rebinding.
    void check_host(const RawRequest& request) const;
    /// Returns true if the request has the right token or none is needed, and false if it has no token. Throws Refused
    /// if the token is wrong or the peer is locked out.
    bool let_in(const RawRequest& request, const std::string& peer, Clock::time_point now);
    /// Like the function above, for a token in the first message of a WebSocket. Returns false if the token is wrong.
    bool let_in(std::string_view token, const std::string& peer, Clock::time_point now);
    /// Throws Refused if the request comes from a page of another origin.
    void check_origin(const RawRequest& request) const;
    /// Throws Refused unless the request meets all requirements of the route.
    void check_access(const RawRequest& request, const Route& route, bool let_in) const;

private:
    Rules rules_;
    Gate& gate_;
};

/// Parses the bytes of a connection into successive HTTP/1.x requests. Use it from one thread.
class RequestReader {
public:
    /// Longest header and body of a request, in bytes.
    static constexpr std::size_t header_limit_bytes = 16 * 1024, body_limit_bytes = 64 * 1024;

    RequestReader();
    ~RequestReader();

    /// Appends bytes. Returns true if a complete request is available, which request() then returns. Throws Refused if
    /// the bytes are not a valid request; the connection cannot be used after that.
    bool take(ByteSpan bytes);
    /// Removes and returns the complete request. The bytes after it belong to the next one.
    RawRequest request();
    /// Returns true if part of a request has been received.
    bool begun() const;
    /// Removes and returns the bytes after the last request, for a connection that changes its protocol.
    Bytes rest();

private:
    struct State;
    std::unique_ptr<State> state_;
};

/// The target of a request (RFC 9112, 3.2): its path and its query, decoded.
struct Target {
    std::string path;
    std::map<std::string, std::string, std::less<>> query{};
};

/// Parses a request target. It decodes once and then checks: path segments must not be empty (except after one "/" at
/// the end), "." or "..", and must not contain "/" or "\". Everything must be UTF-8 without control characters, at most
/// 2048 bytes and 32 query names. Throws Refused with status 400.
Target parse_target(std::string_view text);

}  // namespace framewire::net::http
