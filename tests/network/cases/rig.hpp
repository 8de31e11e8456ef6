#pragma once

// What the cases put together: cameras, servers, viewers and crowds as processes, on a line or on loopback.

#include "e2e/program.hpp"
#include "network/link/link.hpp"

#include <nlohmann/json.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace framewire::network {

using Json = nlohmann::json;
using Words = std::vector<std::string>;

/// Whether the cases run as long and as wide as they are told of (FRAMEWIRE_NETWORK_LONG, scripts/test-network.sh), or
/// as briefly as a gate wants.
bool long_cases();
/// One value for long cases, and one for brief ones.
template <class T>
T scaled(T brief, T whole) {
    return long_cases() ? whole : brief;
}

/// Tells a figure, for people and for scripts/test-network.sh, which makes a table of them.
void tell(const std::string& what, double value, const std::string& unit);

/// The size of a process in memory, in bytes; 0 when there is none.
double resident_bytes(pid_t process);

/// The processor's time that it used so far, in seconds.
double cpu_seconds(pid_t process);

/// A test-camera behind a pipe or an address.
class Camera {
public:
    /// Through a pipe, in BGR, or over HTTP at `port`, gray. Its noise is of so many levels; its log keeps the pixels
    /// of so many seconds. `look`: more arguments of test-camera, as "scene=tones" or "level=40".
    Camera(const e2e::TemporaryFolder& folder, const std::string& name, const std::string& size, double fps,
           std::optional<int> port = {}, int noise = 4, double kept_seconds = 3, const Words& look = {});

    /// What a server reads it as.
    const std::string& source() const { return source_; }
    /// Where it remembers what it sent.
    const std::string& log() const { return log_; }
    e2e::Program& program() { return *program_; }
    /// Killed, and begun anew.
    void kill();
    void start();

private:
    std::string source_, log_;
    Words command_;
    std::unique_ptr<e2e::Program> program_;
};

/// A `framewire serve` that runs; on the servers' side of a line, where there is one.
class Served {
public:
    /// Waits until it listens; at `port`, or any.
    Served(Words arguments, Link* link = nullptr, std::uint16_t port = 0);

    /// Where viewers find it: over the line, where there is one.
    const std::string& url() const { return url_; }
    std::uint16_t port() const { return port_; }
    e2e::Program& program() { return program_; }

private:
    e2e::Program program_;
    std::string url_;
    std::uint16_t port_ = 0;
};

/// Makes a control request for the camera "main" and waits for its answer: order(server, "PUT", "zones", body).
/// Anything but 200 is a test failure. Returns the answer's JSON.
Json order(const Served& server, const std::string& method, const std::string& what, const Json& body);

/// A test-load that runs; on the viewers' side of a line, where there is one.
class Crowd {
public:
    explicit Crowd(const Words& words, const Link* link = nullptr);

    e2e::Program& program() { return program_; }
    /// What its viewers saw, when it has ended; a test failure where it has none.
    Json result();

private:
    e2e::Program program_;
};

/// A `framewire view --no-window`.
Words view_command(Words arguments);
/// A port of loopback that nobody listens at.
int free_port();

/// The packet line, or a proxy where this process may not have one.
std::unique_ptr<Link> best_link();
LinkSettings line_settings(const std::string& text);

/// Milliseconds of the steady clock, as test-load tells them.
double now_ms();
/// The latencies of all arrivals of a viewer of test-load's result between two such times.
std::vector<double> latencies(const Json& viewer, double from_ms, double to_ms);

}  // namespace framewire::network
