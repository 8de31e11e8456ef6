#pragma once

#include "framewire/filters/filter.hpp"
#include "kit/session.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace framewire::bench {

/// A filter with a window, or with another output size, to measure on both backends.
struct WindowBench {
    const char* suite;
    std::string operation;
    int channels = 3;
    const FilterInfo& info;
    ParameterValues values;
    std::function<void(HostView<const std::uint8_t> in, HostView<std::uint8_t> out)> reference;
    std::string peer_name;                                                            ///< empty if there is no peer
    std::function<void(HostView<std::uint8_t> in, HostView<std::uint8_t> out)> peer;  ///< processes one frame
};

/// Measures single frames on the CPU, compared with the peer, and batches on the GPU. All frames show one picture,
/// because the reference is slow for large windows, but each has its own memory.
void bench_window(Session& session, const WindowBench& bench);

}  // namespace framewire::bench
