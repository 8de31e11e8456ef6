// The protocol is one datagram per message to a socket in the file system or, if its name begins with @, in the
// abstract namespace. libsystemd would add a library for these few lines.

#include "signals/service_manager.hpp"

#include "framewire/core/log.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string>

namespace framewire::app {
namespace {

// Returns 0 or the number of the error.
int send_datagram(const std::string& name, std::string_view text) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (name.size() >= sizeof address.sun_path) return ENAMETOOLONG;
    std::memcpy(address.sun_path, name.data(), name.size());
    if (name.front() == '@') address.sun_path[0] = '\0';
    // The length of an abstract name is that of the address, so it must not include the zeros behind it.
    const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
    const int descriptor = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0) return errno;
    const auto* to = reinterpret_cast<const sockaddr*>(&address);
    const auto sent = ::sendto(descriptor, text.data(), text.size(), MSG_NOSIGNAL, to, length);
    const int error = sent < 0 ? errno : 0;
    ::close(descriptor);
    return error;
}

}  // namespace

void notify_service_manager(std::string_view assignments) {
    const char* name = std::getenv("NOTIFY_SOCKET");
    if (name == nullptr || *name == '\0') return;
    if (const int error = send_datagram(name, assignments); error != 0)
        log_warning("cannot notify the service manager at {}: {}", name, std::strerror(error));
}

}  // namespace framewire::app
