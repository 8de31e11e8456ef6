#pragma once

#include "framewire/net/transport/connection.hpp"

#include <cstddef>
#include <system_error>

namespace framewire::net {

/// Result of a read or a write, for code that runs the loop until the operation is done. Must outlive the operation.
struct Outcome {
    bool done = false;
    std::error_code error{};
    std::size_t bytes = 0;

    /// A callback that stores the result. It is small enough for std::function to store it without an allocation.
    Connection::Done handler() {
        return
            [this](const std::error_code& error_, std::size_t bytes_) { done = true, error = error_, bytes = bytes_; };
    }
};

}  // namespace framewire::net
