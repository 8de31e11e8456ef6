#pragma once

#include <string>

namespace framewire::net {

/// What a viewer may order of a server that allows it: texts, which the server's program reads. From any thread.
class RemoteControl {
public:
    virtual ~RemoteControl() = default;
    /// How what may be ordered stands, in the server's words of last; empty before those came.
    virtual std::string state() const = 0;
    /// Sends an order when the connection next takes one.
    virtual void order(const std::string& text) = 0;
    /// Why the server did not take the last order; empty where it did, or has not answered.
    virtual std::string refusal() const = 0;
};

}  // namespace framewire::net
