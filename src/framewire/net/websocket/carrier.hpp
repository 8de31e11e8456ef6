#pragma once

#include "framewire/net/transport/connection.hpp"

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
#include <span>
#include <utility>
#include <vector>

namespace framewire::net {

/// Where Beast's operations go on: the thread that a connection lives in, whatever runs that.
class PostingExecutor {
public:
    using Post = std::function<void(std::function<void()> task)>;

    explicit PostingExecutor(Post post) : post_(std::make_shared<const Post>(std::move(post))) {}

    template <class Task>
    void execute(Task task) const {
        // What is posted may be moved only.
        (*post_)([shared = std::make_shared<Task>(std::move(task))] { std::move (*shared)(); });
    }
    boost::asio::execution_context& query(boost::asio::execution::context_t) const noexcept { return context(); }
    static constexpr boost::asio::execution::blocking_t query(boost::asio::execution::blocking_t) noexcept {
        return boost::asio::execution::blocking.never;
    }
    // Values, where what Asio has for properties that are not named here gives references, which Beast would keep.
    PostingExecutor require(boost::asio::execution::blocking_t::never_t) const { return *this; }
    PostingExecutor require(boost::asio::execution::outstanding_work_t::tracked_t) const { return *this; }
    PostingExecutor require(boost::asio::execution::outstanding_work_t::untracked_t) const { return *this; }
    friend bool operator==(const PostingExecutor& a, const PostingExecutor& b) noexcept { return a.post_ == b.post_; }
    friend bool operator!=(const PostingExecutor& a, const PostingExecutor& b) noexcept { return !(a == b); }

private:
    // Holds the timers that Beast's streams have, and that are never set: deadlines are their users' affair.
    static boost::asio::io_context& context() {
        static boost::asio::io_context none_runs_it;
        return none_runs_it;
    }

    std::shared_ptr<const Post> post_;
};

/// A Connection as Beast's streams want what is below them.
class Carrier {
public:
    using executor_type = PostingExecutor;
    using error_code = boost::system::error_code;

    Carrier(ConnectionPointer connection, PostingExecutor::Post post)
        : connection_(std::move(connection)), executor_(std::move(post)) {}

    executor_type get_executor() const noexcept { return executor_; }
    Connection& connection() const { return *connection_; }
    /// Is told how many bytes were taken, of all that were written so far.
    void on_progress(std::function<void(std::size_t bytes)> told) { told_ = std::move(told); }
    std::size_t written_bytes() const { return written_bytes_; }

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
                        if (told_) told_(written_bytes_ + bytes);
                    },
                    [this, done = once(std::move(inner), false)](const std::error_code& error, std::size_t bytes) {
                        written_bytes_ += bytes;
                        done(error, bytes);
                    });
            },
            handler, buffers);
    }

private:
    // What Beast gives may be moved only, and is called once.
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
    std::function<void(std::size_t)> told_;
    std::size_t written_bytes_ = 0;
};

// How Beast ends what is below its streams.
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

}  // namespace framewire::net
