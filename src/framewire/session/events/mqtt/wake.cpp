#include "framewire/session/events/mqtt/wake.hpp"

#include "framewire/core/error.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

namespace framewire::session {

Wake::Wake() : descriptor_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (descriptor_ < 0) fail(ErrorCode::config, "no event descriptor can be had: {}", std::strerror(errno));
}

Wake::~Wake() { ::close(descriptor_); }

void Wake::wake() noexcept {
    const std::uint64_t one = 1;
    // the counter is full only if the thread is already awake
    static_cast<void>(::write(descriptor_, &one, sizeof one) == sizeof one);
}

void Wake::clear() noexcept {
    std::uint64_t count = 0;
    static_cast<void>(::read(descriptor_, &count, sizeof count) == sizeof count);
}

void Wake::wait(std::chrono::milliseconds longest) noexcept {
    pollfd waited{descriptor_, POLLIN, 0};
    ::poll(&waited, 1, static_cast<int>(longest.count()));
    clear();
}

}  // namespace framewire::session
