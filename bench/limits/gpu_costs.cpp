// Measures fixed costs of calls that move next to nothing.

#include "limits/limits.hpp"
#include "limits/limits_kernels.hpp"

namespace framewire::bench {
namespace {

constexpr int many = 1000;

const cuda::Stream& stream_of(Session& session) { return session.gpu()->stream(); }

// Times many consecutive runs of `call`, followed by one wait; returns the time per run.
Timing often(Session& session, const std::function<void()>& call) {
    return divided(session.time_host([&](int) {
        for (int i = 0; i < many; ++i) call();
        stream_of(session).synchronize();
    }),
                   many);
}

// Times one run of `call` including the wait for its end.
Timing once(Session& session, const std::function<void()>& call) {
    return session.time_host([&](int) {
        call();
        stream_of(session).synchronize();
    });
}

void launch(Session& session) {
    if constexpr (cuda::compiled) limit_launch(stream_of(session));
}

cuda::Graph graph_of(Session& session, int nodes) {
    return cuda::Graph(stream_of(session), [&] {
        for (int i = 0; i < nodes; ++i) launch(session);
    });
}

Timing graph_node(Session& session) {
    const auto graph = graph_of(session, many);
    return divided(session.time_launches([&](int) { graph.launch(stream_of(session)); }), many);
}

Timing graph_launch(Session& session) {
    const auto graph = graph_of(session, 1);
    return once(session, [&] { graph.launch(stream_of(session)); });
}

Timing event(Session& session) {
    cuda::Event event(cuda::Event::Timing::none);
    return often(session, [&] { event.record(stream_of(session)); });
}

Timing event_wait(Session& session) {
    cuda::Event event(cuda::Event::Timing::none);
    event.record(session.gpu()->uploads());
    return often(session, [&] { event.make_wait(stream_of(session)); });
}

Timing small(Session& session, bool up) {
    const HostBuffer host(sizeof(std::uint32_t), cuda::pinned_memory());
    const cuda::DeviceBuffer device(sizeof(std::uint32_t));
    *host.as<std::uint32_t>() = 1;
    cuda::upload(host.data(), device.data(), host.bytes(), stream_of(session));
    return once(session, [&] {
        if (up)
            cuda::upload(host.data(), device.data(), host.bytes(), stream_of(session));
        else
            cuda::download(device.data(), host.data(), host.bytes(), stream_of(session));
    });
}

}  // namespace

std::vector<Limit> gpu_costs() {
    const auto launching = [](Session& in) { return [&in] { launch(in); }; };
    return {
        {"cuda launch", "cuda", 0, [=](Session& in) { return often(in, launching(in)); }},
        {"cuda launch, waited for", "cuda", 0, [=](Session& in) { return once(in, launching(in)); }},
        {"cuda graph node", "cuda", 0, graph_node},
        {"cuda graph, waited for", "cuda", 0, graph_launch},
        {"cuda event", "cuda", 0, event},
        {"cuda event waited for by a stream", "cuda", 0, event_wait},
        {"cuda synchronize", "cuda", 0, [](Session& in) { return often(in, [&in] { stream_of(in).synchronize(); }); }},
        {"cuda 4 bytes up, waited for", "cuda", 0, [](Session& in) { return small(in, true); }},
        {"cuda 4 bytes down, waited for", "cuda", 0, [](Session& in) { return small(in, false); }},
    };
}

}  // namespace framewire::bench
