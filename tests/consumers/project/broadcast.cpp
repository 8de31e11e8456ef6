// Serves the synthetic camera and views it, using only the installed headers and libraries.

#include "framewire/media/media.hpp"
#include "framewire/net/client.hpp"
#include "framewire/net/server.hpp"
#include "framewire/plan/stream_encoder.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <future>

int main() {
    using namespace framewire;
    constexpr int threshold = 10;
    Executor executor(BackendChoice::cpu);
    const auto source = open_source("synth:size=64x48:objects=2:frames=20");
    const auto& info = source->info();
    StreamEncoder encoder({.threshold = threshold}, info.shape, executor);
    net::StreamState state({info.shape, codec::Mode::exact, threshold, info.rate, "synth"}, encoder.reference());
    net::Server server(state, {{.listen = {"127.0.0.1", 0}}});

    auto viewer = std::async(std::launch::async, [&] {
        net::Client client(server.address());
        while (client.next()) {
        }
        HostImage last(info.shape);
        copy(client.picture(), last.view());
        return last;
    });
    if (!server.wait_for_viewers(1, {})) return 1;

    Frame frame(info.shape, executor);
    FrameTime time;
    while (source->read(frame.host(), time)) {
        frame.upload();
        net::StreamState::Update update(state);
        const auto encoded = encoder.encode(frame, codec::PackAs::delta_frame);
        if (encoded.whole)
            update.start(time, {}, encoded.packed);
        else
            update.advance(encoded.packed, time);
        server.publish();
    }
    server.finish(std::chrono::seconds(10));

    const auto seen = viewer.get();
    int furthest = 0;
    for (int y = 0; y < info.shape.height; ++y)
        for (int x = 0; x < info.shape.width * info.shape.channels; ++x)
            furthest = std::max(furthest, std::abs(seen.view().row(0, y)[x] - frame.host().row(0, y)[x]));
    std::printf("the viewer's bytes differ from the camera's by at most %d\n", furthest);
    return furthest <= threshold ? 0 : 1;
}
