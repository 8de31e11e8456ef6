#pragma once

#include "framewire/core/time.hpp"
#include "framewire/net/address.hpp"
#include "framewire/net/limits.hpp"
#include "framewire/net/transport.hpp"

#include <boost/asio.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/thread_pool.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

namespace framewire::net {

/// Returns the numeric addresses of a host name. May block indefinitely; called on any thread. Throws Error{no_input}
/// if there are none.
using HostLookup = std::function<std::vector<std::string>(const std::string& host)>;

/// Resolves the name with the system's resolver, getaddrinfo().
std::vector<std::string> system_lookup(const std::string& host);

/// Resolves one host name on a detached thread, so a lookup that hangs only blocks that thread. At most one lookup is
/// in progress. Use it from one thread.
class NameLookup {
public:
    /// `lookup` resolves `host`; it is not called before addresses().
    NameLookup(std::string host, HostLookup lookup);

    /// Waits for the addresses. Returns nullopt at the deadline or when `stop` is requested; the next call continues to
    /// wait for the same lookup. A numeric address is returned unchanged. Throws Error{no_input} if the lookup fails or
    /// no thread can be started.
    std::optional<std::vector<std::string>> addresses(Clock::time_point deadline, std::stop_token stop);

private:
    struct Answer;
    std::string host_;
    HostLookup lookup_;
    std::shared_ptr<Answer> awaited_;  // answer of the lookup in progress
};

/// Accepts TCP connections at one address, on the thread that runs `context`.
class Acceptor {
public:
    /// Receives each accepted connection.
    using Take = std::function<void(ConnectionPointer)>;

    /// Starts to listen; connections wait until start(). If the name has several addresses, only the first one that is
    /// available is used, because port 0 selects a single free port. Throws Error{config} if no address is available,
    /// or the name is not resolved before the deadline or before `stop` is requested.
    Acceptor(boost::asio::io_context& context, const Address& address, const HostLookup& lookup,
             Clock::time_point deadline, std::stop_token stop);

    /// Returns the requested address with the port in use.
    const Address& address() const { return address_; }

    /// Returns true if only programs of this machine can connect.
    bool loopback() const { return loopback_; }
    /// Accepts connections and passes each to `take`. If accepting fails, for example because no descriptor is free,
    /// the acceptor retries after a pause.
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
    LimitedLog trouble_{LogLevel::warning, "connections that could not be accepted"};
};

/// Wraps a connected socket. Use it on the thread that runs the socket's context. Sends without delay (TCP_NODELAY) and
/// limits unsent data (TCP_NOTSENT_LOWAT), so that a slow viewer does not receive stale pictures.
ConnectionPointer tcp_connection(boost::asio::ip::tcp::socket socket);

/// Returns a dialer for TCP connections to `server`, whose name is resolved for each connection. `stop` interrupts its
/// waits.
std::unique_ptr<Dialer> tcp_dialer(const Address& server, const HostLookup& lookup, std::stop_token stop);

/// An event loop with its own thread, and a second thread for work that must not delay it.
class IoLoop final : public Loop {
public:
    /// Called on the loop's thread with the text of an exception that a callback threw.
    using Trouble = std::function<void(const std::string& what)>;

    /// Creates a loop that is not running yet.
    IoLoop() = default;
    /// Stops, see stop().
    ~IoLoop() override;
    IoLoop(const IoLoop&) = delete;
    IoLoop& operator=(const IoLoop&) = delete;

    /// Returns the context for sockets and timers.
    boost::asio::io_context& context() { return context_; }

    /// Starts the thread, which runs as long as there is something to do. An exception thrown by a callback is reported
    /// to `trouble` and does not end the loop.
    void start(Trouble trouble);
    /// Stops the loop. Returns when its thread and the work in progress have ended.
    void stop();

    /// Returns the real time.
    Clock::time_point now() const override { return Clock::now(); }
    /// See Loop::post().
    void post(std::function<void()> task) override;
    /// See Loop::post_work().
    void post_work(std::function<void()> task) override;

private:
    boost::asio::io_context context_{1};
    boost::asio::thread_pool work_{1};
    std::thread thread_;
};

/// Formats the address of a peer, such as "127.0.0.1:40312".
std::string name_of(const boost::asio::ip::tcp::endpoint& end);

/// Returns the key for limits per peer: the IPv4 address, also if it is mapped into IPv6; for other IPv6 addresses the
/// /64 network, because it usually belongs to one subscriber.
boost::asio::ip::address peer_of(const boost::asio::ip::address& address);

}  // namespace framewire::net
