#include "framewire/net/websocket.hpp"
#include "framewire/core/text.hpp"
#include "framewire/net/transport.hpp"

#include <fmt/format.h>
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/websocket/stream.hpp>

#include <algorithm>
#include <functional>
#include <limits>
#include <system_error>
#include <utility>

namespace framewire::net {

namespace {

namespace beast = boost::beast;
using beast::error_code;

beast::string_view view_of(std::string_view text) { return {text.data(), text.size()}; }

}  // namespace

// If a callback destroys the connection, the core lives until that callback has returned.
struct WebSocketConnection::Core : AskedOfConnection, std::enable_shared_from_this<Core> {
    Core(ConnectionPointer carrier, Options options_)
        : options(std::move(options_)), stream(std::move(carrier), options.post) {
        stream.binary(!options.text);
        stream.auto_fragment(false);
        stream.read_message_max(options.message_limit_bytes);
    }

    Carrier& carrier() { return stream.next_layer(); }

    // Answers the handshake request, which the HTTP server has already read.
    void accept(const Fields& fields) {
        beast::http::request<beast::http::empty_body> request(beast::http::verb::get, "/", 11);
        for (const auto& [name, value] : fields) request.insert(view_of(name), view_of(value));
        stream.set_option(beast::websocket::stream_base::decorator([this](beast::websocket::response_type& said) {
            if (!options.protocol.empty()) said.set(beast::http::field::sec_websocket_protocol, options.protocol);
            said.erase(beast::http::field::server);
        }));
        stream.async_accept(request, [weak = weak_from_this()](const error_code& error) {
            if (const auto self = weak.lock()) finish(self->shaken, error, 0);
        });
    }

    // Sends the handshake request.
    void ask(const std::string& host, const std::string& path) {
        stream.set_option(beast::websocket::stream_base::decorator([this](beast::websocket::request_type& request) {
            if (!options.protocol.empty()) request.set(beast::http::field::sec_websocket_protocol, options.protocol);
        }));
        stream.async_handshake(answer, host, path, [weak = weak_from_this()](const error_code& error) {
            if (const auto self = weak.lock()) finish(self->shaken, error, 0);
        });
    }

    void read() {
        stream.async_read_some(boost::asio::buffer(into.data(), into.size()),
                               [weak = weak_from_this()](const error_code& error, std::size_t bytes) {
                                   if (const auto self = weak.lock()) self->take(error, bytes);
                               });
    }

    // Passes on received bytes. A message of the wrong kind, text or binary, is an error.
    void take(const error_code& error, std::size_t bytes) {
        if (error == beast::websocket::error::closed || error == boost::asio::error::eof)
            return finish(read_done, std::error_code(), 0);
        if (error) return finish(read_done, error, 0);
        if (stream.got_text() != options.text)
            return finish(read_done, std::make_error_code(std::errc::protocol_error), 0);
        if (bytes > 0) return finish(read_done, error, bytes);
        if (read_done) read();  // an empty frame; continue reading
    }

    // Sends the next piece as one message.
    void write() {
        while (piece < pieces.size() && pieces[piece].empty()) ++piece;
        if (piece == pieces.size()) return finish_write({});
        const auto bytes = pieces[piece];
        begun_at_bytes = carrier().written_bytes();
        stream.async_write(boost::asio::buffer(bytes.data(), bytes.size()),
                           [weak = weak_from_this()](const error_code& error, std::size_t) {
                               if (const auto self = weak.lock()) self->written(error);
                           });
    }

    void written(const error_code& error) {
        if (error) return finish_write(error);
        written_bytes += pieces[piece++].size();
        if (write_done) write();
    }

    // Converts the carrier's progress to payload bytes by subtracting the frame header, which has at most 14 bytes (RFC
    // 6455, 5.2).
    void tell_progress(std::size_t carried_bytes) {
        constexpr std::size_t longest_front_bytes = 14;
        if (!progress || piece == pieces.size()) return;
        const auto carried = carried_bytes - std::min(carried_bytes, begun_at_bytes + longest_front_bytes);
        progress(written_bytes + std::min(carried, pieces[piece].size()));
    }

    void close() {
        forget();
        carrier().on_progress(nullptr);
        carrier().connection().close();
    }

    const Options options;
    beast::websocket::response_type answer;  // response of the server to ask()
    beast::websocket::stream<Carrier, false> stream;
    bool pinging = false;
    std::size_t begun_at_bytes = 0;  // bytes that the carrier had written before the current message
};

WebSocketConnection::WebSocketConnection(ConnectionPointer carrier, Options options)
    : core_(std::make_shared<Core>(std::move(carrier), std::move(options))) {}
WebSocketConnection::~WebSocketConnection() { close(); }

void WebSocketConnection::accept(const Fields& request, Done done) {
    core_->shaken = std::move(done);
    core_->accept(request);
}

void WebSocketConnection::ask(const std::string& host, const std::string& path, Done done) {
    core_->shaken = std::move(done);
    core_->ask(host, path);
}

std::optional<std::string> WebSocketConnection::declined() const {
    constexpr std::size_t longest_words = 300;
    const auto& answer = core_->answer;
    if (answer.result() == beast::http::status::switching_protocols || answer.result_int() < 300) return std::nullopt;
    return fmt::format("the server responded with status {}: {}", answer.result_int(),
                       printable(answer.body().substr(0, longest_words)));
}

bool WebSocketConnection::message_ended() const { return core_->stream.is_message_done(); }

void WebSocketConnection::ping() {
    if (std::exchange(core_->pinging, true)) return;
    core_->stream.async_ping({}, [weak = std::weak_ptr(core_)](const error_code&) {
        if (const auto self = weak.lock()) self->pinging = false;
    });
}

const std::string& WebSocketConnection::name() const {
    return core_->options.name.empty() ? core_->carrier().connection().name() : core_->options.name;
}
const std::string& WebSocketConnection::peer() const {
    return core_->options.peer.empty() ? core_->carrier().connection().peer() : core_->options.peer;
}

void WebSocketConnection::read_some(std::span<std::uint8_t> into, Done done) {
    core_->ask_to_read(into, std::move(done));
    core_->read();
}

void WebSocketConnection::write(std::span<const std::span<const std::uint8_t>> pieces, Progress progress, Done done) {
    auto& core = *core_;
    core.ask_to_write(pieces, std::move(progress), std::move(done));
    core.carrier().on_progress([weak = std::weak_ptr(core_)](std::size_t bytes) {
        if (const auto self = weak.lock()) self->tell_progress(bytes);
    });
    // An empty write also completes in a posted task, because callbacks must not run inside the call that set them.
    if (std::ranges::any_of(pieces, [](const auto& one) { return !one.empty(); })) return core.write();
    core.options.post([weak = std::weak_ptr(core_)] {
        if (const auto self = weak.lock()) self->write();
    });
}

void WebSocketConnection::end_writing() {
    core_->stream.async_close(beast::websocket::close_code::normal, [](const error_code&) {});
}

void WebSocketConnection::close() { core_->close(); }

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
        const auto error = shake_hands(*connection, deadline, "the WebSocket handshake failed",
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
