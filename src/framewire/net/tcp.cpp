#include "framewire/net/tcp.hpp"
#include "framewire/core/error.hpp"
#include "framewire/net/address.hpp"

#include <netdb.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <boost/asio.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace framewire::net {

namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

// Pause after a failed accept, so that a persistent error does not keep a core busy.
constexpr std::chrono::milliseconds accept_pause{100};

// Listens at the first available address. If none is available, reports the last error.
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
    fail(ErrorCode::config, "cannot listen on {}: the name cannot be resolved", to_string(address));
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
            trouble_.line("listening on {}: cannot accept a connection: {}", to_string(address_), error.message());
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

namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

// Maximum number of bytes that the kernel accepts but has not sent. Less means fresher pictures for a slow viewer.
constexpr int unsent_limit_bytes = 128 * 1024;
// Upper limit of the retransmission timeout. TCP doubles the timeout with each loss of the same packet (RFC 6298, 5.5),
// so after a few losses it waits up to 6 s although the line is good again. Linux 6.15 and later can limit it; 1 s is
// the smallest limit. Other systems ignore the option.
constexpr int rto_max_option = 44;  // TCP_RTO_MAX_MS, which older headers do not define
constexpr int longest_retry_ms = 1000;

class TcpConnection final : public Connection {
public:
    explicit TcpConnection(tcp::socket socket) : core_(std::make_shared<Core>(std::move(socket))) {
        error_code ignored;  // these options only improve latency
        core_->socket.set_option(tcp::no_delay(true), ignored);
        setsockopt(core_->socket.native_handle(), IPPROTO_TCP, rto_max_option, &longest_retry_ms,
                   sizeof longest_retry_ms);
        setsockopt(core_->socket.native_handle(), IPPROTO_TCP, TCP_NOTSENT_LOWAT, &unsent_limit_bytes,
                   sizeof unsent_limit_bytes);
        error_code gone_already;  // the peer may have left; its address is then the unspecified one
        const auto end = core_->socket.remote_endpoint(gone_already);
        name_ = gone_already ? "a viewer" : name_of(end);
        peer_ = peer_of(end.address()).to_string();
    }
    ~TcpConnection() override { close(); }

    const std::string& name() const override { return name_; }
    const std::string& peer() const override { return peer_; }

    void read_some(std::span<std::uint8_t> into, Done done) override {
        core_->read_done = std::move(done);
        core_->socket.async_read_some(asio::buffer(into.data(), into.size()),
                                      [core = core_](const error_code& error, std::size_t bytes) {
                                          const bool closed = error == asio::error::eof;
                                          finish(core->read_done, closed ? error_code() : error, closed ? 0 : bytes);
                                      });
    }

    void write(std::span<const std::span<const std::uint8_t>> pieces, Progress progress, Done done) override {
        auto& core = *core_;
        core.write_progress = std::move(progress);
        core.write_done = std::move(done);
        core.pieces.clear();
        for (const auto& piece : pieces) core.pieces.emplace_back(piece.data(), piece.size());
        const auto watch_progress = [&core](const error_code& error, std::size_t bytes) {
            if (core.write_progress) core.write_progress(bytes);
            return asio::transfer_all()(error, bytes);
        };
        asio::async_write(core.socket, std::span<const asio::const_buffer>(core.pieces), watch_progress,
                          [core = core_](const error_code& error, std::size_t bytes) {
                              core->write_progress = nullptr;
                              finish(core->write_done, error, bytes);
                          });
    }

    void end_writing() override {
        error_code ignored;
        core_->socket.shutdown(tcp::socket::shutdown_send, ignored);
    }

    void close() override {
        core_->read_done = core_->write_done = nullptr;
        core_->write_progress = nullptr;
        error_code ignored;
        core_->socket.close(ignored);
    }

private:
    // Outlives the connection until the last operation has ended.
    struct Core {
        explicit Core(tcp::socket socket_) : socket(std::move(socket_)) {}

        tcp::socket socket;
        Done read_done, write_done;
        Progress write_progress;
        std::vector<asio::const_buffer> pieces;  // parts of the write in progress; reused to avoid allocations
    };

    static void finish(Done& done, const error_code& error, std::size_t bytes) {
        if (const auto call = std::exchange(done, nullptr)) call(error, bytes);
    }

    std::shared_ptr<Core> core_;
    std::string name_, peer_;
};

}  // namespace

ConnectionPointer tcp_connection(tcp::socket socket) { return std::make_unique<TcpConnection>(std::move(socket)); }

namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

// Runs a private io_context on the calling thread while it waits.
class TcpDialer final : public Dialer {
public:
    TcpDialer(const Address& server, const HostLookup& lookup, std::stop_token stop)
        : server_(server), lookup_(server.host, lookup), stop_(std::move(stop)), on_stop_(stop_, [this] {
              asio::post(context_, [] {});  // wakes wait(), which then checks for the stop
          }) {}

    ConnectionPointer dial(Clock::time_point deadline) override {
        const auto endpoints = resolve(deadline);
        struct {
            bool done = false;
            error_code error{};
        } outcome;
        tcp::socket socket(context_);
        asio::async_connect(socket, endpoints, [&outcome](const error_code& error, const tcp::endpoint&) {
            outcome.done = true;
            outcome.error = error;
        });
        if (!wait(outcome.done, deadline)) {
            // Closing the socket ends the pending operation at once.
            error_code ignored;
            socket.close(ignored);
            while (!outcome.done) context_.run_one();
            throw Lost{stopped() ? "stopped" : "the connection timed out"};
        }
        if (outcome.error) throw Lost{outcome.error.message()};
        return tcp_connection(std::move(socket));
    }

    bool wait(const bool& done, Clock::time_point deadline) override {
        while (!done && !stopped())
            if (context_.run_one_until(deadline) == 0 && Clock::now() >= deadline) break;
        return done;
    }
    void post(std::function<void()> task) override { asio::post(context_, std::move(task)); }
    Clock::time_point now() const override { return Clock::now(); }
    bool stopped() const override { return stop_.stop_requested(); }

private:
    std::vector<tcp::endpoint> resolve(Clock::time_point deadline) {
        std::optional<std::vector<std::string>> found;
        try {
            found = lookup_.addresses(deadline, stop_);
        } catch (const Error& error) {
            throw Lost{error.what()};  // a failing resolver may recover
        }
        if (!found) throw Lost{stopped() ? "stopped" : "the name cannot be resolved"};
        std::vector<tcp::endpoint> endpoints;
        for (const auto& numeric : *found) {
            error_code error;
            const auto ip = asio::ip::make_address(numeric, error);
            if (!error) endpoints.emplace_back(ip, server_.port);
        }
        if (endpoints.empty()) throw Lost{"the name has no addresses"};
        return endpoints;
    }

    Address server_;
    NameLookup lookup_;
    std::stop_token stop_;
    asio::io_context context_{1};
    asio::executor_work_guard<asio::io_context::executor_type> guard_{context_.get_executor()};
    std::stop_callback<std::function<void()>> on_stop_;  // last, because it uses the context
};

}  // namespace

std::unique_ptr<Dialer> tcp_dialer(const Address& server, const HostLookup& lookup, std::stop_token stop) {
    return std::make_unique<TcpDialer>(server, lookup, std::move(stop));
}

namespace asio = boost::asio;

IoLoop::~IoLoop() { stop(); }

void IoLoop::start(Trouble trouble) {
    thread_ = std::thread([this, trouble = std::move(trouble)] {
        for (;;) {
            // run() can be called again after a handler threw; the remaining handlers are not lost.
            try {
                context_.run();
                return;
            } catch (const std::exception& error) {
                trouble(error.what());
            }
        }
    });
}

// The loop is stopped first. Work in progress then ends, and its results are not delivered.
void IoLoop::stop() {
    context_.stop();
    if (thread_.joinable()) thread_.join();
    work_.join();
}

void IoLoop::post(std::function<void()> task) { asio::post(context_, std::move(task)); }

void IoLoop::post_work(std::function<void()> task) { asio::post(work_, std::move(task)); }

std::vector<std::string> system_lookup(const std::string& host) {
    addrinfo wanted{};
    wanted.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    if (const int error = ::getaddrinfo(host.c_str(), nullptr, &wanted, &found))
        fail(ErrorCode::no_input, "{}", error == EAI_SYSTEM ? std::strerror(errno) : ::gai_strerror(error));
    const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(found, &::freeaddrinfo);
    std::vector<std::string> addresses;
    for (const auto* entry = found; entry; entry = entry->ai_next) {
        std::array<char, NI_MAXHOST> text{};
        if (::getnameinfo(entry->ai_addr, entry->ai_addrlen, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST) == 0)
            addresses.emplace_back(text.data());
    }
    return addresses;
}

// Shared by the waiting thread and the lookup thread; whichever ends last destroys it.
struct NameLookup::Answer {
    std::mutex mutex;
    std::condition_variable_any given;
    bool there = false;
    std::vector<std::string> addresses;
    std::string problem;  // empty if the lookup succeeded
};

NameLookup::NameLookup(std::string host, HostLookup lookup) : host_(std::move(host)), lookup_(std::move(lookup)) {}

std::optional<std::vector<std::string>> NameLookup::addresses(Clock::time_point deadline, std::stop_token stop) {
    boost::system::error_code not_numeric;
    boost::asio::ip::make_address(host_, not_numeric);
    if (!not_numeric) return std::vector{host_};

    if (!awaited_) {
        auto answer = std::make_shared<Answer>();
        const auto look_up = [answer, lookup = lookup_, host = host_] {
            std::vector<std::string> addresses;
            std::string problem;
            try {
                addresses = lookup(host);
                if (addresses.empty()) problem = "the name has no addresses";
            } catch (const std::exception& error) {
                problem = error.what();
            }
            {
                const std::lock_guard lock(answer->mutex);
                answer->addresses = std::move(addresses);
                answer->problem = std::move(problem);
                answer->there = true;
            }
            answer->given.notify_all();
        };
        // getaddrinfo() cannot be cancelled, so the thread is detached.
        try {
            std::thread(look_up).detach();
        } catch (const std::system_error& error) {
            fail(ErrorCode::no_input, "cannot start a thread to look up '{}': {}", host_, error.what());
        }
        awaited_ = std::move(answer);
    }
    {
        std::unique_lock lock(awaited_->mutex);
        if (!awaited_->given.wait_until(lock, std::move(stop), deadline, [&] { return awaited_->there; }))
            return std::nullopt;
    }
    const auto answer = std::exchange(awaited_, nullptr);  // the next call starts a new lookup
    if (!answer->problem.empty()) fail(ErrorCode::no_input, "{}", answer->problem);
    return std::move(answer->addresses);
}

namespace ip = boost::asio::ip;

std::string name_of(const ip::tcp::endpoint& end) { return to_string(Address{end.address().to_string(), end.port()}); }

// A mapped IPv4 address is the same peer as the IPv4 address itself.
ip::address peer_of(const ip::address& address) {
    if (address.is_v4()) return address;
    const auto whole = address.to_v6();
    if (whole.is_v4_mapped()) return ip::make_address_v4(ip::v4_mapped, whole);
    auto bytes = whole.to_bytes();
    std::fill(bytes.begin() + 8, bytes.end(), std::uint8_t{0});
    return ip::address_v6(bytes, whole.scope_id());
}

}  // namespace framewire::net
