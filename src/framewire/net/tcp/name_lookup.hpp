#pragma once

#include "framewire/core/time/clock.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace framewire::net {

/// Gives the numeric addresses that a host's name stands for. May block for as long as it likes, in any thread. Throws
/// Error{no_input} when there are none to be had.
using HostLookup = std::function<std::vector<std::string>(const std::string& host)>;

/// As the system does it (getaddrinfo).
std::vector<std::string> system_lookup(const std::string& host);

/// Looks up one host, in a thread that nobody has to wait for: a lookup that hangs keeps that thread and nothing else.
/// At most one is under way, however often it is asked for. For one thread.
class NameLookup {
public:
    NameLookup(std::string host, HostLookup lookup);

    /// Waits for the addresses; nothing when there are none by the deadline or when told to stop. A host that is a
    /// numeric address is given as it is. Throws Error{no_input} as the lookup does, and without a thread.
    std::optional<std::vector<std::string>> addresses(Clock::time_point deadline, std::stop_token stop);

private:
    struct Answer;
    std::string host_;
    HostLookup lookup_;
    std::shared_ptr<Answer> awaited_;  // of the lookup under way
};

}  // namespace framewire::net
