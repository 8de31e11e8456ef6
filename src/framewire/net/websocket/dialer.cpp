#include "framewire/net/websocket/dialer.hpp"

#include "framewire/net/transport/layered_dialer.hpp"
#include "framewire/net/websocket/connection.hpp"

#include <functional>
#include <limits>
#include <system_error>
#include <utility>

namespace framewire::net {

namespace {

// Adds the WebSocket handshake to the carrier's connections.
class WebSocketDialer final : public LayeredDialer {
public:
    WebSocketDialer(std::unique_ptr<Dialer> carrier, const StreamAddress& server)
        : LayeredDialer(std::move(carrier)), host_(to_string(server.server)), path_("/" + server.stream + "/stream") {}

    ConnectionPointer dial(Clock::time_point deadline) override {
        auto connection = std::make_unique<WebSocketConnection>(
            carrier().dial(deadline),
            WebSocketConnection::Options{
                .post = [this](std::function<void()> task) { post(std::move(task)); },
                .protocol = std::string(WebSocketConnection::stream_protocol),
                .message_limit_bytes =
                    std::numeric_limits<std::size_t>::max()});  // the stream protocol limits messages itself
        const auto error = shake_hands(*connection, deadline, "no WebSocket comes about",
                                       [&](Connection::Done done) { connection->ask(host_, path_, std::move(done)); });
        if (error) throw Lost{connection->declined().value_or(error.message())};
        return connection;
    }

private:
    const std::string host_, path_;
};

}  // namespace

std::unique_ptr<Dialer> websocket_dialer(std::unique_ptr<Dialer> carrier, const StreamAddress& server) {
    return std::make_unique<WebSocketDialer>(std::move(carrier), server);
}

}  // namespace framewire::net
