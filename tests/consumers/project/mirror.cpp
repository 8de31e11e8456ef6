// Sends an image to a viewer, using only the network library, and captures the log lines.

#include "framewire/core/log.hpp"
#include "framewire/net/client.hpp"
#include "framewire/net/server.hpp"

#include <atomic>
#include <cstdio>
#include <cstring>

int main() {
    using namespace framewire;
    std::atomic<int> lines = 0;
    set_log_output({LogLevel::info, [&](LogLevel, std::string_view) { ++lines; }});

    const Shape shape{1, 8, 8, 3};
    HostImage picture(shape);
    std::memset(picture.view().data(), 77, 192);
    net::StreamState state({shape, codec::Mode::lossless, 0, {25, 1}, "still"});
    net::Server server(state, {{.listen = {"127.0.0.1", 0}}});
    state.start(picture.view(), {});
    server.publish();

    net::Client client(server.address());
    if (!client.next()) return 1;
    const bool same = std::memcmp(client.picture().data(), picture.view().data(), 192) == 0;
    std::printf("the viewer's picture %s the server's; %d lines logged\n", same ? "equals" : "differs from",
                lines.load());
    set_log_output({});
    return same && lines > 0 ? 0 : 1;
}
