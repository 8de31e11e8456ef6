#pragma once

#include "framewire/core/time.hpp"
#include "framewire/net/address.hpp"
#include "framewire/net/transport.hpp"
#include "framewire/net/wire.hpp"

#include <cstddef>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>

namespace framewire::net::http {

/// Another program's HTTP server.
struct ServerAddress {
    Address server{};
    bool tls = false;
    /// Prefix of all paths, without a "/" at its end; may be empty.
    std::string base_path{};
};

/// Parses "http://HOST[:PORT][/PATH]", or the same with https://. Default ports: 80 and 443. PATH must be valid for
/// validate_base_path(), except for one more "/" at its end. Throws Error{usage}; the message does not contain a user
/// or password, which are not supported.
ServerAddress parse_server_address(std::string_view text);
/// Returns "http://HOST:PORT/PATH".
std::string to_string(const ServerAddress& address);

/// A request with a JSON body.
struct ClientRequest {
    /// Method in capitals, such as "POST".
    std::string method;
    /// Path below ServerAddress::base_path, beginning with "/", of characters that need no escape.
    std::string path;
    std::string json;
};

/// The response to a request. Redirects are responses like others and are not followed.
struct ClientResponse {
    int status = 0;
    std::string body{};
};

/// Parses a response that arrives in pieces.
class ResponseReader {
public:
    /// Maximum size of the header.
    static constexpr std::size_t header_limit_bytes = 16 * 1024;
    /// Maximum size of the body.
    static constexpr std::size_t body_limit_bytes = 64 * 1024;

    ResponseReader();
    ~ResponseReader();
    ResponseReader(const ResponseReader&) = delete;
    ResponseReader& operator=(const ResponseReader&) = delete;

    /// Takes received bytes. Returns true once the response is complete; further bytes are ignored. Throws Lost if it
    /// is invalid or exceeds a limit.
    bool take(ByteSpan bytes);
    /// The peer has closed, which ends a body without a length. Throws Lost if the response is not complete.
    void end();
    /// Returns the complete response.
    ClientResponse response();

private:
    struct State;
    std::unique_ptr<State> state_;
};

/// Sends a request over a new connection of `dialer` and returns the response. Throws Lost if there is no complete and
/// valid response before the deadline or before the dialer is stopped, and the errors of Dialer::dial().
ClientResponse exchange(Dialer& dialer, const ServerAddress& address, const ClientRequest& request,
                        Clock::time_point deadline);

/// Returns a dialer for connections to the server. For https:// the certificate is verified with the system's roots.
/// Throws like tls_dialer().
std::unique_ptr<Dialer> dialer_to(const ServerAddress& address, std::stop_token stop);

}  // namespace framewire::net::http
