// Measures the bandwidth of the GPU's memory and of its bus.

#include "limits/limits.hpp"
#include "limits/limits_kernels.hpp"

#include "framewire/core/error.hpp"

#include <algorithm>

namespace framewire::bench {
namespace {

constexpr auto frame_bytes = static_cast<std::size_t>(bench_frame.bytes());
constexpr auto batch_bytes = frame_bytes * gpu_batch;

std::vector<cuda::DeviceBuffer> batches(Session& session) {
    std::vector<cuda::DeviceBuffer> all;
    for (int turn = 0; turn < gpu_rotation; ++turn) {
        all.emplace_back(batch_bytes);
        cuda::fill(all.back().data(), turn + 1, batch_bytes, session.gpu()->stream());
    }
    return all;
}

Timing copy(Session& session) {
    const auto from = batches(session), to = batches(session);
    return session.time_gpu([&](int turn) {
        const auto at = static_cast<std::size_t>(turn);
        cuda::copy(from[at].data(), to[at].data(), batch_bytes, session.gpu()->stream());
    });
}

Timing read([[maybe_unused]] Session& session) {
    if constexpr (cuda::compiled) {
        const auto from = batches(session);
        const cuda::DeviceBuffer sink(sizeof(std::uint32_t));
        return session.time_gpu([&](int turn) {
            limit_read(from[static_cast<std::size_t>(turn)].data(), sink.as<std::uint32_t>(), batch_bytes,
                       session.gpu()->stream());
        });
    }
    return {};
}

Timing write([[maybe_unused]] Session& session) {
    if constexpr (cuda::compiled) {
        const auto to = batches(session);
        return session.time_gpu([&](int turn) {
            limit_write(to[static_cast<std::size_t>(turn)].data(), batch_bytes, session.gpu()->stream());
        });
    }
    return {};
}

constexpr int transfers = 16;  // transfers per turn, one after the other

struct Ends {
    std::vector<HostBuffer> host;
    std::vector<cuda::DeviceBuffer> device;

    explicit Ends(HostMemory& memory) {
        for (int at = 0; at < transfers; ++at) {
            host.emplace_back(frame_bytes, memory);
            std::fill_n(host.back().data(), frame_bytes, static_cast<std::uint8_t>(at));
            device.emplace_back(frame_bytes);
        }
    }
    // Checks the copies: each host frame was filled with its index, which must come back from the device.
    void require_moved(const cuda::Stream& stream) const {
        for (std::size_t at = 0; at < transfers; ++at) std::fill_n(host[at].data(), frame_bytes, std::uint8_t{0xFF});
        down(stream);
        stream.synchronize();
        for (std::size_t at = 0; at < transfers; ++at)
            if (std::count(host[at].data(), host[at].data() + frame_bytes, static_cast<std::uint8_t>(at)) !=
                static_cast<std::ptrdiff_t>(frame_bytes))
                fail(ErrorCode::internal, "transfer {} delivered wrong bytes", at);
    }
    void up(const cuda::Stream& stream) const {
        for (std::size_t at = 0; at < transfers; ++at)
            cuda::upload(host[at].data(), device[at].data(), frame_bytes, stream);
    }
    void down(const cuda::Stream& stream) const {
        for (std::size_t at = 0; at < transfers; ++at)
            cuda::download(device[at].data(), host[at].data(), frame_bytes, stream);
    }
};

Timing up(Session& session, HostMemory& memory) {
    const Ends ends(memory);
    const auto timing = session.time_host([&](int) {
        ends.up(session.gpu()->stream());
        session.gpu()->stream().synchronize();
    });
    ends.require_moved(session.gpu()->stream());
    return divided(timing, transfers);
}

Timing down(Session& session, HostMemory& memory) {
    const Ends ends(memory);
    ends.up(session.gpu()->stream());
    const auto timing = session.time_host([&](int) {
        ends.down(session.gpu()->stream());
        session.gpu()->stream().synchronize();
    });
    ends.require_moved(session.gpu()->stream());
    return divided(timing, transfers);
}

Timing both_ways(Session& session) {
    const Ends rising(cuda::pinned_memory()), falling(cuda::pinned_memory());
    const auto& executor = *session.gpu();
    falling.up(executor.downloads());
    return divided(session.time_host([&](int) {
        rising.up(executor.uploads());
        falling.down(executor.downloads());
        executor.uploads().synchronize();
        executor.downloads().synchronize();
    }),
                   transfers);
}

}  // namespace

std::vector<Limit> gpu_limits() {
    constexpr auto frame = static_cast<double>(frame_bytes);
    return {
        {"cuda copy", "cuda", 2 * frame, copy},
        {"cuda read", "cuda", frame, read},
        {"cuda write", "cuda", frame, write},
        {"cuda up", "cuda", frame, [](Session& in) { return up(in, cuda::pinned_memory()); }},
        {"cuda down", "cuda", frame, [](Session& in) { return down(in, cuda::pinned_memory()); }},
        {"cuda both ways", "cuda", 2 * frame, both_ways},
        {"cuda up, pageable", "cuda", frame, [](Session& in) { return up(in, heap_memory()); }},
        {"cuda down, pageable", "cuda", frame, [](Session& in) { return down(in, heap_memory()); }},
    };
}

}  // namespace framewire::bench
