#include "framewire/net/tcp/connection.hpp"

#include "framewire/net/tcp/peer.hpp"

#include <boost/asio.hpp>

#include <netinet/tcp.h>

#include <utility>
#include <vector>

namespace framewire::net {

namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

// Most bytes that the kernel accepts but has not sent. Less means fresher pictures for a slow viewer.
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
        std::vector<asio::const_buffer> pieces;  // of the write in progress; reused to avoid allocations
    };

    static void finish(Done& done, const error_code& error, std::size_t bytes) {
        if (const auto call = std::exchange(done, nullptr)) call(error, bytes);
    }

    std::shared_ptr<Core> core_;
    std::string name_, peer_;
};

}  // namespace

ConnectionPointer tcp_connection(tcp::socket socket) { return std::make_unique<TcpConnection>(std::move(socket)); }

}  // namespace framewire::net
