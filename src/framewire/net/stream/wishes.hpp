#pragma once

#include "framewire/net/remote_control.hpp"
#include "framewire/net/wire/wire.hpp"

#include <deque>
#include <mutex>
#include <optional>
#include <string>

namespace framewire::net {

/// A viewer's wishes on their way to the server, and its answers. From any thread.
class Wishes final : public RemoteControl {
public:
    /// More than so many do not wait; of more the oldest are left out.
    static constexpr std::size_t most_waiting = 64;

    std::string state() const override;
    void order(const std::string& text) override;
    std::string refusal() const override;

    // The connection's side.

    /// The next wish to send; none where there is none. While one is under way there is none either.
    std::optional<std::string> next();
    /// The server's answer to one, or unasked.
    void take(const ControlAnswer& answer);
    /// A new connection: what was under way is lost, what waits is not.
    void restart();

private:
    mutable std::mutex mutex_;
    std::deque<std::string> waiting_;
    bool under_way_ = false;
    std::string state_, refusal_;
};

}  // namespace framewire::net
