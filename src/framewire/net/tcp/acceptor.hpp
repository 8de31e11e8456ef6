#pragma once

#include "framewire/net/address.hpp"
#include "framewire/net/limits/limited_log.hpp"
#include "framewire/net/tcp/name_lookup.hpp"
#include "framewire/net/transport/connection.hpp"

#include <boost/asio.hpp>

#include <functional>
#include <stop_token>

namespace framewire::net {

/// Accepts TCP connections at one address, on the thread that runs `context`.
class Acceptor {
public:
    /// Receives each accepted connection.
    using Take = std::function<void(ConnectionPointer)>;

    /// Starts to listen; connections wait until start(). If the name has several addresses, only the first one that is
    /// available is used, because port 0 selects a single free port. Throws Error{config} if no address is available,
    /// or the name is not resolved before the deadline or the stop.
    Acceptor(boost::asio::io_context& context, const Address& address, const HostLookup& lookup,
             Clock::time_point deadline, std::stop_token stop);

    /// The address as requested, with the port in use.
    const Address& address() const { return address_; }

    /// Returns true if only programs of this machine can connect.
    bool loopback() const { return loopback_; }
    /// Passes each connection to `take`. If accepting fails, for example without free descriptors, it continues after a
    /// pause.
    void start(Take take);
    /// Stops accepting.
    void close();
    /// Logs how many warnings were suppressed. Call it periodically.
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
