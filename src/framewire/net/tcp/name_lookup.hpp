#pragma once

#include "framewire/core/time/clock.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace framewire::net {

/// Returns the numeric addresses of a host name. It may block for any time and runs on any thread. Throws
/// Error{no_input} if there are none.
using HostLookup = std::function<std::vector<std::string>(const std::string& host)>;

/// Resolves the name with the system's resolver, getaddrinfo().
std::vector<std::string> system_lookup(const std::string& host);

/// Resolves one host name on a detached thread, so a lookup that hangs only blocks that thread. At most one lookup is
/// in progress. Use it from one thread.
class NameLookup {
public:
    /// `lookup` resolves `host`; it is not called before addresses().
    NameLookup(std::string host, HostLookup lookup);

    /// Waits for the addresses. Returns nullopt at the deadline or when `stop` is requested; the next call continues to
    /// wait for the same lookup. A numeric address is returned unchanged. Throws Error{no_input} if the lookup fails or
    /// no thread can be started.
    std::optional<std::vector<std::string>> addresses(Clock::time_point deadline, std::stop_token stop);

private:
    struct Answer;
    std::string host_;
    HostLookup lookup_;
    std::shared_ptr<Answer> awaited_;  // of the lookup in progress
};

}  // namespace framewire::net
