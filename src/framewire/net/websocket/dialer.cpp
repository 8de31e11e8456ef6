#include "framewire/net/websocket/dialer.hpp"

#include "framewire/net/websocket/connection.hpp"

#include <functional>
#include <limits>
#include <system_error>
#include <utility>

namespace framewire::net {

namespace {

class WebSocketDialer final : public Dialer {
public:
    WebSocketDialer(std::unique_ptr<Dialer> carrier, const StreamAddress& server)
        : carrier_(std::move(carrier)), host_(to_string(server.server)), path_("/" + server.stream + "/stream") {}

    ConnectionPointer dial(Clock::time_point deadline) override {
        auto connection = std::make_unique<WebSocketConnection>(
            carrier_->dial(deadline),
            WebSocketConnection::Options{
                .post = [this](std::function<void()> task) { carrier_->post(std::move(task)); },
                .protocol = std::string(WebSocketConnection::stream_protocol),
                .message_limit_bytes = std::numeric_limits<std::size_t>::max()});  // the protocol has its own
        struct {
            bool done = false;
            std::error_code error{};
        } outcome;
        connection->ask(host_, path_, [&outcome](const std::error_code& error, std::size_t) {
            outcome.done = true;
            outcome.error = error;
        });
        if (!carrier_->wait(outcome.done, deadline)) {
            connection->close();
            throw Lost{stopped() ? "told to stop" : "no WebSocket comes about"};
        }
        if (outcome.error) throw Lost{connection->declined().value_or(outcome.error.message())};
        return connection;
    }
    bool wait(const bool& done, Clock::time_point deadline) override { return carrier_->wait(done, deadline); }
    void post(std::function<void()> task) override { carrier_->post(std::move(task)); }
    Clock::time_point now() const override { return carrier_->now(); }
    bool stopped() const override { return carrier_->stopped(); }

private:
    std::unique_ptr<Dialer> carrier_;
    const std::string host_, path_;
};

}  // namespace

std::unique_ptr<Dialer> websocket_dialer(std::unique_ptr<Dialer> carrier, const StreamAddress& server) {
    return std::make_unique<WebSocketDialer>(std::move(carrier), server);
}

}  // namespace framewire::net
