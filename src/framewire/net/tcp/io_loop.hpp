#pragma once

#include "framewire/net/transport/loop.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/thread_pool.hpp>

#include <functional>
#include <string>
#include <thread>

namespace framewire::net {

/// An event loop with its own thread, and a second thread for work that must not delay it.
class IoLoop final : public Loop {
public:
    /// Called on the loop's thread with the text of an exception that a callback threw.
    using Trouble = std::function<void(const std::string& what)>;

    /// Creates a loop that does not run.
    IoLoop() = default;
    /// Stops, see stop().
    ~IoLoop() override;
    IoLoop(const IoLoop&) = delete;
    IoLoop& operator=(const IoLoop&) = delete;

    /// The context for sockets and timers.
    boost::asio::io_context& context() { return context_; }

    /// Starts the thread, which runs as long as there is something to do. An exception of a callback is reported and
    /// does not end the loop.
    void start(Trouble trouble);
    /// Stops the loop. Returns when its thread and the work in progress have ended.
    void stop();

    /// The real time.
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

}  // namespace framewire::net
