#pragma once

#include "kit/session.hpp"

#include <functional>
#include <string>
#include <vector>

namespace framewire::bench {

/// Something this machine does at most so fast. Row::limit names it.
struct Limit {
    std::string name;    ///< "cpu copy", "cuda up"
    std::string runner;  ///< "cpu", "cuda"
    double bytes = 0;    ///< that a turn moves, read and written; 0 where only its time counts
    std::function<Timing(Session&)> measure;
    std::map<std::string, std::string> details{};
};

/// All limits: those of the CPU with 1, 2, 4, ... threads and with the session's own, and where there is a GPU its own.
std::vector<Limit> limits(const Session& session);
std::vector<Limit> cpu_limits(const Session& session);
std::vector<Limit> file_limits(const Session& session);
std::vector<Limit> gpu_limits();
std::vector<Limit> gpu_costs();

/// The timing of `count` turns at once, as one.
Timing divided(const Timing& timing, double count);

}  // namespace framewire::bench
