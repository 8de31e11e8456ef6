#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <system_error>

namespace framewire::net {

/// A bidirectional byte stream to one peer, over any transport such as TCP. Use it from one thread. Callbacks run on
/// that thread and never inside the call that set them.
class Connection {
public:
    /// Ends a read or a write. `error` is empty on success; otherwise the connection is broken. The callback may close
    /// or destroy the connection.
    using Done = std::function<void(const std::error_code& error, std::size_t bytes)>;
    /// Reports how many bytes of a write have been taken so far.
    using Progress = std::function<void(std::size_t bytes)>;

    /// Closes the connection, see close().
    virtual ~Connection() = default;

    /// The peer's address for messages, such as "127.0.0.1:40312".
    virtual const std::string& name() const = 0;
    /// Key for limits per peer. All connections that count as one peer have the same key, see peer_of().
    virtual const std::string& peer() const = 0;

    /// Reads at least one byte and at most into.size(). `into` must stay valid until `done`. 0 bytes without an error:
    /// the peer has closed. One read at a time.
    virtual void read_some(std::span<std::uint8_t> into, Done done) = 0;
    /// Writes all pieces in order. The bytes must stay valid until `done`; the span of pieces need not. `progress` may
    /// be null. One write at a time.
    virtual void write(std::span<const std::span<const std::uint8_t>> pieces, Progress progress, Done done) = 0;

    /// Closes the sending direction after what was written.
    virtual void end_writing() = 0;
    /// Closes the connection at once. No callback is called afterwards, and no buffer that was passed is accessed.
    virtual void close() = 0;
};

/// Connections have one owner.
using ConnectionPointer = std::unique_ptr<Connection>;

}  // namespace framewire::net
