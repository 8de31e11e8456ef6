#pragma once

#include "network/link/link_direction.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace framewire::network {

enum class Way { down, up };  ///< from servers to viewers, and back

/// A line between servers on one side and viewers on the other, which runs on its own thread.
class Link {
public:
    virtual ~Link() = default;

    /// Applies settings to both directions or to one of them, from now on.
    void set(const LinkSettings& settings) { set(Way::down, settings), set(Way::up, settings); }
    virtual void set(Way way, const LinkSettings& settings) = 0;
    virtual LinkCounts counts(Way way) const = 0;
    /// Returns true if the line can lose packets; it then carries IP packets, and TCP retransmits lost ones.
    virtual bool can_lose() const = 0;

    /// Returns an address at which a server on its side may listen, on any port: "10.213.18.1:0".
    virtual std::string listen_address() const = 0;
    /// Returns the command line that runs `command` on the servers' side, and on the viewers' side.
    virtual std::vector<std::string> at_servers(std::vector<std::string> command) const = 0;
    virtual std::vector<std::string> at_viewers(std::vector<std::string> command) const = 0;
    /// Calls `act` so that sockets that it creates are on the servers' side, and on the viewers' side.
    virtual void as_server(const std::function<void()>& act) const = 0;
    virtual void as_viewer(const std::function<void()>& act) const = 0;
    /// Returns the address at which viewers reach the server that listens at this port of the servers' side:
    /// "10.213.18.1:7878".
    virtual std::string reach(std::uint16_t port) = 0;
};

/// Makes a line of IP packets between two network namespaces: a TUN device in each, with real TCP. Returns null if this
/// process may not create them, with the reason in `why`.
std::unique_ptr<Link> make_packet_link(std::string& why);
/// Makes a line of TCP connections through a proxy on loopback, which loses nothing and needs no privileges.
std::unique_ptr<Link> make_proxy_link();

}  // namespace framewire::network
