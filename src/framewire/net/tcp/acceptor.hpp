#pragma once

#include "framewire/net/address.hpp"
#include "framewire/net/limits/limited_log.hpp"
#include "framewire/net/tcp/name_lookup.hpp"
#include "framewire/net/transport/connection.hpp"

#include <boost/asio.hpp>

#include <functional>
#include <stop_token>

namespace framewire::net {

/// Takes the TCP connections that come to an address, one after the other, in the thread that runs `context`.
class Acceptor {
public:
    using Take = std::function<void(ConnectionPointer)>;

    /// Listens from here on; connections wait until start(). A free port (0) is one for all addresses that a name
    /// stands for, so only the first that can be listened on is. Throws Error{config} when there is none by the
    /// deadline or when told to stop.
    Acceptor(boost::asio::io_context& context, const Address& address, const HostLookup& lookup,
             Clock::time_point deadline, std::stop_token stop);

    /// As asked for, with the port in use.
    const Address& address() const { return address_; }

    /// Whether only programs of this machine reach it.
    bool loopback() const { return loopback_; }
    /// Gives each connection to `take`. When none can be taken, as without free descriptors, it goes on after a pause.
    void start(Take take);
    /// Takes no more.
    void close();
    void tell_left_out(Clock::time_point now) { trouble_.tell_left_out(now); }

private:
    void accept();

    Address address_;
    bool loopback_ = false;
    boost::asio::ip::tcp::acceptor acceptor_;
    boost::asio::steady_timer pause_;
    Take take_;
    LimitedLog trouble_{LogLevel::warning, "connections that could not be taken"};
};

}  // namespace framewire::net
