#pragma once

#include "framewire/net/address.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace framewire::service::onvif {

/// The device that WS-Discovery reports.
struct DiscoveryOptions {
    /// Address of the HTTP server. If it is a wildcard address, clients get the local address of the interface through
    /// which they are reached.
    net::Address http{};
    bool tls = false;
    std::string base_path{};
    /// See DeviceParts.
    std::string uuid{};
    /// Name shown to users.
    std::string name{};
    /// Multicast group and port.
    net::Address group{"239.255.255.250", 3702};
};

/// Returns the response to a Probe (WS-Discovery 2005/04, section 5); nullopt if the message is no Probe for a network
/// video transmitter. `host` is the host under which the client reaches the server. Throws Error{usage} as read_soap()
/// does.
std::optional<std::string> probe_matches(std::string_view message, const DiscoveryOptions& options,
                                         const std::string& host);

/// Answers WS-Discovery probes on a thread. It joins the group on the interface of the HTTP server's address, or on the
/// default one. At most 20 probes per second are answered, because the address of a sender can be forged.
class Discovery {
public:
    /// Starts the thread. Throws Error{config} if the group cannot be joined.
    explicit Discovery(DiscoveryOptions options);
    /// Ends the thread.
    ~Discovery();
    Discovery(const Discovery&) = delete;
    Discovery& operator=(const Discovery&) = delete;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace framewire::service::onvif
