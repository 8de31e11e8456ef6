#pragma once

#include "kit/session.hpp"

#include <vector>

namespace framewire::bench {

/// A group of suites.
struct Group {
    const char *name, *purpose;
};

/// All groups, in the order of the usage text.
inline constexpr Group groups[]{
    {"operations", "each operation on both backends, compared with OpenCV or another peer"},
    {"ladders", "the reports' experiments: each variant, with the figures that the reports give"},
    {"peers", "each operation compared with other libraries and programs, for several sizes, batches and contents"},
    {"jobs", "whole jobs: files, served streams, latency, number of cameras, growth, memory"},
    {"capacity", "how many cameras this machine holds for a job, and what runs out first"},
    {"limits", "the limits of this machine: copies, transfers, launches, graphs, decoders"},
    {"proofs", "properties that hold for every frame of a clip; slow"},
};

struct Suite {
    const char* group;  ///< name of one of `groups`
    const char* name;
    void (*run)(Session&);
};

/// Returns all suites of the program, unordered.
inline std::vector<Suite>& suites() {
    static std::vector<Suite> all;
    return all;
}

/// Registers a suite: define a constant of this type beside the function, in the folder of what it measures
/// (x_bench.cpp).
struct SuiteEntry {
    SuiteEntry(const char* group, const char* name, void (*run)(Session&)) { suites().push_back({group, name, run}); }
};

}  // namespace framewire::bench
