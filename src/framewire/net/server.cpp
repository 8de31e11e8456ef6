#include "framewire/net/server.hpp"

#include <utility>

namespace framewire::net {

namespace {

// Validates what a constructor would otherwise find only after the port is open.
const ServerOptions& checked(const ServerOptions& options) {
    validate_stream_name(options.stream);
    return options;
}

}  // namespace

Server::Server(StreamState& state, const ServerOptions& options, std::stop_token stop)
    : listener_(checked(options), std::move(stop)), stream_(listener_.add(options.stream, state)) {}

bool Server::wait_for_viewers(int count, std::stop_token stop) const {
    return stream_.wait_for_viewers(count, std::move(stop));
}

bool Server::wait_for_first_states(int count, std::stop_token stop) const {
    return stream_.wait_for_first_states(count, std::move(stop));
}

int Server::finish(std::chrono::milliseconds deadline, const std::string& failure) {
    listener_.close("the stream has come to its end");
    return stream_.finish(deadline, failure);
}

}  // namespace framewire::net
