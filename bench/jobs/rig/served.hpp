#pragma once

#include "framewire/core/time.hpp"
#include "kit/programs.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <sys/types.h>

namespace framewire::bench {

/// A running `framewire serve` that reports its progress. The destructor kills it if it is still running. Not
/// thread-safe.
class Served {
public:
    /// Counters of a camera.
    struct CameraMark {
        std::int64_t frames = 0;
        std::int64_t sent_bytes = 0;
    };
    /// Counters of the server and its cameras at one moment.
    struct Mark {
        Clock::time_point at;
        double cpu_seconds = 0;                     ///< CPU time of all threads so far
        std::map<std::string, CameraMark> cameras;  ///< counters by camera name; a single camera is "main"
    };

    /// Starts the server with these arguments and waits until it listens on a free port. The server writes its
    /// statistics to a file in the folder. Throws Error{internal} with its messages if it ends instead or prints
    /// nothing for too long.
    Served(const MemoryFolder& folder, const std::vector<std::string>& arguments);
    ~Served();
    Served(const Served&) = delete;
    Served& operator=(const Served&) = delete;

    /// Returns the address of a stream; `scheme` is "tcp" or "ws".
    std::string address(const std::string& stream, const std::string& scheme = "tcp") const;
    /// Waits for the server's next progress report, one per second. Throws like the constructor.
    Mark next_mark();
    double memory_mib() const;
    int threads() const;
    /// Stops the server if it is still running, and returns its statistics. Throws Error{internal} if it failed.
    nlohmann::json stop();
    /// Waits until the server ends with its source, and returns its statistics. Throws like stop().
    nlohmann::json wait();

private:
    void end();
    std::string next_line();
    nlohmann::json figures();
    std::string status(const std::string& name) const;

    std::string stats_, server_, said_, line_;
    pid_t process_ = -1;
    int words_ = -1;  // standard error of the server
};

/// Returns the largest error of any camera's stream in a server's statistics.
int largest_error(const nlohmann::json& figures);

}  // namespace framewire::bench
