// Signals as stop requests. Jobs end after the current frame and complete their outputs. A user who does not want to
// wait sends a second signal.

#include "signals/stop_signals.hpp"

#include "framewire/core/error.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>

namespace framewire::app {
namespace {

// A single request can arrive as several signals: `timeout` signals the process and then its group, closing shells and
// terminals send SIGTERM and SIGHUP, and service managers do both.
constexpr std::chrono::seconds same_stop{1};

// Returns the signals that request a stop.
sigset_t stop_signals() {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    struct sigaction hangup {};
    // nohup makes the process ignore SIGHUP; this is respected.
    if (sigaction(SIGHUP, nullptr, &hangup) == 0 && hangup.sa_handler != SIG_IGN) sigaddset(&signals, SIGHUP);
    return signals;
}

}  // namespace

// The signals are blocked and read from a signalfd, so that no code runs in a signal handler.
StopSignals::StopSignals() {
    const auto set = stop_signals();
    pthread_sigmask(SIG_BLOCK, &set, nullptr);
    signals_ = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    ending_ = eventfd(0, EFD_CLOEXEC);
    if (signals_ < 0 || ending_ < 0)
        fail(ErrorCode::config, "no file descriptors are left for signal handling; close some files");
    thread_ = std::thread([this] { receive(); });
}

StopSignals::~StopSignals() {
    const std::uint64_t one = 1;
    static_cast<void>(!write(ending_, &one, sizeof one));
    thread_.join();
    close(signals_);
    close(ending_);
    const auto set = stop_signals();
    pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

// Body of the thread: reads signals until the destructor wakes it.
void StopSignals::receive() {
    pollfd waiting[] = {{signals_, POLLIN, 0}, {ending_, POLLIN, 0}};
    for (;;) {
        if (poll(waiting, 2, -1) < 0) continue;  // interrupted by a signal
        signalfd_siginfo info{};
        while (read(signals_, &info, sizeof info) == sizeof info) {
            const auto number = static_cast<int>(info.ssi_signo);
            if (received_ == 0) {
                first_ = Clock::now();
                received_ = number;
                stop_.request_stop();
            } else if (Clock::now() - first_ >= same_stop) {
                std::_Exit(128 + number);
            }
        }
        if (waiting[1].revents != 0) return;
    }
}

}  // namespace framewire::app
