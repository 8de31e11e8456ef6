#pragma once

#include "network/link/link_direction.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace framewire::network {

enum class Way { down, up };  ///< from servers to viewers, and back

/// A line between servers on one side and viewers on the other, which runs on a thread of its own.
class Link {
public:
    virtual ~Link() = default;

    /// For both ways from now on, and for one of them.
    void set(const LinkSettings& settings) { set(Way::down, settings), set(Way::up, settings); }
    virtual void set(Way way, const LinkSettings& settings) = 0;
    virtual LinkCounts counts(Way way) const = 0;
    /// Whether it can lose packets: then there are packets, and a TCP that sends them again.
    virtual bool can_lose() const = 0;

    /// Where a server on its side may listen, on any port: "10.213.18.1:0".
    virtual std::string listen_address() const = 0;
    /// The command line as it runs on the servers' side, and on the viewers'.
    virtual std::vector<std::string> at_servers(std::vector<std::string> command) const = 0;
    virtual std::vector<std::string> at_viewers(std::vector<std::string> command) const = 0;
    /// Calls `act` where sockets made by it are on the servers' side, and on the viewers'.
    virtual void as_server(const std::function<void()>& act) const = 0;
    virtual void as_viewer(const std::function<void()>& act) const = 0;
    /// Where viewers reach the server that listens at this port of the servers' side: "10.213.18.1:7878".
    virtual std::string reach(std::uint16_t port) = 0;
};

/// A line of IP packets between two namespaces of the network: a TUN device in each, real TCP. Null where this process
/// may not have such, with the reason in `why`.
std::unique_ptr<Link> make_packet_link(std::string& why);
/// A line of TCP connections through a proxy on loopback, which loses nothing and needs no rights.
std::unique_ptr<Link> make_proxy_link();

}  // namespace framewire::network
