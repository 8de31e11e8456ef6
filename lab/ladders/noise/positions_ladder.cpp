#include "ladders/noise/positions_ladder.hpp"

#include "framewire/filters/noise.hpp"
#include "framewire/filters/pointwise_ref.hpp"
#include "ladders/difference/difference_kernels.hpp"
#include "ladders/difference/moments.hpp"
#include "ladders/noise/noise_kernels.hpp"
#include "ladders/pictures/picture_ladder.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace framewire::bench {
namespace positions_ladder {

constexpr const char* suite = "ladders/noise";

// Returns the expected picture of the bytes that the second moment changed: red on black, or over the previous picture.
HostImage wanted(const LadderMoments& moments, NoiseMode mode) {
    HostImage want(moments.held[0].shape());
    noise_reference({.threshold = 0, .mode = mode, .base = NoiseBase::previous}, moments.held[1].view(),
                    moments.held[0].view(), want.view());
    return want;
}

// Measures the report's version: one block, after the report's best difference kernel, whose positions stay on the
// GPU in unchanged order.
void run_kernel(Session& session, const LadderMoments& moments, NoiseMode mode) {
    const auto& stream = session.gpu()->stream();
    const auto& shape = moments.held[0].shape();
    const auto bytes = static_cast<std::size_t>(shape.bytes());
    const bool is_over = mode == NoiseMode::overlay;
    const auto want = wanted(moments, mode);
    const char* const operation = is_over ? "from positions, over the frame before" : "from positions, memset first";
    HostImage got(shape);
    HostBuffer count(sizeof(std::uint32_t), cuda::pinned_memory());
    cuda::DeviceImage current(shape), previous(shape), black(shape);
    cuda::DeviceBuffer differences(bytes), positions(bytes * sizeof(std::uint32_t)), device_count(count.bytes());
    auto& picture = is_over ? previous : black;
    const auto found = [&] { return *count.as<std::uint32_t>(); };
    const auto bring_back = [&] { cuda::upload(moments.held[0].view(), previous.view(), stream); };
    const auto clear = [&] {
        if (!is_over) cuda::fill(black.view().data(), 0, bytes, stream);
    };
    const auto redden = [&](int threads) {
        if constexpr (cuda::compiled)
            launch_noise_from_positions(positions.as<std::uint32_t>(), found(), picture.view().data(), threads, stream);
    };
    const auto whole = [&](int threads) {
        clear();
        cuda::upload(moments.images[1].view(), current.view(), stream);
        if constexpr (cuda::compiled)
            launch_difference(DifferenceKernel::chunks_32,
                              {current.view().data(), previous.view().data(), differences.data(),
                               positions.as<std::uint32_t>(), device_count.as<std::uint32_t>()},
                              shape.bytes(), most_threads, stream);
        cuda::download(device_count.data(), count.data(), count.bytes(), stream);
        stream.synchronize();
        redden(threads);
        cuda::download(std::as_const(picture).view(), got.view(), stream);
        stream.synchronize();
    };
    const auto add = [&](const char* step, int threads, const Timing& timing, double moved, const OnJetson& on_jetson) {
        session.add({.suite = suite,
                     .operation = operation,
                     .runner = "cuda",
                     .timing = timing,
                     .bytes = moved,
                     .reported = threads == most_threads ? reported_of(on_jetson) : std::nullopt,
                     .details = {{"step", step}, {"threads", std::to_string(threads)}},
                     .note = "The kernel's time excludes the difference; the report skipped the last positions."});
    };
    for (const int threads : {32, 64, 128, 256, 512, most_threads}) {
        bring_back();
        whole(threads);
        require_close(std::as_const(got).view(), want.view(), 0, operation);
        add("kernel", threads, session.time_launches([&](int) { redden(threads); }), 5.0 * found(),
            is_over ? OnJetson{"table 20", 915.35, 624.23, 6769.2} : OnJetson{});
    }
    if (!is_over)
        add("memset", most_threads, session.time_launches([&](int) { clear(); }), static_cast<double>(bytes),
            {"section 5.0.6", 1500});
    add("whole", most_threads, session.time_host([&](int) {
        bring_back();
        whole(most_threads);
    }),
        0, {});
}

// Measures framewire's filter on the changes that its encoder would have found.
template <MemorySpace space>
void run_filter(Session& session, Executor& executor, const LadderMoments& moments) {
    const auto& shape = moments.held[0].shape();
    const auto mode = NoiseMode::mask;
    const auto want = wanted(moments, mode);
    const auto from = moments.changes[1].view();
    const auto found = std::size_t{from.summaries[0].count};
    codec::ChangesBuffer<space> changes(shape);
    ImageIn<space> frame(shape), out(shape);
    HostImage got(shape);
    const auto to = changes.view();
    const ChangedBytes<space> changed{to.positions, to.differences, &to.summaries->count, sizeof(codec::Summary) / 4,
                                      to.capacity};
    const NoiseFromChanges noise(mode, shape, executor);
    const auto run = [&] { noise.run(changed, std::as_const(frame).view(), out.view()); };
    Timing timing;
    if constexpr (space == MemorySpace::device) {
        const auto& stream = executor.stream();
        cuda::upload(from.positions, to.positions, found * sizeof(std::uint32_t), stream);
        cuda::upload(from.differences, to.differences, found, stream);
        cuda::upload(from.summaries, to.summaries, sizeof(codec::Summary), stream);
        run();
        cuda::download(std::as_const(out).view(), got.view(), stream);
        stream.synchronize();
        require_close(std::as_const(got).view(), want.view(), 0, "framewire cuda, from positions");
        timing = session.time_launches([&](int) { run(); });
    } else {
        std::copy_n(from.positions, found, to.positions);
        std::copy_n(from.differences, found, to.differences);
        *to.summaries = *from.summaries;
        run();
        require_close(std::as_const(out).view(), want.view(), 0, "framewire cpu, from positions");
        timing = session.time_cpu({run})[0];
    }
    session.add({.suite = suite,
                 .operation = "framewire's filter, from positions",
                 .runner = space == MemorySpace::device ? "framewire cuda" : "framewire cpu",
                 .timing = timing,
                 .bytes = static_cast<double>(shape.bytes()) + 5.0 * static_cast<double>(found),
                 .details = {{"step", "kernel"}},
                 .note = "Writes red pixels on black, including the black ones."});
}

}  // namespace positions_ladder

void run_noise_positions(Session& session) {
    using namespace positions_ladder;
    const LadderMoments moments(ladder_frame(session));
    session.attempt("ladders/noise, from positions on the CPU",
                    [&] { run_filter<MemorySpace::host>(session, session.cpu(), moments); });
    if (!session.gpu()) return;
    for (const auto mode : {NoiseMode::overlay, NoiseMode::mask})
        session.attempt("ladders/noise, from positions", [&] { run_kernel(session, moments, mode); });
    session.attempt("ladders/noise, from positions, framewire cuda", [&] {
        if constexpr (cuda::compiled) run_filter<MemorySpace::device>(session, *session.gpu(), moments);
    });
}

}  // namespace framewire::bench
