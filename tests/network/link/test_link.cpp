// Creates a bad line between two network namespaces, for programs run by hand or by scripts. Needs root.
//   test-link [down:SETTINGS] [up:SETTINGS]      SETTINGS as loss=5:delay=50:rate=2M:queue=200
// It prints how to run a program on each side, then reads more such arguments, one per line, from standard input, and
// prints the packet counters on `counts`. It ends with SIGTERM.

#include "network/link/link.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <exception>
#include <iostream>
#include <stdexcept>
#include <thread>

namespace framewire::network {
namespace {

struct Settings {
    LinkSettings down, up;
};

void obey(const std::string& word, Link& link, Settings& settings) {
    const auto colon = std::min(word.find(':'), word.size() - 1);
    const auto way = word.substr(0, colon);
    if (way != "down" && way != "up") throw std::invalid_argument("expected down:SETTINGS or up:SETTINGS, not " + word);
    auto& changed = way == "down" ? settings.down : settings.up;
    read_link_settings(std::string_view(word).substr(colon + 1), changed);
    link.set(way == "down" ? Way::down : Way::up, changed);
}

void tell(const Link& link) {
    for (const auto& [way, name] : {std::pair{Way::down, "down"}, std::pair{Way::up, "up"}}) {
        const auto counts = link.counts(way);
        fmt::print("{}: {} taken, {} lost, {} dropped, {} arrived, {} bytes\n", name, counts.taken, counts.lost,
                   counts.dropped, counts.left, counts.left_bytes);
    }
}

int run(const std::vector<std::string>& words) {
    std::string why;
    const auto link = make_packet_link(why);
    if (!link) throw std::runtime_error(why);
    Settings settings;
    for (const auto& word : words) obey(word, *link, settings);
    const auto shown = [](const std::vector<std::string>& command) {
        return fmt::format("{}", fmt::join(command, " "));
    };
    fmt::print("servers: {} # at {}\nviewers: {}\n", shown(link->at_servers({})), link->listen_address(),
               shown(link->at_viewers({})));
    std::cout.flush();
    for (std::string line; std::getline(std::cin, line);) {
        try {
            if (line == "counts")
                tell(*link);
            else
                obey(line, *link, settings);
        } catch (const std::invalid_argument& error) {
            fmt::print(stderr, "test-link: {}\n", error.what());
        }
        std::fflush(stdout);
    }
    for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
}

}  // namespace
}  // namespace framewire::network

int main(int count, char** words) {
    try {
        return framewire::network::run({words + 1, words + count});
    } catch (const std::exception& error) {
        fmt::print(stderr, "test-link: {}\n", error.what());
        return EXIT_FAILURE;
    }
}
