// Broadcasts the synthetic camera and receives it as the program does, using only the installed headers and libraries.

#include "framewire/jobs/broadcast.hpp"
#include "framewire/jobs/receive.hpp"

#include <cstdio>
#include <future>

int main() {
    using namespace framewire;
    jobs::BroadcastOptions options{.job = {.backend = BackendChoice::cpu},
                                   .input = {.source = "synth:size=64x48:frames=20", .filters = "gray"}};
    options.server.listen = {"127.0.0.1", 0};
    options.wait_for_viewers = 1;
    options.hurries = true;
    jobs::BroadcastJob broadcast(options);

    auto receiving = std::async(std::launch::async, [&] {
        return jobs::ReceiveJob({.url = to_string(broadcast.address())}).run().state.frame;
    });
    const auto sent = broadcast.run().figures.frames;
    const auto last = receiving.get();
    std::printf("%d frames sent, last received frame: %d\n", static_cast<int>(sent), static_cast<int>(last));
    return sent == 20 && last == 19 ? 0 : 1;
}
