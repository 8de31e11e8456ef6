#include "framewire/filters/binarize.hpp"
#include "framewire/filters/binarize_ref.hpp"
#include "framewire/filters/document.hpp"
#include "framewire/filters/document_ref.hpp"
#include "suites.hpp"

#include <fmt/format.h>

#if FRAMEWIRE_OPENCV
#include <opencv2/imgproc.hpp>
#endif

namespace framewire::bench {
namespace {

// Number of frames that the runs use in turn, so that each is read from memory and not from the cache.
constexpr int cpu_frames = 16;

const char* name_of(ThresholdMethod method) {
    switch (method) {
        case ThresholdMethod::two_max: return "two-max";
        case ThresholdMethod::otsu: return "otsu";
        case ThresholdMethod::two_peaks: return "two-peaks";
        case ThresholdMethod::ink: break;
    }
    return "ink";
}

double fewest_bytes(int channels, int reads) {
    return static_cast<double>(bench_frame.with_channels(channels).bytes()) * (reads + 1);
}

void bench_cpu(Session& session, ThresholdMethod method, int channels) {
    const auto shape = bench_frame.with_frames(cpu_frames).with_channels(channels);
    HostImage in(shape), out(shape), want(shape);
    fill_scene(in.view(), 1);
    binarize_reference([=](const Histogram& histogram) { return choose_threshold(method, histogram); }, in.view(),
                       want.view());
    Binarize binarize({.method = method}, shape.with_frames(1), session.cpu());
    int turn = 0;
    const auto run = [&] {
        binarize.run(FilterImages<MemorySpace::host>{in.view().frames(turn, 1), {}, out.view().frames(turn, 1)});
        turn = (turn + 1) % cpu_frames;
    };
    for (int frame = 0; frame < cpu_frames; ++frame) run();
    const auto operation = fmt::format("{}, {} channels", name_of(method), channels);
    Session::require_equal(out.view(), want.view(), operation);

    std::vector<std::function<void()>> candidates{run};
#if FRAMEWIRE_OPENCV
    HostImage peer_out(shape);
    int peer_turn = 0;
    cv::Mat gray, white;
    cv::setNumThreads(session.threads());
    const auto peer = [&] {
        const auto type = channels == 1 ? CV_8UC1 : CV_8UC3;
        const cv::Mat from(shape.height, shape.width, type, in.view().row(peer_turn, 0));
        cv::Mat to(shape.height, shape.width, type, peer_out.view().row(peer_turn, 0));
        if (channels == 1) {
            cv::threshold(from, to, 0, 255, cv::THRESH_OTSU);
        } else {
            cv::cvtColor(from, gray, cv::COLOR_BGR2GRAY);
            cv::threshold(gray, white, 0, 255, cv::THRESH_OTSU);
            cv::cvtColor(white, to, cv::COLOR_GRAY2BGR);
        }
        peer_turn = (peer_turn + 1) % cpu_frames;
    };
    if (method == ThresholdMethod::otsu) {
        for (int frame = 0; frame < cpu_frames; ++frame) peer();
        Session::require_equal(peer_out.view(), want.view(), "OpenCV's " + operation);
        candidates.push_back(peer);
    }
#endif
    const auto timings = session.time_cpu(candidates);
    const auto to_peer = timings.size() > 1 ? std::optional(timings[1].median_us / timings[0].median_us) : std::nullopt;
    session.add({"binarize", operation, "framewire cpu", timings[0], fewest_bytes(channels, 2), to_peer});
    if (timings.size() > 1) session.add({"binarize", operation, "OpenCV", timings[1], fewest_bytes(channels, 2), {}});
}

void bench_sauvola_cpu(Session& session, int window) {
    const auto shape = bench_frame.with_channels(1);
    HostImage in(shape), out(shape), want(shape);
    fill_scene(in.view(), 1);
    const SauvolaParameters parameters{.window = window};
    Sauvola sauvola(parameters, shape, session.cpu());
    const auto run = [&] { sauvola.run(FilterImages<MemorySpace::host>{in.view(), {}, out.view()}); };
    run();
    const auto operation = fmt::format("sauvola {}, 1 channel", window);
    if (window <= 25) {  // the reference sums every window in full
        sauvola_reference(parameters, in.view(), want.view());
        Session::require_equal(out.view(), want.view(), operation);
    }
    session.add({"binarize", operation, "framewire cpu", session.time_cpu({run})[0], fewest_bytes(1, 1), {}});
}

// The peer takes the same kind of steps with OpenCV's functions, at full size. Its result differs.
void bench_document_cpu(Session& session, int channels) {
    const auto shape = bench_frame.with_frames(cpu_frames).with_channels(channels);
    HostImage in(shape), out(shape), want(shape);
    fill_scene(in.view(), 1);
    document_reference({}, in.view(), want.view());
    Document document({}, shape.with_frames(1), session.cpu());
    int turn = 0;
    const auto run = [&] {
        document.run(FilterImages<MemorySpace::host>{in.view().frames(turn, 1), {}, out.view().frames(turn, 1)});
        turn = (turn + 1) % cpu_frames;
    };
    for (int frame = 0; frame < cpu_frames; ++frame) run();
    const auto operation = fmt::format("document, {} channel{}", channels, channels == 1 ? "" : "s");
    Session::require_equal(out.view(), want.view(), operation);
    std::vector<std::function<void()>> candidates{run};
#if FRAMEWIRE_OPENCV
    cv::setNumThreads(session.threads());
    const auto square = cv::getStructuringElement(cv::MORPH_RECT, {15, 15});
    int peer_turn = 0;
    cv::Mat gray, closed, paper, left, white;
    const auto peer = [&] {
        const auto type = channels == 1 ? CV_8UC1 : CV_8UC3;
        const cv::Mat from(shape.height, shape.width, type, in.view().row(peer_turn, 0));
        if (channels == 1)
            gray = from;
        else
            cv::cvtColor(from, gray, cv::COLOR_BGR2GRAY);
        cv::morphologyEx(gray, closed, cv::MORPH_CLOSE, square);
        cv::medianBlur(closed, paper, 21);
        cv::divide(gray, paper, left, 255);
        cv::threshold(left, white, 0, 255, cv::THRESH_OTSU);
        cv::medianBlur(white, white, 3);
        peer_turn = (peer_turn + 1) % cpu_frames;
    };
    candidates.push_back(peer);
#endif
    const auto timings = session.time_cpu(candidates);
    const auto to_peer = timings.size() > 1 ? std::optional(timings[1].median_us / timings[0].median_us) : std::nullopt;
    session.add({"binarize", operation, "framewire cpu", timings[0], fewest_bytes(channels, 2), to_peer});
    if (timings.size() > 1) session.add({"binarize", operation, "OpenCV", timings[1], fewest_bytes(channels, 2), {}});
}

// Measures `plan` on batches of `in`'s shape and checks the results against `want`.
template <class Plan>
void bench_gpu(Session& session, Plan& plan, HostView<const std::uint8_t> in, HostView<const std::uint8_t> want,
               int reads, const std::string& operation) {
    auto& executor = *session.gpu();
    HostImage out(in.shape());
    std::vector<cuda::DeviceImage> device_in, device_out;
    for (int turn = 0; turn < gpu_rotation; ++turn) {
        device_in.emplace_back(in.shape());
        device_out.emplace_back(in.shape());
        cuda::upload(in, device_in.back().view(), executor.stream());
    }
    const auto timing = session.time_gpu([&](int turn) {
        const auto at = static_cast<std::size_t>(turn);
        if constexpr (cuda::compiled)
            plan.run(FilterImages<MemorySpace::device>{device_in[at].view(), {}, device_out[at].view()});
    });
    for (auto& result : device_out) {
        cuda::download(result.view(), out.view(), executor.stream());
        executor.stream().synchronize();
        Session::require_equal(out.view(), want, operation);
    }
    session.add({"binarize", operation, "framewire cuda", timing, fewest_bytes(in.shape().channels, reads), {}});
}

void bench_gpu(Session& session, int channels) {
    const auto shape = bench_frame.with_frames(gpu_batch).with_channels(channels);
    HostImage in(shape), want(shape);
    for (const bool constant : {false, true}) {
        if (constant)
            std::fill_n(in.view().data(), shape.bytes(), std::uint8_t{90});
        else
            fill_scene(in.view(), 2);
        for (const auto method : {ThresholdMethod::two_max, ThresholdMethod::otsu, ThresholdMethod::two_peaks}) {
            binarize_reference([=](const Histogram& histogram) { return choose_threshold(method, histogram); },
                               in.view(), want.view());
            Binarize plan({.method = method}, shape, *session.gpu());
            bench_gpu(session, plan, in.view(), want.view(), 2,
                      fmt::format("{}, {} channels{}", name_of(method), channels, constant ? ", one value" : ""));
        }
    }
    fill_scene(in.view(), 2);
    binarize_reference([](const Histogram&) { return 128; }, in.view(), want.view());
    Binarize fixed({.method = {}}, shape, *session.gpu());
    bench_gpu(session, fixed, in.view(), want.view(), 1, fmt::format("fixed, {} channels", channels));
    document_reference({}, in.view(), want.view());
    Document document({}, shape, *session.gpu());
    bench_gpu(session, document, in.view(), want.view(), 2,
              fmt::format("document, {} channel{}", channels, channels == 1 ? "" : "s"));
    for (const int window : {25, 255}) {
        Sauvola on_cpu({.window = window}, shape, session.cpu());
        on_cpu.run(FilterImages<MemorySpace::host>{in.view(), {}, want.view()});
        Sauvola sauvola({.window = window}, shape, *session.gpu());
        bench_gpu(session, sauvola, in.view(), want.view(), 1,
                  fmt::format("sauvola {}, {} channels", window, channels));
    }
}

void bench_binarize(Session& session) {
    for (const auto method : {ThresholdMethod::two_max, ThresholdMethod::otsu, ThresholdMethod::two_peaks})
        for (const int channels : {1, 3}) bench_cpu(session, method, channels);
    for (const int window : {25, 255}) bench_sauvola_cpu(session, window);
    for (const int channels : {1, 3}) bench_document_cpu(session, channels);
    if (session.gpu())
        for (const int channels : {1, 3}) bench_gpu(session, channels);
}

const SuiteEntry binarize_suite{"operations", "binarize", bench_binarize};

}  // namespace
}  // namespace framewire::bench
