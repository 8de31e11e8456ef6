#pragma once

#include "framewire/core/time/clock.hpp"
#include "kit/programs.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <sys/types.h>

namespace framewire::bench {

/// A `framewire serve` that runs and tells how it goes; killed with the object when it has not ended by then. For one
/// thread.
class Served {
public:
    /// How a camera stood.
    struct CameraMark {
        std::int64_t frames = 0;
        std::int64_t sent_bytes = 0;
    };
    /// How all stood when it said so.
    struct Mark {
        Clock::time_point at;
        double cpu_seconds = 0;                     ///< that it used so far, on all threads
        std::map<std::string, CameraMark> cameras;  ///< by their names; a single one is "main"
    };

    /// Starts it with these arguments and waits until it listens, at a free port. Its figures go to a file in the
    /// folder. Throws Error{internal}, with what it said, where it ends instead or says nothing for too long.
    Served(const MemoryFolder& folder, const std::vector<std::string>& arguments);
    ~Served();
    Served(const Served&) = delete;
    Served& operator=(const Served&) = delete;

    /// Where a stream is found: scheme "tcp" or "ws".
    std::string address(const std::string& stream, const std::string& scheme = "tcp") const;
    /// Waits until it tells of its progress, which it does each second. Throws as the constructor.
    Mark next_mark();
    double memory_mib() const;
    int threads() const;
    /// Ends it, where it has not ended by itself, and gives its figures. Throws Error{internal} where it failed.
    nlohmann::json stop();
    /// Waits for the end of its source instead.
    nlohmann::json wait();

private:
    void end();
    std::string next_line();
    nlohmann::json figures();
    std::string status(const std::string& name) const;

    std::string stats_, server_, said_, line_;
    pid_t process_ = -1;
    int words_ = -1;  // its standard error
};

/// The largest error of any camera's stream, of a server's figures.
int largest_error(const nlohmann::json& figures);

}  // namespace framewire::bench
