#pragma once

#include "kit/session.hpp"

#include <vector>

namespace framewire::bench {

struct Suite {
    const char* group;  ///< "operations", "ladders", "peers", "jobs", "limits", "proofs"
    const char* name;
    void (*run)(Session&);
};

/// Every suite of the program, in no order.
inline std::vector<Suite>& suites() {
    static std::vector<Suite> all;
    return all;
}

/// Puts a suite among them: a constant beside the function, in the room of what it measures (x_bench.cpp).
struct SuiteEntry {
    SuiteEntry(const char* group, const char* name, void (*run)(Session&)) { suites().push_back({group, name, run}); }
};

}  // namespace framewire::bench
