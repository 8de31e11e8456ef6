#pragma once

#include "framewire/net/transport.hpp"
#include "framewire/net/wire.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>

namespace framewire::fuzz {

/// Event loop that the fuzzer runs by hand, and to which other threads may post.
class PostingLoop final : public net::Loop {
public:
    Clock::time_point now() const override { return now_; }
    void post(std::function<void()> task) override {
        const std::lock_guard lock(mutex_);
        tasks_.push_back(std::move(task));
    }
    void post_work(std::function<void()> task) override { post(std::move(task)); }

    void run() {
        for (;;) {
            std::function<void()> task;
            {
                const std::lock_guard lock(mutex_);
                if (tasks_.empty()) return;
                task = std::move(tasks_.front());
                tasks_.pop_front();
            }
            task();
        }
    }
    /// Advances the clock without running any handler.
    void pass(Clock::duration time) { now_ += time; }

private:
    Clock::time_point now_{std::chrono::hours(1)};
    std::mutex mutex_;
    std::deque<std::function<void()>> tasks_;
};

/// Server's end of a connection whose peer sends `says` in pieces of `piece_bytes`, then closes or stays silent.
/// `heard` collects what the server writes.
class SpokenConnection final : public net::Connection {
public:
    struct Peer {
        net::ByteSpan says;
        std::size_t piece_bytes = 1;
        bool closes = true;
        std::string heard{};  ///< bytes that the server sent
        bool closed = false;  ///< true once the server has closed the connection
    };
    SpokenConnection(PostingLoop& loop, std::shared_ptr<Peer> peer) : loop_(loop), peer_(std::move(peer)) {}
    ~SpokenConnection() override { close(); }

    const std::string& name() const override { return name_; }
    const std::string& peer() const override { return name_; }
    void read_some(std::span<std::uint8_t> into, Done done) override {
        read_done_ = std::move(done);
        loop_.post([this, into, alive = std::weak_ptr(alive_)] {
            if (!alive.lock() || !read_done_ || (peer_->says.empty() && !peer_->closes)) return;
            const auto count = std::min({into.size(), peer_->says.size(), peer_->piece_bytes});
            std::copy_n(peer_->says.begin(), count, into.begin());
            peer_->says = peer_->says.subspan(count);
            std::exchange(read_done_, nullptr)({}, count);
        });
    }
    void write(std::span<const std::span<const std::uint8_t>> pieces, Progress progress, Done done) override {
        std::size_t bytes = 0;
        for (const auto& piece : pieces) {
            peer_->heard.append(piece.begin(), piece.end());
            bytes += piece.size();
        }
        loop_.post([bytes, progress = std::move(progress), done = std::move(done), alive = std::weak_ptr(alive_)] {
            if (progress && alive.lock()) progress(bytes);
            if (alive.lock()) done({}, bytes);
        });
    }
    void end_writing() override {}
    void close() override {
        alive_.reset();
        read_done_ = nullptr;
        peer_->closed = true;
    }

private:
    PostingLoop& loop_;
    std::shared_ptr<Peer> peer_;
    std::string name_ = "a peer";
    Done read_done_;
    std::shared_ptr<int> alive_ = std::make_shared<int>();
};

}  // namespace framewire::fuzz
