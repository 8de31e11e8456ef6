#pragma once

#include "framewire/net/transport/connection.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <system_error>
#include <utility>
#include <vector>

namespace framewire::net {

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

    /// Calls `done` if it is set, and clears it first, so it is called once.
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
    /// Bytes of the write that the carrier has taken.
    std::size_t written_bytes = 0;
};

}  // namespace framewire::net
