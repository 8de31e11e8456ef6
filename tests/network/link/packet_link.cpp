// Carries packets between two TUN devices, each in its own network namespace, which exists as long as the descriptors
// here.

#include "network/link/descriptor.hpp"
#include "network/link/line.hpp"
#include "network/link/link.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <system_error>
#include <thread>

namespace framewire::network {
namespace {

// Addresses of the servers' side and of the viewers' side.
constexpr std::array<const char*, 2> addresses{"10.213.18.1", "10.213.18.2"};
constexpr std::size_t packet_limit_bytes = 2048;

[[noreturn]] void give_up(const char* what) { throw std::system_error(errno, std::generic_category(), what); }

void control(int descriptor, unsigned long request, void* argument, const char* what) {
    if (ioctl(descriptor, request, argument) < 0) give_up(what);
}

ifreq request_for(const char* device, const char* address = nullptr) {
    ifreq request{};
    std::strncpy(request.ifr_name, device, IFNAMSIZ - 1);
    if (address) {
        sockaddr_in own{};
        own.sin_family = AF_INET;
        inet_pton(AF_INET, address, &own.sin_addr);
        std::memcpy(&request.ifr_addr, &own, sizeof own);
    }
    return request;
}

void bring_up(int socket, const char* device) {
    auto request = request_for(device);
    control(socket, SIOCGIFFLAGS, &request, "the flags of a device");
    request.ifr_flags |= IFF_UP | IFF_RUNNING;
    control(socket, SIOCSIFFLAGS, &request, "bringing a device up");
}

// Network namespace with one TUN device.
struct Side {
    Descriptor network, device;

    explicit Side(const char* address) {
        elsewhere([&] { begin(address); });
    }

    void inside(const std::function<void()>& act) const {
        elsewhere([&] {
            if (setns(network.number(), CLONE_NEWNET) != 0) give_up("entering a network namespace");
            act();
        });
    }

private:
    // A thread cannot leave a network namespace that it has entered, so each action runs on its own thread.
    static void elsewhere(const std::function<void()>& act) {
        std::exception_ptr failure;
        std::jthread([&] {
            try {
                act();
            } catch (...) {
                failure = std::current_exception();
            }
        }).join();
        if (failure) std::rethrow_exception(failure);
    }

    void begin(const char* address) {
        if (unshare(CLONE_NEWNET) != 0) give_up("creating a network namespace");
        network = Descriptor(open("/proc/thread-self/ns/net", O_RDONLY));
        device = Descriptor(open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC));
        if (network.number() < 0 || device.number() < 0) give_up("/dev/net/tun");
        auto request = request_for("line");
        request.ifr_flags = IFF_TUN | IFF_NO_PI;
        control(device.number(), TUNSETIFF, &request, "a TUN device");
        const Descriptor socket(::socket(AF_INET, SOCK_DGRAM, 0));
        request = request_for("line", address);
        control(socket.number(), SIOCSIFADDR, &request, "an address");
        request = request_for("line", "255.255.255.0");
        control(socket.number(), SIOCSIFNETMASK, &request, "a netmask");
        bring_up(socket.number(), "line");
        bring_up(socket.number(), "lo");
    }
};

class PacketLink final : public Link {
public:
    PacketLink() : thread_([this](const std::stop_token& stop) { carry(stop); }) {}

    void set(Way way, const LinkSettings& settings) override { line_.set(way, settings); }
    LinkCounts counts(Way way) const override { return line_.counts(way); }
    bool can_lose() const override { return true; }
    std::string listen_address() const override { return std::string(addresses[0]) + ":0"; }
    std::vector<std::string> at_servers(std::vector<std::string> command) const override {
        return inside(servers_, std::move(command));
    }
    std::vector<std::string> at_viewers(std::vector<std::string> command) const override {
        return inside(viewers_, std::move(command));
    }
    void as_server(const std::function<void()>& act) const override { servers_.inside(act); }
    void as_viewer(const std::function<void()>& act) const override { viewers_.inside(act); }
    std::string reach(std::uint16_t port) override { return std::string(addresses[0]) + ":" + std::to_string(port); }

private:
    static std::vector<std::string> inside(const Side& side, std::vector<std::string> command) {
        command.insert(command.begin(), {"nsenter", "--net=/proc/" + std::to_string(getpid()) + "/fd/" +
                                                        std::to_string(side.network.number())});
        return command;
    }

    void carry(const std::stop_token& stop) {
        while (!stop.stop_requested()) {
            pollfd waiting[] = {{servers_.device.number(), POLLIN, 0}, {viewers_.device.number(), POLLIN, 0}};
            const auto pause = line_.pause();
            ppoll(waiting, 2, &pause, nullptr);
            take(servers_, Way::down), take(viewers_, Way::up);
            give(viewers_, Way::down), give(servers_, Way::up);
        }
    }

    void take(const Side& from, Way way) {
        for (;;) {
            Packet packet{std::vector<std::uint8_t>(packet_limit_bytes)};
            const auto got = read(from.device.number(), packet.bytes.data(), packet.bytes.size());
            if (got <= 0) return;
            packet.bytes.resize(static_cast<std::size_t>(got));
            line_.take(way, std::move(packet));
        }
    }
    void give(const Side& to, Way way) {
        while (const auto packet = line_.leave(way))
            if (write(to.device.number(), packet->bytes.data(), packet->bytes.size()) < 0)
                continue;  // lose one more packet
    }

    Side servers_{addresses[0]}, viewers_{addresses[1]};
    Line line_;
    std::jthread thread_;  // last member, because it uses the others
};

}  // namespace

std::unique_ptr<Link> make_packet_link(std::string& why) {
    try {
        return std::make_unique<PacketLink>();
    } catch (const std::system_error& error) {
        why = std::string("no packet link on this machine: ") + error.what();
        return nullptr;
    }
}

}  // namespace framewire::network
