#pragma once

#include "network/link/link_direction.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace framewire::network {

enum class Way { down, up };  ///< down: from servers to viewers; up: back

/// Line between servers on one side and viewers on the other, which runs on its own thread.
class Link {
public:
    virtual ~Link() = default;

    /// Applies settings to both directions, or to one direction, from now on.
    void set(const LinkSettings& settings) { set(Way::down, settings), set(Way::up, settings); }
    virtual void set(Way way, const LinkSettings& settings) = 0;
    virtual LinkCounts counts(Way way) const = 0;
    /// Returns true if the line can lose packets; it then carries IP packets, and TCP retransmits lost ones.
    virtual bool can_lose() const = 0;

    /// Returns an address, with any port, at which a server on the servers' side may listen: "10.213.18.1:0".
    virtual std::string listen_address() const = 0;
    /// Returns the command line that runs `command` on the servers' side, or on the viewers' side.
    virtual std::vector<std::string> at_servers(std::vector<std::string> command) const = 0;
    virtual std::vector<std::string> at_viewers(std::vector<std::string> command) const = 0;
    /// Calls `act` so that the sockets it creates are on the servers' side, or on the viewers' side.
    virtual void as_server(const std::function<void()>& act) const = 0;
    virtual void as_viewer(const std::function<void()>& act) const = 0;
    /// Returns the address at which viewers reach the server that listens at this port on the servers' side:
    /// "10.213.18.1:7878".
    virtual std::string reach(std::uint16_t port) = 0;
};

/// Creates a line of IP packets between two network namespaces with a TUN device in each and real TCP. Returns null if
/// this process may not create them, and sets `why` to the reason.
std::unique_ptr<Link> make_packet_link(std::string& why);
/// Creates a line of TCP connections through a proxy on loopback, which loses nothing and needs no privileges.
std::unique_ptr<Link> make_proxy_link();

}  // namespace framewire::network
