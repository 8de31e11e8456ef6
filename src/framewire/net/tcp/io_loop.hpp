#pragma once

#include "framewire/net/transport/loop.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/thread_pool.hpp>

#include <functional>
#include <string>
#include <thread>

namespace framewire::net {

/// A loop over sockets, in a thread of its own.
class IoLoop final : public Loop {
public:
    /// Is told what a callback threw, in the loop's thread.
    using Trouble = std::function<void(const std::string& what)>;

    IoLoop() = default;
    /// As stop().
    ~IoLoop() override;
    IoLoop(const IoLoop&) = delete;
    IoLoop& operator=(const IoLoop&) = delete;

    boost::asio::io_context& context() { return context_; }

    /// Begins to run, while there is something to do. A callback that throws (no memory, a picture that cannot be
    /// packed) ends nothing.
    void start(Trouble trouble);
    /// Runs no more; returns when the thread and the work under way are done.
    void stop();

    Clock::time_point now() const override { return Clock::now(); }
    void post(std::function<void()> task) override;
    void post_work(std::function<void()> task) override;

private:
    boost::asio::io_context context_{1};
    boost::asio::thread_pool work_{1};
    std::thread thread_;
};

}  // namespace framewire::net
