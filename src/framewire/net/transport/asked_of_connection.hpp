#pragma once

#include "framewire/net/transport/connection.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <system_error>
#include <utility>
#include <vector>

namespace framewire::net {

/// What was asked of a connection that goes over another one, until it is done.
struct AskedOfConnection {
    using Done = Connection::Done;
    using Progress = Connection::Progress;

    void ask_to_read(std::span<std::uint8_t> bytes, Done done) {
        into = bytes;
        read_done = std::move(done);
    }
    void ask_to_write(std::span<const std::span<const std::uint8_t>> bytes, Progress tell, Done done) {
        pieces.assign(bytes.begin(), bytes.end());
        piece = written_bytes = 0;
        progress = std::move(tell);
        write_done = std::move(done);
    }
    /// Nobody is called any more.
    void forget() {
        shaken = read_done = write_done = nullptr;
        progress = nullptr;
    }

    /// Calls, where somebody waits, and once.
    static void finish(Done& done, const std::error_code& error, std::size_t bytes) {
        if (const auto call = std::exchange(done, nullptr)) call(error, bytes);
    }
    /// The write is over; nobody is told how far it is any more.
    void finish_write(const std::error_code& error) {
        progress = nullptr;
        finish(write_done, error, written_bytes);
    }

    Done shaken;  ///< when the handshake is over
    Done read_done, write_done;
    std::span<std::uint8_t> into;
    Progress progress;
    std::vector<std::span<const std::uint8_t>> pieces;
    std::size_t piece = 0;          ///< that is written next
    std::size_t written_bytes = 0;  ///< of the write, by the carrier
};

}  // namespace framewire::net
