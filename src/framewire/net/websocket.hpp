#pragma once

#include "framewire/net/address.hpp"
#include "framewire/net/transport.hpp"

#include <boost/asio/async_result.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/execution.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/beast/core/role.hpp>
#include <boost/system/error_code.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace framewire::net {

/// Executor for Boost.Beast that runs handlers on a connection's thread, using a function that posts tasks to it.
class PostingExecutor {
public:
    /// Runs a task later on the connection's thread.
    using Post = std::function<void(std::function<void()> task)>;

    /// `post` must not be null.
    explicit PostingExecutor(Post post) : post_(std::make_shared<const Post>(std::move(post))) {}

    /// Posts `task`.
    template <class Task>
    void execute(Task task) const {
        // A std::function must be copyable, and Beast's handlers are move-only.
        (*post_)([shared = std::make_shared<Task>(std::move(task))] { std::move (*shared)(); });
    }
    /// Properties that Asio requires of an executor.
    boost::asio::execution_context& query(boost::asio::execution::context_t) const noexcept { return context(); }
    static constexpr boost::asio::execution::blocking_t query(boost::asio::execution::blocking_t) noexcept {
        return boost::asio::execution::blocking.never;
    }
    // These return by value. Asio's defaults for other properties return references, which Beast would store.
    PostingExecutor require(boost::asio::execution::blocking_t::never_t) const { return *this; }
    PostingExecutor require(boost::asio::execution::outstanding_work_t::tracked_t) const { return *this; }
    PostingExecutor require(boost::asio::execution::outstanding_work_t::untracked_t) const { return *this; }
    friend bool operator==(const PostingExecutor& a, const PostingExecutor& b) noexcept { return a.post_ == b.post_; }
    friend bool operator!=(const PostingExecutor& a, const PostingExecutor& b) noexcept { return !(a == b); }

private:
    // Holds the timers of Beast's streams. They are never started: the users of a connection apply deadlines.
    static boost::asio::io_context& context() {
        static boost::asio::io_context none_runs_it;
        return none_runs_it;
    }

    std::shared_ptr<const Post> post_;
};

/// Adapts a Connection to the AsyncStream concept that Beast's streams require of the layer below.
class Carrier {
public:
    /// Types that the concept requires.
    using executor_type = PostingExecutor;
    using error_code = boost::system::error_code;

    /// `connection` and `post` must not be null.
    Carrier(ConnectionPointer connection, PostingExecutor::Post post)
        : connection_(std::move(connection)), executor_(std::move(post)) {}

    /// Returns the executor for handlers.
    executor_type get_executor() const noexcept { return executor_; }
    /// Returns the connection below.
    Connection& connection() const { return *connection_; }
    /// Sets a function that is called with the total number of bytes written so far. Null removes it.
    void on_progress(std::function<void(std::size_t bytes)> reported) { reported_ = std::move(reported); }
    /// Returns the total size of all finished writes in bytes.
    std::size_t written_bytes() const { return written_bytes_; }

    /// Reads into the first of `buffers`.
    template <class Buffers, class Handler>
    auto async_read_some(const Buffers& buffers, Handler&& handler) {
        return boost::asio::async_initiate<Handler, void(error_code, std::size_t)>(
            [this](auto inner, const Buffers& into) {
                const auto first = boost::asio::buffer_sequence_begin(into);
                const boost::asio::mutable_buffer room(*first);
                connection_->read_some({static_cast<std::uint8_t*>(room.data()), room.size()},
                                       once(std::move(inner), true));
            },
            handler, buffers);
    }

    /// Writes all of `buffers`, not only some of their bytes.
    template <class Buffers, class Handler>
    auto async_write_some(const Buffers& buffers, Handler&& handler) {
        return boost::asio::async_initiate<Handler, void(error_code, std::size_t)>(
            [this](auto inner, const Buffers& from) {
                pieces_.clear();
                for (auto at = boost::asio::buffer_sequence_begin(from); at != boost::asio::buffer_sequence_end(from);
                     ++at) {
                    const boost::asio::const_buffer piece(*at);
                    pieces_.emplace_back(static_cast<const std::uint8_t*>(piece.data()), piece.size());
                }
                connection_->write(
                    pieces_,
                    [this](std::size_t bytes) {
                        if (reported_) reported_(written_bytes_ + bytes);
                    },
                    [this, done = once(std::move(inner), false)](const std::error_code& error, std::size_t bytes) {
                        written_bytes_ += bytes;
                        done(error, bytes);
                    });
            },
            handler, buffers);
    }

private:
    // Beast's handlers are move-only and called once.
    template <class Handler>
    static Connection::Done once(Handler handler, bool reads) {
        return [shared = std::make_shared<Handler>(std::move(handler)), reads](const std::error_code& error,
                                                                               std::size_t bytes) {
            auto code = error_code();
            if (error)
                code = boost::asio::error::connection_reset;
            else if (reads && bytes == 0)
                code = boost::asio::error::eof;
            auto call = std::move(*shared);
            call(code, bytes);
        };
    }

    ConnectionPointer connection_;
    executor_type executor_;
    std::vector<std::span<const std::uint8_t>> pieces_;
    std::function<void(std::size_t)> reported_;
    std::size_t written_bytes_ = 0;
};

// Functions that Beast calls to close the layer below its streams.
inline void beast_close_socket(Carrier& carrier) { carrier.connection().close(); }
template <class Handler>
void async_teardown(boost::beast::role_type, Carrier& carrier, Handler&& handler) {
    carrier.connection().end_writing();
    boost::asio::post(carrier.get_executor(),
                      [inner = std::forward<Handler>(handler)]() mutable { inner(boost::system::error_code()); });
}
inline void teardown(boost::beast::role_type, Carrier& carrier, boost::system::error_code& error) {
    carrier.connection().end_writing();
    error = {};
}

/// A WebSocket (RFC 6455) over another connection, for the server or the client. Each piece that is written becomes one
/// message, which a server sends without copying it. Reading returns the contents of messages one after the other.
/// Pings are answered while a read is pending. Use it on the carrier's thread.
class WebSocketConnection final : public Connection {
public:
    /// The subprotocol of streams, named by both ends in the handshake (RFC 6455, 1.9).
    static constexpr std::string_view stream_protocol = "framewire";
    /// Longest message in bytes that a server accepts. Viewers send only short messages.
    static constexpr std::size_t viewer_message_limit_bytes = 64 * 1024;

    /// Settings of a connection.
    struct Options {
        /// Runs a task later on the connection's thread. Required.
        std::function<void(std::function<void()> task)> post;
        /// True if messages are text instead of binary. A received message of the other kind is an error.
        bool text = false;
        /// Subprotocol for the handshake. If empty, none is used.
        std::string protocol{};
        /// Longest message that is accepted, in bytes.
        std::size_t message_limit_bytes = viewer_message_limit_bytes;
        /// Results of name() and peer() if the carrier's other end is a reverse proxy. If empty, those of the carrier.
        std::string name{}, peer{};
    };
    /// Takes over `carrier`. Call accept() or ask() next.
    WebSocketConnection(ConnectionPointer carrier, Options options);
    ~WebSocketConnection() override;

    /// Names and values of header fields.
    using Fields = std::vector<std::pair<std::string, std::string>>;
    /// Answers a client's handshake request that has already been read, and calls `done` with the result. Must be the
    /// server's first call.
    void accept(const Fields& request, Done done);
    /// Requests the WebSocket at `path` from `host` ("name:port"), and calls `done` with the result. Must be the
    /// client's first call.
    void ask(const std::string& host, const std::string& path, Done done);
    /// Returns the server's HTTP response to a failed ask() as text, or nullopt if there was none.
    std::optional<std::string> declined() const;

    /// Returns true if the last read reached the end of a message.
    bool message_ended() const;
    /// Sends a ping, which the peer answers automatically. Does nothing while a ping is being sent. Must not be called
    /// during a write.
    void ping();

    const std::string& name() const override;
    const std::string& peer() const override;
    void read_some(std::span<std::uint8_t> into, Done done) override;
    void write(std::span<const std::span<const std::uint8_t>> pieces, Progress progress, Done done) override;
    void end_writing() override;
    void close() override;

private:
    struct Core;
    std::shared_ptr<Core> core_;
};

/// Returns a dialer for WebSockets over the connections of `carrier`, to the path of the stream in `server`.
std::unique_ptr<Dialer> websocket_dialer(std::unique_ptr<Dialer> carrier, const StreamAddress& server);

}  // namespace framewire::net
