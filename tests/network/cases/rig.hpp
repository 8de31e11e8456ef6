#pragma once

// Building blocks of the cases: cameras, servers, viewers and crowds as processes, connected by a line or by loopback.

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

/// Returns true if the cases run at their full length and width (FRAMEWIRE_NETWORK_LONG, scripts/test-network.sh)
/// instead of in the brief form that scripts/test.sh runs.
bool long_cases();
/// Returns the first value in brief runs, the second in long ones.
template <class T>
T scaled(T brief, T whole) {
    return long_cases() ? whole : brief;
}

/// Prints a figure for people and for scripts/test-network.sh, which collects these lines in a table.
void tell(const std::string& what, double value, const std::string& unit);

/// Returns the resident memory of a process in bytes; 0 if there is no such process.
double resident_bytes(pid_t process);

/// Returns the CPU time that a process has used so far, in seconds.
double cpu_seconds(pid_t process);

/// A test-camera that writes to a pipe or serves an address.
class Camera {
public:
    /// Starts the camera, which sends BGR through a pipe, or gray over HTTP at `port`. `noise` is in levels; the
    /// camera's log keeps the pixels of the last `kept_seconds`. `look` holds more arguments of test-camera, such as
    /// "scene=tones" or "level=40".
    Camera(const e2e::TemporaryFolder& folder, const std::string& name, const std::string& size, double fps,
           std::optional<int> port = {}, int noise = 4, double kept_seconds = 3, const Words& look = {});

    /// Returns the address at which a server reads the camera.
    const std::string& source() const { return source_; }
    /// Returns the path of the camera's log.
    const std::string& log() const { return log_; }
    e2e::Program& program() { return *program_; }
    /// Kills and restarts the camera.
    void kill();
    void start();

private:
    std::string source_, log_;
    Words command_;
    std::unique_ptr<e2e::Program> program_;
};

/// Running `framewire serve`, on the servers' side of the line, if there is one.
class Served {
public:
    /// Starts the server and waits until it listens, at `port` or at any free port.
    Served(Words arguments, Link* link = nullptr, std::uint16_t port = 0);

    /// Returns the address at which viewers reach the server, over the line, if there is one.
    const std::string& url() const { return url_; }
    std::uint16_t port() const { return port_; }
    e2e::Program& program() { return program_; }

private:
    e2e::Program program_;
    std::string url_;
    std::uint16_t port_ = 0;
};

/// Makes a control request for the camera "main", for example order(server, "PUT", "zones", body), and waits for the
/// response. Fails the test on any status but 200. Returns the response's JSON.
Json order(const Served& server, const std::string& method, const std::string& what, const Json& body);

/// Running test-load, on the viewers' side of the line, if there is one.
class Crowd {
public:
    explicit Crowd(const Words& words, const Link* link = nullptr);

    e2e::Program& program() { return program_; }
    /// Waits until test-load ends and returns its report; fails the test if there is none.
    Json result();

private:
    e2e::Program program_;
};

/// Returns the command line of a `framewire view --no-window`.
Words view_command(Words arguments);
/// Returns a loopback port at which nothing listens.
int free_port();

/// Returns a packet link, or a proxy link if this process may not create one.
std::unique_ptr<Link> best_link();
LinkSettings line_settings(const std::string& text);

/// Returns the milliseconds of the steady clock, as test-load reports them.
double now_ms();
/// Returns the latencies of one viewer's arrivals between two times of now_ms(); `viewer` is a part of test-load's
/// report.
std::vector<double> latencies(const Json& viewer, double from_ms, double to_ms);

}  // namespace framewire::network
