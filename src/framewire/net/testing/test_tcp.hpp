#pragma once

#include "framewire/net/wire.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <utility>

namespace framewire::net::testing {

/// A raw TCP connection on loopback that sends and reads plain bytes. Every call has a deadline.
class RawConnection {
public:
    explicit RawConnection(int descriptor) : descriptor_(descriptor) {}
    RawConnection(RawConnection&& other) noexcept
        : descriptor_(std::exchange(other.descriptor_, -1)), closed_(other.closed_) {}
    RawConnection& operator=(RawConnection&&) = delete;
    ~RawConnection() { close(); }

    void close() {
        if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
    }

    /// Connects from the loopback address that ends in `from`. `receive_buffer_bytes` limits what the kernel buffers.
    static RawConnection connect(std::uint16_t port, int receive_buffer_bytes = 0, std::uint8_t from = 1) {
        RawConnection connection(::socket(AF_INET, SOCK_STREAM, 0));
        auto own = loopback(0);
        own.sin_addr.s_addr = htonl((INADDR_LOOPBACK & 0xffffff00u) | from);
        EXPECT_EQ(::bind(connection.descriptor_, reinterpret_cast<const sockaddr*>(&own), sizeof own), 0);
        if (receive_buffer_bytes > 0)
            ::setsockopt(connection.descriptor_, SOL_SOCKET, SO_RCVBUF, &receive_buffer_bytes,
                         sizeof receive_buffer_bytes);
        const auto address = loopback(port);
        EXPECT_EQ(::connect(connection.descriptor_, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
        return connection;
    }

    /// Returns false if the other end has closed.
    bool send(ByteSpan bytes) {
        while (!bytes.empty()) {
            const auto sent = ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
            if (sent <= 0) return false;
            bytes = bytes.subspan(static_cast<std::size_t>(sent));
        }
        return true;
    }

    /// Reads up to `most` bytes. Returns no bytes if the other end has closed, see closed(), or if the deadline has
    /// passed.
    Bytes read(std::size_t most, std::chrono::milliseconds deadline = std::chrono::seconds(10)) {
        Bytes bytes(most);
        pollfd waiting{descriptor_, POLLIN, 0};
        if (::poll(&waiting, 1, static_cast<int>(deadline.count())) <= 0) return {};
        const auto got = ::recv(descriptor_, bytes.data(), bytes.size(), 0);
        if (got <= 0) closed_ = true;
        bytes.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
        return bytes;
    }

    Bytes read_exactly(std::size_t count) {
        Bytes all;
        while (all.size() < count) {
            const auto piece = read(count - all.size());
            if (piece.empty()) break;
            all.insert(all.end(), piece.begin(), piece.end());
        }
        return all;
    }

    /// Reads until the other end closes. Returns false at the deadline.
    bool read_to_the_end(Bytes& all, std::chrono::milliseconds deadline = std::chrono::seconds(10)) {
        const auto give_up = std::chrono::steady_clock::now() + deadline;
        while (!closed_ && std::chrono::steady_clock::now() < give_up) {
            const auto piece = read(65536, std::chrono::milliseconds(100));
            all.insert(all.end(), piece.begin(), piece.end());
        }
        return closed_;
    }

    /// Returns true if a read found that the other end has closed.
    bool closed() const { return closed_; }

    static sockaddr_in loopback(std::uint16_t port) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(port);
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        return address;
    }

private:
    int descriptor_ = -1;
    bool closed_ = false;
};

/// Listens on loopback, by default on any free port.
class RawListener {
public:
    explicit RawListener(std::uint16_t port = 0) : descriptor_(::socket(AF_INET, SOCK_STREAM, 0)) {
        const int on = 1;
        ::setsockopt(descriptor_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
        auto address = RawConnection::loopback(port);
        EXPECT_EQ(::bind(descriptor_, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
        EXPECT_EQ(::listen(descriptor_, 8), 0);
        socklen_t length = sizeof address;
        ::getsockname(descriptor_, reinterpret_cast<sockaddr*>(&address), &length);
        port_ = ntohs(address.sin_port);
    }
    RawListener(const RawListener&) = delete;
    RawListener& operator=(const RawListener&) = delete;
    ~RawListener() { ::close(descriptor_); }

    std::uint16_t port() const { return port_; }

    std::optional<RawConnection> accept(std::chrono::milliseconds deadline = std::chrono::seconds(10)) {
        pollfd waiting{descriptor_, POLLIN, 0};
        if (::poll(&waiting, 1, static_cast<int>(deadline.count())) <= 0) return std::nullopt;
        return RawConnection(::accept(descriptor_, nullptr, nullptr));
    }

private:
    int descriptor_ = -1;
    std::uint16_t port_ = 0;
};

}  // namespace framewire::net::testing
