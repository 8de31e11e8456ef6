#pragma once

#include <string>

namespace framewire::net {

/// Sends control requests to a server that accepts them, as texts that the server's program parses. Thread-safe.
class RemoteControl {
public:
    virtual ~RemoteControl() = default;
    /// The settings that can be changed, as the server last reported them. Empty before the first report.
    virtual std::string state() const = 0;
    /// Queues a control request. It is sent when the connection next accepts one.
    virtual void order(const std::string& text) = 0;
    /// Why the server refused the last request. Empty if it accepted the request or has not answered.
    virtual std::string refusal() const = 0;
};

}  // namespace framewire::net
