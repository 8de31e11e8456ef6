#include "framewire/net/http_client.hpp"
#include "framewire/core/error.hpp"
#include "framewire/net/server.hpp"
#include "framewire/net/tcp.hpp"
#include "framewire/net/tls.hpp"

#include <fmt/format.h>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <utility>

namespace framewire::net::http {

namespace beast = boost::beast;

namespace {

constexpr std::uint16_t plain_port = 80, tls_port = 443;

// Never contains the text, which may have a password.
[[noreturn]] void refuse_address(std::string_view why) {
    fail(ErrorCode::usage, "{}; write http://HOST[:PORT][/PATH], or https:// for TLS, without user and password", why);
}

}  // namespace

ServerAddress parse_server_address(std::string_view text) {
    constexpr std::string_view plain = "http://", secure = "https://";
    ServerAddress address;
    address.tls = text.starts_with(secure);
    if (!address.tls && !text.starts_with(plain)) refuse_address("this is not the address of an HTTP server");
    text.remove_prefix(address.tls ? secure.size() : plain.size());
    if (text.find('@') != text.npos) refuse_address("the address contains an @");
    const auto slash = text.find('/');
    const auto host = text.substr(0, slash);
    if (slash != text.npos) {
        auto path = text.substr(slash);
        if (path.ends_with('/')) path.remove_suffix(1);
        validate_base_path(path);
        address.base_path = path;
    }
    const bool has_port = host.find(':') != host.npos && !host.ends_with(']');
    address.server =
        parse_address(has_port ? std::string(host) : fmt::format("{}:{}", host, address.tls ? tls_port : plain_port));
    if (address.server.port == 0) refuse_address("the port is 0");
    return address;
}

std::string to_string(const ServerAddress& address) {
    return fmt::format("{}://{}{}", address.tls ? "https" : "http", to_string(address.server), address.base_path);
}

// Wraps Beast's parser, which consumes bytes only in complete lines and chunks; the others wait.
struct ResponseReader::State {
    State() {
        parser.header_limit(header_limit_bytes);
        parser.body_limit(body_limit_bytes);
        parser.eager(true);
    }

    beast::http::response_parser<beast::http::string_body> parser;
    Bytes waiting;
};

ResponseReader::ResponseReader() : state_(std::make_unique<State>()) {}
ResponseReader::~ResponseReader() = default;

bool ResponseReader::take(ByteSpan bytes) {
    auto& [parser, waiting] = *state_;
    waiting.insert(waiting.end(), bytes.begin(), bytes.end());
    while (!parser.is_done() && !waiting.empty()) {
        beast::error_code error;
        const auto used = parser.put(boost::asio::buffer(waiting), error);
        waiting.erase(waiting.begin(), waiting.begin() + static_cast<std::ptrdiff_t>(used));
        if (error == beast::http::error::need_more || (!error && used == 0)) break;
        if (error == beast::http::error::body_limit || error == beast::http::error::header_limit)
            throw Lost{"its response is too large"};
        if (error) throw Lost{"its response is not valid HTTP"};
    }
    // A chunk's extension or a trailer could otherwise grow without end.
    if (!parser.is_done() && waiting.size() > header_limit_bytes) throw Lost{"its response is too large"};
    return parser.is_done();
}

void ResponseReader::end() {
    beast::error_code error;
    if (state_->parser.got_some()) state_->parser.put_eof(error);
    if (error || !state_->parser.is_done()) throw Lost{"it closed the connection before its response was complete"};
}

ClientResponse ResponseReader::response() {
    auto message = state_->parser.release();
    return {static_cast<int>(message.result_int()), std::move(message.body())};
}

namespace {

// Waits for an operation. At the deadline it closes the connection, which ends the operation.
void await(Dialer& dialer, Connection& connection, const Outcome& outcome, Clock::time_point deadline) {
    if (!dialer.wait(outcome.done, deadline)) {
        connection.close();
        throw Lost{dialer.stopped() ? "stopped" : "it does not answer in time"};
    }
    if (outcome.error) throw Lost{outcome.error.message()};
}

}  // namespace

ClientResponse exchange(Dialer& dialer, const ServerAddress& address, const ClientRequest& request,
                        Clock::time_point deadline) {
    const auto text = fmt::format(
        "{} {}{} HTTP/1.1\r\nHost: {}\r\nUser-Agent: framewire\r\nAccept: application/json\r\n"
        "Content-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{}",
        request.method, address.base_path, request.path, to_string(address.server), request.json.size(), request.json);
    const auto connection = dialer.dial(deadline);
    {
        Outcome outcome;
        const ByteSpan piece(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
        connection->write({&piece, 1}, {}, outcome.handler());
        await(dialer, *connection, outcome, deadline);
    }
    ResponseReader reader;
    std::array<std::uint8_t, 4096> piece{};
    for (;;) {
        Outcome outcome;
        connection->read_some(piece, outcome.handler());
        await(dialer, *connection, outcome, deadline);
        if (outcome.bytes == 0) {
            reader.end();
            break;
        }
        if (reader.take(ByteSpan(piece).first(outcome.bytes))) break;
    }
    return reader.response();
}

std::unique_ptr<Dialer> dialer_to(const ServerAddress& address, std::stop_token stop) {
    auto dialer = tcp_dialer(address.server, system_lookup, std::move(stop));
    return address.tls ? tls_dialer(std::move(dialer), address.server, {}) : std::move(dialer);
}

}  // namespace framewire::net::http
