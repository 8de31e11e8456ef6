#pragma once

#include "framewire/filters/filter.hpp"
#include "kit/session.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace framewire::bench {

/// A filter that looks at a window, or gives images of another size, to be measured on both backends.
struct WindowBench {
    const char* suite;
    std::string operation;
    int channels = 3;
    const FilterInfo& info;
    ParameterValues values;
    std::function<void(HostView<const std::uint8_t> in, HostView<std::uint8_t> out)> reference;
    std::string peer_name;                                                            ///< empty without a peer
    std::function<void(HostView<std::uint8_t> in, HostView<std::uint8_t> out)> peer;  ///< one frame
};

/// Measures one frame at a time on the CPU, beside the peer, and batches on the GPU. All frames show one picture,
/// because the reference takes long for large windows, but each lies elsewhere in memory.
void bench_window(Session& session, const WindowBench& bench);

}  // namespace framewire::bench
