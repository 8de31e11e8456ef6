// Many viewers in one process, which prints what they saw as JSON on standard output, at the end or on SIGTERM.
//   test-load URL[,LOG]... [viewers=N] [checking=N] [stalled=N] [seconds=S] [stay=S] [window=MS] [reconnect=S]
//   [arrivals=1] [states=FOLDER]
// URL is tcp://, or ws:// for a WebSocket as browsers use it. LOG is the log of test-camera: with it the report has
// latencies, and `checking` viewers compare all pixels with it. With FOLDER they store each state that they see there
// instead, once. load_options.hpp documents the options.

#include "network/load/checking_viewer.hpp"
#include "network/load/crowd.hpp"

#include <fmt/format.h>

#include <csignal>
#include <cstdlib>
#include <exception>
#include <future>
#include <iostream>
#include <thread>

namespace framewire::network {
namespace {

void run(const LoadOptions& options) {
    sigset_t ends;
    sigemptyset(&ends);
    sigaddset(&ends, SIGTERM);
    sigaddset(&ends, SIGINT);
    pthread_sigmask(SIG_BLOCK, &ends, nullptr);  // signals are blocked in all threads; the thread below waits for them
    std::stop_source stop;
    std::jthread([stop, ends]() mutable {
        int number = 0;
        sigwait(&ends, &number);
        stop.request_stop();
    }).detach();

    std::vector<std::future<ViewerReport>> checking;
    for (int number = 0; number < options.checking; ++number) {
        const auto& target = options.targets[static_cast<std::size_t>(number) % options.targets.size()];
        checking.push_back(
            std::async(std::launch::async, [&] { return run_checking_viewer(options, target, stop.get_token()); }));
    }
    auto reports = run_crowd(options, stop.get_token());
    for (auto& report : checking) reports.push_back(report.get());
    std::cout << to_json(reports, options.arrivals).dump(1) << std::endl;
}

}  // namespace
}  // namespace framewire::network

int main(int count, char** words) {
    try {
        framewire::network::run(framewire::network::read_load_options({words + 1, words + count}));
        std::_Exit(EXIT_SUCCESS);  // also ends the thread that waits for signals
    } catch (const std::exception& error) {
        fmt::print(stderr, "test-load: {}\n", error.what());
        return EXIT_FAILURE;
    }
}
