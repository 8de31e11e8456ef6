#include "framewire/net/tcp/io_loop.hpp"

#include <boost/asio/post.hpp>

#include <exception>
#include <utility>

namespace framewire::net {

namespace asio = boost::asio;

IoLoop::~IoLoop() { stop(); }

void IoLoop::start(Trouble trouble) {
    thread_ = std::thread([this, trouble = std::move(trouble)] {
        for (;;) {
            // run() can be called again after a handler threw; the remaining handlers are not lost.
            try {
                context_.run();
                return;
            } catch (const std::exception& error) {
                trouble(error.what());
            }
        }
    });
}

// The loop is stopped first. Work in progress then ends, and its results are not delivered.
void IoLoop::stop() {
    context_.stop();
    if (thread_.joinable()) thread_.join();
    work_.join();
}

void IoLoop::post(std::function<void()> task) { asio::post(context_, std::move(task)); }

void IoLoop::post_work(std::function<void()> task) { asio::post(work_, std::move(task)); }

}  // namespace framewire::net
