#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <system_error>

namespace framewire::net {

/// Bytes both ways between this program and one peer, whatever carries them: TCP is one of the kinds. For one thread.
/// Callbacks are called in it as well, and never from inside the call that they were given to.
class Connection {
public:
    /// How a read or a write ended: without an error, or with what broke the connection. May close or destroy it.
    using Done = std::function<void(const std::error_code& error, std::size_t bytes)>;
    /// How many bytes of a write were taken so far.
    using Progress = std::function<void(std::size_t bytes)>;

    virtual ~Connection() = default;  ///< as close()

    /// The other end for people to read: "127.0.0.1:40312".
    virtual const std::string& name() const = 0;
    /// Whom the other end belongs to, as far as that can be told; the same for all connections that count as one's.
    virtual const std::string& peer() const = 0;

    /// Reads at least one byte and at most so many as `into` has room for, which stays until then. No bytes and no
    /// error: the other end has closed. One read at a time.
    virtual void read_some(std::span<std::uint8_t> into, Done done) = 0;
    /// Writes all pieces, one after the other. What they point to stays until then, the span itself need not.
    /// One write at a time.
    virtual void write(std::span<const std::span<const std::uint8_t>> pieces, Progress progress, Done done) = 0;

    /// Nothing more is written; the other end learns so when it has read what was.
    virtual void end_writing() = 0;
    /// Drops the connection at once. No callback is called any more, and no memory that was given is touched.
    virtual void close() = 0;
};

using ConnectionPointer = std::unique_ptr<Connection>;

}  // namespace framewire::net
