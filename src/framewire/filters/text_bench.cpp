#include "framewire/filters/text.hpp"
#include "framewire/filters/text_ref.hpp"
#include "suites.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <vector>

namespace framewire::bench {
namespace {

constexpr double fewest_bytes = 2.0 * static_cast<double>(bench_frame.bytes());
constexpr FrameValues values{
    .fps = 59.94, .process_ms = 1.25, .frame = 123456, .time_s = 2057.6, .source = "lobby.mp4"};

TextParameters overlay(int size_px) {
    const char* font = std::getenv("FRAMEWIRE_TEST_FONT");  // for machines without fonts
    return {.text = "{fps} fps, {process_ms} ms\\n{frame} {time} {source}",
            .size_px = size_px,
            .box = Color{0, 128},
            .font = font ? font : ""};
}

void bench_cpu(Session& session, int size_px) {
    constexpr int frames = 8;
    HostImage in(bench_frame.with_frames(frames)), out(bench_frame), want(bench_frame);
    fill_scene(in.view(), 1);
    Text text(overlay(size_px), bench_frame, session.cpu());
    int turn = 0;
    const auto run = [&] {
        text.set_frame_values(values);
        text.run(FilterImages<MemorySpace::host>{in.view().frames(turn, 1), {}, out.view()});
        turn = (turn + 1) % frames;
    };
    run();
    const auto operation = fmt::format("two lines, size {}", size_px);
    text_reference(text, in.view().frames(0, 1), want.view());
    Session::require_equal(out.view(), want.view(), operation);
    session.add({"text", operation, "framewire cpu", session.time_cpu({run})[0], fewest_bytes, {}});
}

void bench_gpu(Session& session, int size_px) {
    auto& executor = *session.gpu();
    const auto shape = bench_frame.with_frames(gpu_batch);
    HostImage in(shape), out(shape), want(shape);
    fill_scene(in.view(), 2);
    std::vector<cuda::DeviceImage> device_in, device_out;
    for (int turn = 0; turn < gpu_rotation; ++turn) {
        device_in.emplace_back(shape);
        device_out.emplace_back(shape);
        cuda::upload(in.view(), device_in.back().view(), executor.stream());
    }
    Text text(overlay(size_px), shape, executor);
    text.set_frame_values(values);
    const auto timing = session.time_gpu([&](int turn) {
        const auto at = static_cast<std::size_t>(turn);
        if constexpr (cuda::compiled)
            text.run(FilterImages<MemorySpace::device>{device_in[at].view(), {}, device_out[at].view()});
    });
    const auto operation = fmt::format("two lines, size {}, batch {}", size_px, gpu_batch);
    text_reference(text, in.view(), want.view());
    for (auto& result : device_out) {
        cuda::download(result.view(), out.view(), executor.stream());
        executor.stream().synchronize();
        Session::require_equal(out.view(), want.view(), operation);
    }
    session.add({"text", operation, "framewire cuda", timing, fewest_bytes, {}});
}

void bench_text(Session& session) {
    for (const int size_px : {24, 96}) {
        bench_cpu(session, size_px);
        if (session.gpu()) bench_gpu(session, size_px);
    }
}

const SuiteEntry text_suite{"operations", "text", bench_text};

}  // namespace
}  // namespace framewire::bench
