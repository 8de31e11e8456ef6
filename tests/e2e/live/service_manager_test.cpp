#include "e2e/live/guarded.hpp"
#include "e2e/program.hpp"

#include "framewire/net/address.hpp"
#include "framewire/net/client.hpp"

#include <gtest/gtest.h>

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstddef>
#include <string>
#include <vector>

namespace framewire::e2e {
namespace {

using guarded::small_synth;

std::vector<std::string> notifying_server(const std::string& socket) {
    auto arguments = framewire({"serve", "--backend", "cpu", "-i", small_synth, "--listen", "127.0.0.1:0"});
    arguments.insert(arguments.begin(), {"env", "NOTIFY_SOCKET=" + socket});
    return arguments;
}

// The socket of a service manager. A name that begins with @ is in the abstract namespace.
class ServiceManager {
public:
    explicit ServiceManager(const std::string& name) {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        name.copy(address.sun_path, sizeof address.sun_path - 1);
        if (name.front() == '@') address.sun_path[0] = '\0';
        const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
        EXPECT_EQ(::bind(descriptor_, reinterpret_cast<const sockaddr*>(&address), length), 0) << name;
        const timeval deadline{180, 0};
        EXPECT_EQ(::setsockopt(descriptor_, SOL_SOCKET, SO_RCVTIMEO, &deadline, sizeof deadline), 0);
    }
    ~ServiceManager() { ::close(descriptor_); }
    ServiceManager(const ServiceManager&) = delete;
    ServiceManager& operator=(const ServiceManager&) = delete;

    // Returns the next message; empty if none arrives in time.
    std::string next() const {
        std::array<char, 256> message{};
        const auto size = ::recv(descriptor_, message.data(), message.size(), 0);
        return {message.data(), size > 0 ? static_cast<std::size_t>(size) : 0};
    }

private:
    int descriptor_ = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
};

TEST(ServiceManager, IsToldThatTheServerIsReadyAndThatItStops) {
    const TemporaryFolder folder;
    for (const auto& name : {folder / "notify", "@framewire-test-" + std::to_string(::getpid())}) {
        SCOPED_TRACE(name);
        const ServiceManager manager(name);
        Program server(notifying_server(name));
        ASSERT_EQ(manager.next(), "READY=1") << server.err();
        // The log is in a file, which is complete by now.
        const auto log = server.err();
        const auto begin = log.find("tcp://");
        ASSERT_NE(begin, std::string::npos) << log;
        net::Client viewer(net::parse_stream_address(log.substr(begin, log.find('\n', begin) - begin)));
        EXPECT_TRUE(viewer.next());
        server.signal(SIGTERM);
        EXPECT_EQ(manager.next(), "STOPPING=1");
        EXPECT_EQ(server.wait().code, 128 + SIGTERM);
    }
}

TEST(ServiceManager, ThatIsAwayStopsNothing) {
    const TemporaryFolder folder;
    for (const auto& name : {folder / "nobody", folder / std::string(200, 'x')}) {
        SCOPED_TRACE(name);
        Program server(notifying_server(name));
        EXPECT_TRUE(server.wait_for_err("cannot notify the service manager at " + name)) << server.err();
        EXPECT_TRUE(server.wait_for_err("serving ")) << server.err();
        server.signal(SIGTERM);
        EXPECT_EQ(server.wait().code, 128 + SIGTERM);
    }
}

}  // namespace
}  // namespace framewire::e2e
