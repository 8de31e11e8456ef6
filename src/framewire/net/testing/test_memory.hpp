#pragma once

#include "framewire/net/transport.hpp"
#include "framewire/net/wire.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>

namespace framewire::net::testing {

/// A loop that a test runs by hand, with its own clock. Use it from one thread.
class ManualLoop final : public Loop {
public:
    Clock::time_point now() const override { return now_; }
    void post(std::function<void()> task) override { tasks_.push_back(std::move(task)); }
    void post_work(std::function<void()> task) override { work_.push_back(std::move(task)); }

    /// Runs one task. Returns false if there is none.
    bool run_one() {
        if (tasks_.empty()) return false;
        const auto task = std::move(tasks_.front());
        tasks_.pop_front();
        task();
        return true;
    }
    /// Runs all posted tasks, but no work.
    void run_tasks() {
        while (run_one()) {
        }
    }
    /// Runs tasks and work until neither is left.
    void run() {
        for (run_tasks(); !work_.empty(); run_tasks()) {
            const auto task = std::move(work_.front());
            work_.pop_front();
            task();
        }
    }
    /// Advances the clock without running anything.
    void pass(Clock::duration time) { now_ += time; }

private:
    Clock::time_point now_{std::chrono::hours(1)};
    std::deque<std::function<void()>> tasks_, work_;
};

/// One direction of a connection in memory, with a limited capacity in bytes.
class MemoryPipe : public std::enable_shared_from_this<MemoryPipe> {
public:
    MemoryPipe(ManualLoop& loop, std::size_t capacity) : loop_(loop), capacity_(capacity) {}

    void read(std::span<std::uint8_t> into, Connection::Done done) {
        into_ = into;
        read_done_ = std::move(done);
        move_on();
    }
    void write(std::span<const std::span<const std::uint8_t>> pieces, Connection::Progress progress,
               Connection::Done done) {
        for (const auto& piece : pieces) unwritten_.insert(unwritten_.end(), piece.begin(), piece.end());
        write_bytes_ = unwritten_.size();
        progress_ = std::move(progress);
        write_done_ = std::move(done);
        move_on();
    }
    void end_writing() {
        ended_ = true;
        move_on();
    }
    void close_reader() {
        read_done_ = nullptr;
        abandoned_ = true;
        move_on();
    }
    void close_writer() {
        write_done_ = nullptr;
        progress_ = nullptr;
        unwritten_.clear();
        end_writing();
    }

private:
    void move_on() {
        loop_.post([self = shared_from_this()] { self->step(); });
    }

    void step() {
        const auto room = std::min(capacity_ - std::min(capacity_, underway_.size()), unwritten_.size());
        move(unwritten_, underway_, room);
        if (room > 0 && progress_) progress_(write_bytes_ - unwritten_.size());
        if (write_done_ && abandoned_)
            std::exchange(write_done_, nullptr)(std::make_error_code(std::errc::broken_pipe), 0);
        else if (write_done_ && unwritten_.empty())
            std::exchange(write_done_, nullptr)({}, write_bytes_);
        if (read_done_ && !underway_.empty()) {
            const auto count = std::min(into_.size(), underway_.size());
            std::copy_n(underway_.begin(), count, into_.begin());
            underway_.erase(underway_.begin(), underway_.begin() + static_cast<std::ptrdiff_t>(count));
            if (!unwritten_.empty()) move_on();
            std::exchange(read_done_, nullptr)({}, count);
        } else if (read_done_ && ended_) {
            std::exchange(read_done_, nullptr)({}, 0);
        }
    }

    static void move(std::deque<std::uint8_t>& from, std::deque<std::uint8_t>& to, std::size_t count) {
        const auto end = from.begin() + static_cast<std::ptrdiff_t>(count);
        to.insert(to.end(), from.begin(), end);
        from.erase(from.begin(), end);
    }

    ManualLoop& loop_;
    std::size_t capacity_;
    std::deque<std::uint8_t> unwritten_, underway_;
    std::size_t write_bytes_ = 0;
    std::span<std::uint8_t> into_;
    Connection::Done read_done_, write_done_;
    Connection::Progress progress_;
    bool ended_ = false, abandoned_ = false;
};

/// One end of a connection in memory.
class MemoryConnection final : public Connection {
public:
    MemoryConnection(std::string name, std::string peer, std::shared_ptr<MemoryPipe> in,
                     std::shared_ptr<MemoryPipe> out)
        : name_(std::move(name)), peer_(std::move(peer)), in_(std::move(in)), out_(std::move(out)) {}
    ~MemoryConnection() override { close(); }

    const std::string& name() const override { return name_; }
    const std::string& peer() const override { return peer_; }
    void read_some(std::span<std::uint8_t> into, Done done) override { in_->read(into, std::move(done)); }
    void write(std::span<const std::span<const std::uint8_t>> pieces, Progress progress, Done done) override {
        out_->write(pieces, std::move(progress), std::move(done));
    }
    void end_writing() override { out_->end_writing(); }
    void close() override {
        if (std::exchange(closed_, true)) return;
        in_->close_reader();
        out_->close_writer();
    }

private:
    std::string name_, peer_;
    std::shared_ptr<MemoryPipe> in_, out_;
    bool closed_ = false;
};

/// Returns both ends of a connection from `peer` with `capacity` bytes in each direction.
inline std::pair<ConnectionPointer, ConnectionPointer> connection_pair(ManualLoop& loop, const std::string& peer,
                                                                       std::size_t capacity) {
    const auto there = std::make_shared<MemoryPipe>(loop, capacity),
               back = std::make_shared<MemoryPipe>(loop, capacity);
    return {std::make_unique<MemoryConnection>(peer, peer, there, back),
            std::make_unique<MemoryConnection>("the server", "the server", back, there)};
}

/// The far end of a connection: sends and receives what a test asks for.
class MemoryPeer {
public:
    MemoryPeer(ManualLoop& loop, ConnectionPointer connection) : loop_(loop), connection_(std::move(connection)) {}
    MemoryPeer(MemoryPeer&&) = delete;  // a read in progress refers to this object

    /// Returns false if the other end does not take the bytes.
    bool say(const Bytes& bytes) {
        said_ = bytes;
        taken_ = false;
        const ByteSpan piece(said_);
        connection_->write({&piece, 1}, {}, [this](const std::error_code& error, std::size_t) { taken_ = !error; });
        loop_.run_tasks();
        return taken_;
    }
    /// Returns the bytes received until no more arrive or the other end has closed.
    Bytes hear() {
        while (!closed_) {
            if (!std::exchange(reading_, true)) read();
            loop_.run_tasks();
            if (reading_) break;
        }
        return std::exchange(heard_, {});
    }
    bool closed() const { return closed_; }
    void close() { connection_->close(); }

private:
    void read() {
        connection_->read_some(buffer_, [this](const std::error_code& error, std::size_t bytes) {
            reading_ = false;
            closed_ = error || bytes == 0;
            heard_.insert(heard_.end(), buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(bytes));
        });
    }

    ManualLoop& loop_;
    Bytes said_, heard_, buffer_ = Bytes(4096);
    bool taken_ = false, reading_ = false, closed_ = false;
    ConnectionPointer connection_;  // last, because its callbacks use the other members
};

/// Returns connections in memory and passes their other ends to `serve`. When nothing is left to do, advances the clock
/// in steps and calls `tick` after each.
class MemoryDialer final : public Dialer {
public:
    MemoryDialer(ManualLoop& loop, std::function<void(ConnectionPointer)> serve, std::function<void()> tick)
        : loop_(loop), serve_(std::move(serve)), tick_(std::move(tick)) {}

    ConnectionPointer dial(Clock::time_point) override {
        auto [near, far] = connection_pair(loop_, "a client", std::size_t{1} << 20);
        serve_(std::move(near));
        return std::move(far);
    }
    bool wait(const bool& done, Clock::time_point deadline) override {
        constexpr Clock::duration delta_frame = std::chrono::milliseconds(50);
        while (!done && loop_.now() < deadline) {
            if (loop_.run_one()) continue;
            loop_.run();
            if (done) break;
            loop_.pass(std::min(delta_frame, deadline - loop_.now()));
            tick_();
        }
        return done;
    }
    void post(std::function<void()> task) override { loop_.post(std::move(task)); }
    Clock::time_point now() const override { return loop_.now(); }
    bool stopped() const override { return false; }

private:
    ManualLoop& loop_;
    std::function<void(ConnectionPointer)> serve_;
    std::function<void()> tick_;
};

}  // namespace framewire::net::testing
