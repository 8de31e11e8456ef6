#include "network/load/load_options.hpp"

#include <stdexcept>

namespace framewire::network {

LoadOptions read_load_options(const std::vector<std::string>& words) {
    LoadOptions options;
    for (const auto& word : words) {
        if (word.starts_with("tcp://") || word.starts_with("ws://")) {
            auto& target = options.targets.emplace_back();
            const auto comma = word.find(',');
            target.url = word.substr(0, comma);
            target.address = net::parse_stream_address(target.url);
            if (comma != word.npos) target.log = std::make_unique<FrameLog>(word.substr(comma + 1));
            continue;
        }
        const auto equals = word.find('=');
        if (equals == word.npos) throw std::invalid_argument("unknown argument: " + word);
        const auto name = word.substr(0, equals);
        if (name == "states") {
            options.states = std::make_unique<StateStore>(word.substr(equals + 1));
            continue;
        }
        const auto value = std::stod(word.substr(equals + 1));
        if (name == "viewers")
            options.viewers = static_cast<int>(value);
        else if (name == "checking")
            options.checking = static_cast<int>(value);
        else if (name == "stalled")
            options.stalled = static_cast<int>(value);
        else if (name == "seconds")
            options.seconds = value;
        else if (name == "stay")
            options.stay_seconds = value;
        else if (name == "window")
            options.window_ms = value;
        else if (name == "reconnect")
            options.reconnect_seconds = value;
        else if (name == "arrivals")
            options.arrivals = value != 0;
        else
            throw std::invalid_argument("unknown argument: " + word);
    }
    if (options.targets.empty()) throw std::invalid_argument("no URL is given");
    return options;
}

}  // namespace framewire::network
