#include "framewire/net/tcp/acceptor.hpp"

#include "framewire/core/error.hpp"
#include "framewire/net/tcp/connection.hpp"

#include <chrono>
#include <utility>

namespace framewire::net {

namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

// Pause after a failed accept, so that a persistent error does not use a whole core.
constexpr std::chrono::milliseconds accept_pause{100};

// Listens at the first of the addresses that is available. The last error is reported if none is.
tcp::acceptor listen(asio::io_context& context, const Address& address, const std::vector<std::string>& hosts) {
    error_code error;
    for (const auto& host : hosts) {
        const tcp::endpoint endpoint(asio::ip::make_address(host, error), address.port);
        tcp::acceptor acceptor(context);
        if (!error) acceptor.open(endpoint.protocol(), error);
        if (!error) acceptor.set_option(tcp::acceptor::reuse_address(true), error);
        if (!error) acceptor.bind(endpoint, error);
        if (!error) acceptor.listen(tcp::acceptor::max_listen_connections, error);
        if (!error) return acceptor;
    }
    fail(ErrorCode::config, "cannot listen on {}: {}", to_string(address), error.message());
}

std::vector<std::string> look_up(const Address& address, const HostLookup& lookup, Clock::time_point deadline,
                                 std::stop_token stop) {
    try {
        if (auto hosts = NameLookup(address.host, lookup).addresses(deadline, std::move(stop))) return *hosts;
    } catch (const Error& error) {
        fail(ErrorCode::config, "cannot listen on {}: {}", to_string(address), error.what());
    }
    fail(ErrorCode::config, "cannot listen on {}: the name is not resolved", to_string(address));
}

}  // namespace

Acceptor::Acceptor(asio::io_context& context, const Address& address, const HostLookup& lookup,
                   Clock::time_point deadline, std::stop_token stop)
    : address_(address),
      acceptor_(listen(context, address, look_up(address, lookup, deadline, std::move(stop)))),
      pause_(context) {
    const auto endpoint = acceptor_.local_endpoint();
    address_.port = endpoint.port();
    loopback_ = endpoint.address().is_loopback();
}

void Acceptor::start(Take take) {
    take_ = std::move(take);
    accept();
}

void Acceptor::close() {
    error_code ignored;
    acceptor_.close(ignored);
}

// The next accept is started first, so accepting continues if `take_` throws.
void Acceptor::accept() {
    acceptor_.async_accept([this](const error_code& error, tcp::socket socket) {
        if (!acceptor_.is_open()) return;
        if (error) {
            // Out of descriptors, or the peer closed before it was accepted: serving continues after a pause.
            trouble_.line("listening on {}: cannot take a connection: {}", to_string(address_), error.message());
            pause_.expires_after(accept_pause);
            pause_.async_wait([this](const error_code&) {
                if (acceptor_.is_open()) accept();
            });
            return;
        }
        accept();
        take_(tcp_connection(std::move(socket)));
    });
}

}  // namespace framewire::net
