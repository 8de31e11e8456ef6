#pragma once

#include "framewire/core/time.hpp"
#include "framewire/net/wire.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace framewire::net {

/// A bidirectional byte stream to one peer, over any transport such as TCP. Use it from one thread. Callbacks run on
/// that thread and never inside the call that set them.
class Connection {
public:
    /// Called at the end of a read or a write. `error` is empty on success; otherwise the connection is broken. The
    /// callback may close or destroy the connection.
    using Done = std::function<void(const std::error_code& error, std::size_t bytes)>;
    /// Reports how many bytes of a write have been accepted so far.
    using Progress = std::function<void(std::size_t bytes)>;

    /// Closes the connection, see close().
    virtual ~Connection() = default;

    /// Returns the peer's address for messages, such as "127.0.0.1:40312".
    virtual const std::string& name() const = 0;
    /// Returns the key for limits per peer. All connections that count as one peer have the same key, see peer_of().
    virtual const std::string& peer() const = 0;

    /// Reads at least one byte and at most into.size(). `into` must stay valid until `done`. If `done` reports 0 bytes
    /// and no error, the peer has closed. Only one read may be pending.
    virtual void read_some(std::span<std::uint8_t> into, Done done) = 0;
    /// Writes all pieces in order. The bytes must stay valid until `done`; the span of pieces need not. `progress` may
    /// be null. Only one write may be pending.
    virtual void write(std::span<const std::span<const std::uint8_t>> pieces, Progress progress, Done done) = 0;

    /// Closes the sending direction after everything written has been sent.
    virtual void end_writing() = 0;
    /// Closes the connection at once. Afterwards no callback is called and no buffer of a pending operation is
    /// accessed.
    virtual void close() = 0;
};

/// Owner of a connection.
using ConnectionPointer = std::unique_ptr<Connection>;

/// Pending operations of a connection that runs over another one.
struct AskedOfConnection {
    /// See Connection::Done.
    using Done = Connection::Done;
    /// See Connection::Progress.
    using Progress = Connection::Progress;

    /// Records a read. `bytes` must stay valid until it ends.
    void ask_to_read(std::span<std::uint8_t> bytes, Done done) {
        into = bytes;
        read_done = std::move(done);
    }
    /// Records a write and resets its progress.
    void ask_to_write(std::span<const std::span<const std::uint8_t>> bytes, Progress tell, Done done) {
        pieces.assign(bytes.begin(), bytes.end());
        piece = written_bytes = 0;
        progress = std::move(tell);
        write_done = std::move(done);
    }
    /// Drops all callbacks.
    void forget() {
        shaken = read_done = write_done = nullptr;
        progress = nullptr;
    }

    /// Calls `done` if it is set. Clears it first, so that it is called only once.
    static void finish(Done& done, const std::error_code& error, std::size_t bytes) {
        if (const auto call = std::exchange(done, nullptr)) call(error, bytes);
    }
    /// Ends the write. Its progress callback is not called afterwards.
    void finish_write(const std::error_code& error) {
        progress = nullptr;
        finish(write_done, error, written_bytes);
    }

    /// Called at the end of the handshake.
    Done shaken;
    /// Called at the end of the read and of the write; null if none is pending.
    Done read_done, write_done;
    /// Buffer of the read.
    std::span<std::uint8_t> into;
    /// Progress of the write; may be null.
    Progress progress;
    /// Content of the write.
    std::vector<std::span<const std::uint8_t>> pieces;
    /// Index of the piece that is written next.
    std::size_t piece = 0;
    /// Bytes of the write that the transport below has accepted so far.
    std::size_t written_bytes = 0;
};

/// Thrown if a connection cannot be established or is lost; another attempt may succeed.
struct Lost {
    std::string why;
};

/// Establishes connections for synchronous code, and runs their callbacks while it waits. Use it from one thread.
class Dialer {
public:
    virtual ~Dialer() = default;

    /// Returns a new connection. Throws Lost if none can be established before the deadline or before the dialer is
    /// stopped.
    virtual ConnectionPointer dial(Clock::time_point deadline) = 0;

    /// Runs callbacks of the connections until one sets `done`, and returns true. Returns false at the deadline or when
    /// the dialer is stopped.
    virtual bool wait(const bool& done, Clock::time_point deadline) = 0;
    /// Runs `task` later, like the callbacks of connections.
    virtual void post(std::function<void()> task) = 0;
    /// Returns the current time on the clock for deadlines.
    virtual Clock::time_point now() const = 0;
    /// Returns true once the dialer has been stopped.
    virtual bool stopped() const = 0;
};

/// Base of dialers whose connections run over those of another dialer, the carrier. The carrier's loop runs both.
class LayeredDialer : public Dialer {
public:
    /// `carrier` must not be null.
    explicit LayeredDialer(std::unique_ptr<Dialer> carrier) : carrier_(std::move(carrier)) {}

    bool wait(const bool& done, Clock::time_point deadline) override { return carrier_->wait(done, deadline); }
    void post(std::function<void()> task) override { carrier_->post(std::move(task)); }
    Clock::time_point now() const override { return carrier_->now(); }
    bool stopped() const override { return carrier_->stopped(); }

protected:
    /// Returns the dialer of the layer below.
    Dialer& carrier() { return *carrier_; }

    /// Calls `begin`, waits for the end of the handshake and returns its result. At the deadline, or if the dialer is
    /// stopped, closes the connection and throws Lost; `late` is the text for the deadline.
    std::error_code shake_hands(Connection& connection, Clock::time_point deadline, const char* late,
                                const std::function<void(Connection::Done done)>& begin) {
        struct {
            bool done = false;
            std::error_code error{};
        } outcome;
        begin([&outcome](const std::error_code& error, std::size_t) {
            outcome.done = true;
            outcome.error = error;
        });
        if (!wait(outcome.done, deadline)) {
            connection.close();
            throw Lost{stopped() ? "stopped" : late};
        }
        return outcome.error;
    }

private:
    std::unique_ptr<Dialer> carrier_;
};

/// Interface to the thread on which connections run.
class Loop {
public:
    virtual ~Loop() = default;

    /// Returns the current time on the clock for deadlines.
    virtual Clock::time_point now() const = 0;
    /// Runs `task` on the loop's thread. Tasks run in the order in which they were posted. Thread-safe.
    virtual void post(std::function<void()> task) = 0;
    /// Runs `task` on another thread, so that it does not delay the loop. Tasks run one after the other, in the order
    /// in which they were posted.
    virtual void post_work(std::function<void()> task) = 0;
};

/// Result of a read or a write, for code that runs the loop until the operation is done. Must outlive the operation.
struct Outcome {
    bool done = false;
    std::error_code error{};
    std::size_t bytes = 0;

    /// Returns a callback that stores the result. It is small enough for std::function to store it without an
    /// allocation.
    Connection::Done handler() {
        return
            [this](const std::error_code& error_, std::size_t bytes_) { done = true, error = error_, bytes = bytes_; };
    }
};

/// Returns a connection that first delivers `bytes`, which were already read from `connection`. `loop` must be the loop
/// on which `connection` runs, and must outlive it.
ConnectionPointer with_bytes_before(Bytes bytes, ConnectionPointer connection, Loop& loop);

}  // namespace framewire::net
