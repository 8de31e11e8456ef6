#include "framewire/net/tcp/dialer.hpp"

#include "framewire/core/error.hpp"
#include "framewire/net/tcp/connection.hpp"

#include <boost/asio.hpp>

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace framewire::net {

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
            throw Lost{stopped() ? "told to stop" : "no connection comes about"};
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
        if (!found) throw Lost{stopped() ? "told to stop" : "the name is not resolved"};
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

}  // namespace framewire::net
