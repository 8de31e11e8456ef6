#pragma once

#include "e2e/program.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

namespace framewire::e2e {

/// Returns a TCP port of this machine that is currently free.
inline int free_port() {
    const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    EXPECT_EQ(::bind(socket, reinterpret_cast<sockaddr*>(&address), length), 0);
    EXPECT_EQ(::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &length), 0);
    ::close(socket);
    return ntohs(address.sin_port);
}

/// Returns true if a socket listens at the port or is connected to it. A camera for one viewer listens only until that
/// viewer connects, which may be immediately.
inline bool somebody_is_at(int port) {
    std::ifstream sockets("/proc/net/tcp");
    const auto at_port = fmt::format(":{:04X}", port);
    for (std::string line; std::getline(sockets, line);) {
        std::istringstream words(line);
        std::string number, local, remote, state;
        words >> number >> local >> remote >> state;
        if (local.ends_with(at_port) && (state == "0A" || state == "01")) return true;
    }
    return false;
}

/// Starts FFmpeg as a camera that sends this FFmpeg test source at its own rate to the first client that connects.
inline std::unique_ptr<Program> network_camera(int port, const std::string& source) {
    auto program = std::make_unique<Program>(std::vector<std::string>{
        "ffmpeg", "-loglevel", "error", "-re", "-f", "lavfi", "-i", source, "-c:v", "mpeg2video", "-g", "5", "-f",
        "mpegts", fmt::format("tcp://127.0.0.1:{}?listen=1", port)});
    EXPECT_TRUE(becomes_true([&] { return somebody_is_at(port); })) << program->err();
    return program;
}

/// Starts such a camera that sends one colour.
inline std::unique_ptr<Program> network_camera(int port, const std::string& color, const std::string& size) {
    return network_camera(port, fmt::format("color={}:size={}:rate=10", color, size));
}

}  // namespace framewire::e2e
