#pragma once

#include "kit/session.hpp"

#include <functional>
#include <string>
#include <vector>

namespace framewire::bench {

/// A maximum speed of this machine. Row::limit names it.
struct Limit {
    std::string name;    ///< "cpu copy", "cuda up"
    std::string runner;  ///< "cpu", "cuda"
    double bytes = 0;    ///< bytes read and written per turn; 0 if only the time counts
    std::function<Timing(Session&)> measure;
    std::map<std::string, std::string> details{};
};

/// Returns all limits: of the CPU with 1, 2, 4, ... threads and with the session's number, and of the GPU if there is
/// one.
std::vector<Limit> limits(const Session& session);
std::vector<Limit> cpu_limits(const Session& session);
std::vector<Limit> file_limits(const Session& session);
std::vector<Limit> gpu_limits();
std::vector<Limit> gpu_costs();

/// Divides the timing of `count` turns by their number.
Timing divided(const Timing& timing, double count);

}  // namespace framewire::bench
