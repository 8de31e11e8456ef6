#pragma once

#include "framewire/net/transport/connection.hpp"

#include <cstddef>
#include <system_error>

namespace framewire::net {

/// What became of a read or a write, for who turns the loop until it is done. Lives until then.
struct Outcome {
    bool done = false;
    std::error_code error{};
    std::size_t bytes = 0;

    /// Small enough for a callback without an allocation.
    Connection::Done handler() {
        return
            [this](const std::error_code& error_, std::size_t bytes_) { done = true, error = error_, bytes = bytes_; };
    }
};

}  // namespace framewire::net
