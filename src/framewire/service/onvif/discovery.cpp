#include "framewire/service/onvif/discovery.hpp"
#include "framewire/core/error.hpp"
#include "framewire/core/log.hpp"
#include "framewire/core/time.hpp"
#include "framewire/net/access.hpp"
#include "framewire/service/onvif/device.hpp"
#include "framewire/service/onvif/soap.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <exception>
#include <stop_token>
#include <thread>
#include <utility>

namespace framewire::service::onvif {
namespace {

constexpr std::string_view discovery_namespace = "http://schemas.xmlsoap.org/ws/2005/04/discovery";
constexpr int answers_per_second = 20;
constexpr int between_looks_ms = 200;

// Returns true if the list of types is empty or names a type of this device. Prefixes are not resolved.
bool wants_cameras(std::string_view types) {
    return types.find_first_not_of(" \t\r\n") == types.npos || types.find("NetworkVideoTransmitter") != types.npos ||
           types.find(":Device") != types.npos;
}

sockaddr_in address_of(const std::string& host, std::uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    if (::inet_pton(AF_INET, host.c_str(), &address.sin_addr) != 1) address.sin_addr.s_addr = htonl(INADDR_ANY);
    return address;
}

bool is_wildcard(const std::string& host) { return address_of(host, 0).sin_addr.s_addr == htonl(INADDR_ANY); }

std::string text_of(const in_addr& address) {
    std::array<char, INET_ADDRSTRLEN> text{};
    ::inet_ntop(AF_INET, &address, text.data(), text.size());
    return text.data();
}

// Returns the local address from which packets to `peer` leave; connecting a UDP socket only looks up the route.
std::string local_address_to(const sockaddr_in& peer) {
    const int probe = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    sockaddr_in own{};
    socklen_t size = sizeof own;
    const bool found = ::connect(probe, reinterpret_cast<const sockaddr*>(&peer), sizeof peer) == 0 &&
                       ::getsockname(probe, reinterpret_cast<sockaddr*>(&own), &size) == 0;
    ::close(probe);
    return found ? text_of(own.sin_addr) : std::string();
}

}  // namespace

std::optional<std::string> probe_matches(std::string_view message, const DiscoveryOptions& options,
                                         const std::string& host) {
    const auto probe = read_soap(message);
    if (probe.operation != "Probe" || probe.operation_namespace != discovery_namespace) return std::nullopt;
    const auto types = probe.parameters.find("Types");
    if (types != probe.parameters.end() && !wants_cameras(types->second)) return std::nullopt;
    const auto address = fmt::format("{}://{}{}{}", options.tls ? "https" : "http",
                                     to_string(net::Address{host, options.http.port}), options.base_path, device_path);
    // An identifier that differs for each message.
    const auto id = uuid_of(options.uuid + net::make_token());
    constexpr std::string_view addressing = "http://schemas.xmlsoap.org/ws/2004/08/addressing";
    const auto header = fmt::format(
        R"(<a:MessageID xmlns:a="{0}">urn:uuid:{1}</a:MessageID><a:RelatesTo xmlns:a="{0}">{2}</a:RelatesTo>)"
        R"(<a:To xmlns:a="{0}">{0}/role/anonymous</a:To><a:Action xmlns:a="{0}">{3}/ProbeMatches</a:Action>)",
        addressing, id, xml_text(probe.message_id), discovery_namespace);
    const auto body = fmt::format(
        R"(<d:ProbeMatches xmlns:d="{}" xmlns:a="{}"><d:ProbeMatch><a:EndpointReference><a:Address>urn:uuid:{}</a:Address>)"
        R"(</a:EndpointReference><d:Types xmlns:dn="http://www.onvif.org/ver10/network/wsdl">dn:NetworkVideoTransmitter</d:Types>)"
        "<d:Scopes>onvif://www.onvif.org/type/video_encoder onvif://www.onvif.org/Profile/Streaming "
        "onvif://www.onvif.org/name/{}</d:Scopes><d:XAddrs>{}</d:XAddrs><d:MetadataVersion>1</d:MetadataVersion>"
        "</d:ProbeMatch></d:ProbeMatches>",
        discovery_namespace, addressing, xml_text(options.uuid), xml_text(options.name), xml_text(address));
    return soap_envelope(body, header);
}

struct Discovery::State {
    explicit State(DiscoveryOptions given) : options(std::move(given)) {
        socket = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        try {
            join();
        } catch (...) {
            ::close(socket);
            throw;
        }
        thread = std::jthread([this](const std::stop_token& stop) { run(stop); });
    }
    ~State() {
        thread.request_stop();
        thread.join();
        ::close(socket);
    }

    // Several programs of a machine may listen to the group.
    void join() const {
        const auto refuse = [this](const char* what) {
            fail(ErrorCode::config, "cannot {} for ONVIF discovery at {}: {}", what, to_string(options.group),
                 std::strerror(errno));
        };
        constexpr int yes = 1;
        const auto group = address_of(options.group.host, options.group.port);
        if (::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) != 0 ||
            ::bind(socket, reinterpret_cast<const sockaddr*>(&group), sizeof group) != 0)
            refuse("listen");
        const ip_mreq membership{group.sin_addr, address_of(options.http.host, 0).sin_addr};
        if (::setsockopt(socket, IPPROTO_IP, IP_ADD_MEMBERSHIP, &membership, sizeof membership) != 0)
            refuse("join the group");
    }

    void run(const std::stop_token& stop) {
        auto period = Clock::now();
        int answers = 0;
        while (!stop.stop_requested()) {
            pollfd waiting{socket, POLLIN, 0};
            if (::poll(&waiting, 1, between_looks_ms) <= 0) continue;
            std::array<char, 8192> message{};
            sockaddr_in peer{};
            socklen_t size = sizeof peer;
            const auto got =
                ::recvfrom(socket, message.data(), message.size(), 0, reinterpret_cast<sockaddr*>(&peer), &size);
            if (got <= 0) continue;
            if (const auto now = Clock::now(); now - period >= std::chrono::seconds(1)) {
                period = now;
                answers = 0;
            }
            if (answers >= answers_per_second) continue;
            answers += answer({message.data(), static_cast<std::size_t>(got)}, peer);
        }
    }

    // Returns true if a response was sent. Other messages to the group are ignored.
    bool answer(std::string_view message, const sockaddr_in& peer) const {
        try {
            const auto host = is_wildcard(options.http.host) ? local_address_to(peer) : options.http.host;
            const auto reply = probe_matches(message, options, host);
            if (!reply) return false;
            ::sendto(socket, reply->data(), reply->size(), 0, reinterpret_cast<const sockaddr*>(&peer), sizeof peer);
            return true;
        } catch (const std::exception& error) {
            log_debug("an ONVIF probe from {} was ignored: {}", text_of(peer.sin_addr), error.what());
            return false;
        }
    }

    const DiscoveryOptions options;
    int socket = -1;
    std::jthread thread;
};

Discovery::Discovery(DiscoveryOptions options) : state_(std::make_unique<State>(std::move(options))) {}
Discovery::~Discovery() = default;

}  // namespace framewire::service::onvif
