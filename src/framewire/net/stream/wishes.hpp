#pragma once

#include "framewire/net/remote_control.hpp"
#include "framewire/net/wire/wire.hpp"

#include <deque>
#include <mutex>
#include <optional>
#include <string>

namespace framewire::net {

/// Control requests of a viewer that wait for the server, and the server's latest answers. Thread-safe.
class Wishes final : public RemoteControl {
public:
    /// Most requests that wait. If there are more, the oldest are dropped.
    static constexpr std::size_t most_waiting = 64;

    /// See RemoteControl::state().
    std::string state() const override;
    /// See RemoteControl::order().
    void order(const std::string& text) override;
    /// See RemoteControl::refusal().
    std::string refusal() const override;

    // The following functions are for the connection:

    /// Returns the next request to send, or nullopt if there is none or one has not been answered.
    std::optional<std::string> next();
    /// Takes an answer of the server, to a request or unsolicited.
    void take(const ControlAnswer& answer);
    /// Starts with a new connection: the unanswered request is lost, waiting ones are not.
    void restart();

private:
    mutable std::mutex mutex_;
    std::deque<std::string> waiting_;
    bool under_way_ = false;
    std::string state_, refusal_;
};

}  // namespace framewire::net
