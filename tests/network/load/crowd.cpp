#include "network/load/crowd.hpp"

#include "framewire/codec/packing.hpp"
#include "framewire/core/error.hpp"
#include "framewire/net/wire.hpp"

#include <boost/asio.hpp>

#include <algorithm>
#include <array>
#include <random>
#include <utility>

namespace framewire::network {
namespace {

namespace asio = boost::asio;
using asio::awaitable;
using asio::use_awaitable;
using asio::ip::tcp;
using namespace net;

// Viewer of the crowd, which connects, and reconnects if it has a limited stay or the stream is lost.
class CrowdViewer {
public:
    CrowdViewer(asio::io_context& context, const LoadOptions& options, const LoadTarget& target, int number)
        : options_(options),
          target_(target),
          socket_(context),
          pause_(context),
          number_(number),
          random_(static_cast<std::uint32_t>(number)),
          stalls_(number < options.stalled) {
        report_.url = target.url;
    }

    awaitable<void> run(Clock::time_point end) {
        auto lost_at = Clock::now();
        while (Clock::now() < end) {
            std::string why;
            const auto states = report_.states;
            try {
                co_await view(end);
            } catch (const boost::system::system_error& error) {
                why = error.code().message();
            } catch (const Error& error) {
                why = error.what();
            }
            if (report_.states > states) lost_at = Clock::now();
            if (!why.empty()) report_.errors.push_back(why);
            const bool again = why.empty() ? options_.stay_seconds > 0 || options_.reconnect_seconds > 0
                                           : milliseconds_since(lost_at) < 1e3 * options_.reconnect_seconds;
            if (!again) co_return;
            pause_.expires_after(why.empty() ? away() : std::chrono::milliseconds(100));
            co_await pause_.async_wait(use_awaitable);
        }
    }

    // Call it once, when the viewer is done.
    const ViewerReport& report() {
        if (!target_.log && !report_.arrivals.empty()) {
            const double fastest_ms = std::ranges::min(report_.arrivals, {}, &Arrival::latency_ms).latency_ms;
            for (auto& arrival : report_.arrivals) arrival.latency_ms -= fastest_ms;
        }
        return report_;
    }

private:
    static Clock::duration seconds(double count) {
        return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(count));
    }

    std::chrono::milliseconds away() {
        return std::chrono::milliseconds(std::uniform_int_distribution(10, 300)(random_));
    }

    // Views over one connection until its time is over; throws if the connection is lost or the server breaks the
    // protocol.
    awaitable<void> view(Clock::time_point end) {
        const auto begin = Clock::now();
        auto until = end;
        if (options_.stay_seconds > 0)
            until =
                std::min(end, begin + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(
                                          options_.stay_seconds * std::uniform_real_distribution<>(0, 2)(random_))));
        ++report_.connections;
        const auto& server = target_.address.server;
        socket_ = tcp::socket(socket_.get_executor());
        const tcp::endpoint to(asio::ip::make_address(server.host), server.port);
        if (to.address().is_loopback()) come_from_an_address_of_its_own();
        co_await socket_.async_connect(to, use_awaitable);
        socket_.set_option(tcp::no_delay(true));
        const auto hello = viewer_hello({.stream = target_.address.stream});
        const auto said_at = Clock::now();
        if (target_.address.scheme == Scheme::websocket) co_await become_websocket();
        co_await write(hello);
        co_await read(preamble_bytes);
        read_server_preamble(payload_);
        const auto front = co_await read_message(0);
        if (front != MessageType::hello) fail(ErrorCode::source_lost, "refused: {}", read_error(payload_).text);
        const auto info = read_server_hello(payload_).info;
        const auto limit = codec::max_packed_bytes(info.shape);
        held_ = {};
        while (Clock::now() < until) {
            const auto type = co_await read_message(limit);
            if (type == MessageType::end) co_return;
            if (type == MessageType::error) fail(ErrorCode::source_lost, "server: {}", read_error(payload_).text);
            if (type != MessageType::picture && type != MessageType::changes && type != MessageType::hello) continue;
            if (type == MessageType::hello) fail(ErrorCode::source_lost, "the server sent a second hello");
            take_state(type, info.shape, said_at);
            co_await acknowledge();
            if (stalls_) co_await wait_until(until);
        }
        socket_.close();
    }

    // Upgrades the connection as a browser does.
    awaitable<void> become_websocket() {
        const auto request = fmt::format(
            "GET /{}/stream HTTP/1.1\r\nHost: {}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
            "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
            "Sec-WebSocket-Protocol: framewire\r\n\r\n",
            target_.address.stream, to_string(target_.address.server));
        co_await asio::async_write(socket_, asio::buffer(request), use_awaitable);
        std::string answer;
        co_await asio::async_read_until(socket_, asio::dynamic_buffer(answer), "\r\n\r\n", use_awaitable);
        // The server sends nothing after its response until it receives a hello.
        if (!answer.starts_with("HTTP/1.1 101 "))
            fail(ErrorCode::source_lost, "the server refused the WebSocket: {}", answer);
        frame_left_bytes_ = 0;
        websocket_ = true;
    }

    // Writes a message; in a WebSocket, as one frame with a mask of zeros.
    awaitable<void> write(const Bytes& message) {
        Bytes framed;
        if (websocket_) {
            if (message.size() > 125) fail(ErrorCode::internal, "a client message is longer than 125 bytes");
            framed = {0x82, static_cast<std::uint8_t>(0x80 | message.size()), 0, 0, 0, 0};
        }
        framed.insert(framed.end(), message.begin(), message.end());
        co_await asio::async_write(socket_, asio::buffer(framed), use_awaitable);
    }

    // Reads the header of a frame: servers send unfragmented binary messages.
    awaitable<void> read_frame_front() {
        std::array<std::uint8_t, 8> bytes{};
        co_await asio::async_read(socket_, asio::buffer(bytes, 2), use_awaitable);
        if (bytes[0] != 0x82) fail(ErrorCode::source_lost, "unexpected WebSocket frame of type {}", bytes[0]);
        frame_left_bytes_ = bytes[1];
        if (bytes[1] < 126) co_return;
        const std::size_t count = bytes[1] == 126 ? 2 : 8;
        co_await asio::async_read(socket_, asio::buffer(bytes, count), use_awaitable);
        frame_left_bytes_ = 0;
        for (std::size_t i = 0; i < count; ++i) frame_left_bytes_ = frame_left_bytes_ << 8 | bytes[i];
    }

    // Connects from one of many loopback addresses, because servers limit connections per address.
    void come_from_an_address_of_its_own() {
        constexpr int own_addresses = 200;
        socket_.open(tcp::v4());
        socket_.bind({asio::ip::address_v4(asio::ip::address_v4::loopback().to_uint() + 1 +
                                           static_cast<unsigned>(number_ % own_addresses)),
                      0});
    }

    awaitable<void> wait_until(Clock::time_point time) {
        pause_.expires_at(time);
        co_await pause_.async_wait(use_awaitable);
    }

    void take_state(MessageType type, const Shape& shape, Clock::time_point said_at) {
        const auto now = Clock::now();
        ByteSpan rest(payload_);
        const auto state = read_state(rest, shape, objects_);
        if (state.version < held_.version)
            fail(ErrorCode::source_lost, "version {} arrived after version {}", state.version, held_.version);
        if (held_.messages > 0 && state.version > held_.version)
            report_.skipped += static_cast<std::int64_t>(state.version - held_.version - 1);
        ++held_.messages;
        held_.version = state.version;
        came_at_ = now;
        ++report_.states;
        report_.pictures += type == MessageType::picture;
        if (state.partial) return;  // the remaining blocks of this or the next state follow
        if (!std::exchange(held_.complete, true)) report_.first_state_ms.push_back(milliseconds(said_at, now));
        // The camera counts frames from 1, a source from 0.
        if (target_.log)
            report_.came(target_.log->captured(static_cast<std::uint32_t>(state.frame) + 1), now);
        else if (target_.fps > 0)
            report_.came(began_at_ + seconds(static_cast<double>(state.frame) / target_.fps), now);
    }

    // Acknowledges each state immediately, because nothing is drawn.
    awaitable<void> acknowledge() {
        const auto us = [](Clock::duration time) {
            return std::chrono::duration_cast<std::chrono::microseconds>(time).count();
        };
        const auto message = drawn_message({.messages = held_.messages,
                                            .version = held_.version,
                                            .clock_us = static_cast<std::uint64_t>(us(Clock::now() - began_at_)),
                                            .held_us = static_cast<std::uint32_t>(us(Clock::now() - came_at_)),
                                            .coming_us = static_cast<std::uint32_t>(us(came_at_ - front_at_))});
        co_await write(message);
    }

    awaitable<void> read(std::size_t bytes) {
        payload_.resize(bytes);
        for (std::size_t done = 0; done < bytes;) {
            while (websocket_ && frame_left_bytes_ == 0) co_await read_frame_front();
            const auto count = websocket_ ? std::min(bytes - done, frame_left_bytes_) : bytes;
            co_await asio::async_read(socket_, asio::buffer(payload_.data() + done, count), use_awaitable);
            done += count;
            if (websocket_) frame_left_bytes_ -= count;
        }
        report_.bytes += static_cast<std::int64_t>(bytes);
    }
    awaitable<MessageType> read_message(std::size_t limit) {
        co_await read(header_bytes);
        front_at_ = Clock::now();
        const auto header = read_header(payload_, limit);
        co_await read(header.length_bytes);
        co_return header.type;
    }

    const LoadOptions& options_;
    const LoadTarget& target_;
    tcp::socket socket_;
    asio::steady_timer pause_;
    int number_;
    std::mt19937 random_;
    bool stalls_;
    struct Held {
        std::uint64_t messages = 0, version = 0;
        bool complete = false;
    };
    Held held_{};  // state that this connection holds
    Clock::time_point began_at_ = Clock::now(), front_at_{}, came_at_{};
    bool websocket_ = false;
    std::size_t frame_left_bytes_ = 0;  // bytes left in the WebSocket frame
    Bytes payload_;
    std::vector<Component> objects_;
    ViewerReport report_;
};

}  // namespace

std::vector<ViewerReport> run_crowd(const LoadOptions& options, std::stop_token stop) {
    asio::io_context context(1);
    std::vector<std::unique_ptr<CrowdViewer>> viewers;
    const auto end =
        Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(options.seconds));
    for (int number = 0; number < options.viewers; ++number) {
        const auto& target = options.targets[static_cast<std::size_t>(number) % options.targets.size()];
        viewers.push_back(std::make_unique<CrowdViewer>(context, options, target, number));
        asio::co_spawn(context, viewers.back()->run(end), [](const std::exception_ptr& failure) {
            if (failure) std::rethrow_exception(failure);
        });
    }
    const std::stop_callback stopping(stop, [&] { context.stop(); });
    context.run_until(end);
    std::vector<ViewerReport> reports;
    for (const auto& viewer : viewers) reports.push_back(viewer->report());
    return reports;
}

}  // namespace framewire::network
