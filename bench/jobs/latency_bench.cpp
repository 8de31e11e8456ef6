// Latency from the camera to the viewer: the age of a frame when a viewer has decoded it. A camera with an exact rate
// and the viewer are threads of this process with one clock; the server between them is the program. Pictures are
// compared with what the camera sent. The viewer of RTSP is ffmpeg, as ffplay would receive and decode it; its pictures
// carry the number of their frame.

#include "framewire/core/error.hpp"
#include "framewire/net/client.hpp"
#include "framewire/plan/chain_plan.hpp"
#include "jobs/rig/pipe_camera.hpp"
#include "jobs/rig/served.hpp"
#include "network/camera/stamp.hpp"
#include "network/load/report.hpp"
#include "suites.hpp"

#include <fmt/format.h>

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace framewire::bench {
namespace {

constexpr int camera_fps = 30, threshold = 20;
constexpr double settling_seconds = 1;  // excluded from the results, because the first frame is a keyframe
constexpr int compared_every = 10;      // comparing all frames would slow the viewer down
constexpr const char* filter = "gaussian=5";

struct Case {
    Shape shape;
    std::string mode, scheme, filters, backend;
};

std::string size_of(const Shape& shape) { return fmt::format("{}x{}", shape.width, shape.height); }

std::string name_of(const Case& one) {
    if (one.scheme == "rtsp") return size_of(one.shape) + ", ffmpeg over RTSP";
    if (one.scheme == "rtsp, low delay") return size_of(one.shape) + ", ffmpeg -flags low_delay over RTSP";
    return fmt::format("{} {}, {} viewer{}", size_of(one.shape), one.mode, one.scheme == "ws" ? "ws" : "native",
                       one.filters.empty() ? "" : ", " + one.filters);
}

int largest_difference(HostView<const std::uint8_t> one, HostView<const std::uint8_t> other) {
    int largest = 0;
    for (int y = 0; y < one.shape().height; ++y)
        for (std::int64_t byte = 0; byte < one.shape().row_bytes(); ++byte)
            largest = std::max(largest, std::abs(one.row(0, y)[byte] - other.row(0, y)[byte]));
    return largest;
}

// Compares some of the viewer's pictures with the camera's frames after the filters.
class Comparison {
public:
    Comparison(const Case& one, const PipeCamera& camera, Executor& executor) : camera_(camera), filtered_(one.shape) {
        if (!one.filters.empty()) plan_.emplace(parse_chain(one.filters), one.shape, executor);
    }

    // Throws Error{internal} unless the viewer's picture equals frame `frame` within the threshold.
    void take(const net::Client& client, std::uint32_t frame) {
        const auto* pixels = camera_.log().pixels(frame);
        if (!pixels) return;  // too old, no longer in the log
        HostView<const std::uint8_t> sent(pixels, camera_.log().shape());
        if (plan_) {
            plan_->run(sent, filtered_.view());
            sent = std::as_const(filtered_).view();
        }
        const int error = largest_difference(client.picture(), sent);
        if (error > client.threshold())
            fail(ErrorCode::internal, "a byte of frame {} is off by {}; at most {} is allowed", frame, error,
                 client.threshold());
        if (!plan_ && network::read_stamp(client.picture()) != frame)
            fail(ErrorCode::internal, "the picture received for frame {} has another frame's number", frame);
        ++compared_;
    }

    int compared() const { return compared_; }

private:
    const PipeCamera& camera_;
    std::optional<ChainPlan> plan_;
    HostImage filtered_;
    int compared_ = 0;
};

struct Seen {
    std::vector<double> ages_ms, gaps_ms;
    std::int64_t frames = 0;  // frames that arrived, including those before settling
    double seconds = 0;       // duration of the counted frames
};

Seen watch(net::Client& client, const PipeCamera& camera, Comparison& comparison, bool check_only) {
    Seen seen;
    const auto begin = Clock::now();
    std::optional<Clock::time_point> last;
    std::uint32_t newest = 0;
    while (client.next()) {
        const auto now = Clock::now();
        const auto frame = static_cast<std::uint32_t>(client.state().frame) + 1;
        // A frame sent in parts counts once its last part has arrived; a refinement repeats a frame that was already
        // counted.
        if (frame <= newest) continue;
        newest = frame;
        const bool settled = milliseconds(begin, now) > 1000 * settling_seconds;
        if (const auto captured = camera.log().captured(frame); captured && settled) {
            seen.ages_ms.push_back(milliseconds(*captured, now));
            if (last) seen.gaps_ms.push_back(milliseconds(*last, now));
            last = now;
        }
        if (check_only || ++seen.frames % compared_every == 0) comparison.take(client, frame);
    }
    for (const double gap : seen.gaps_ms) seen.seconds += gap / 1000;
    return seen;
}

void add_rows(Session& session, const Case& one, const Seen& seen, std::int64_t left_out) {
    const auto at = [&](const std::vector<double>& values, double share) {
        return 1000 * network::percentile(values, share);
    };
    const double fps = static_cast<double>(seen.gaps_ms.size()) / seen.seconds;
    const auto row = [&](const std::string& what, const Timing& timing) {
        Row made{"jobs/latency", fmt::format("{}: {}", name_of(one), what), "framewire " + one.backend, timing};
        made.details = {{"size", size_of(one.shape)},
                        {"mode", one.mode},
                        {"viewer", one.scheme == "tcp" ? "native" : one.scheme},
                        {"filter", one.filters.empty() ? "none" : one.filters},
                        {"cameras", "1"},
                        {"viewers", "1"},
                        {"camera_fps", std::to_string(camera_fps)},
                        {"seen_fps", fmt::format("{:.1f}", fps)},
                        {"left_out", std::to_string(left_out)}};
        return made;
    };
    for (const int percent : {50, 95, 99}) {
        const double us = at(seen.ages_ms, percent / 100.0);
        auto made = row(fmt::format("age, {} %", percent), {us, us, us});
        made.details["percentile"] = std::to_string(percent);
        session.add(std::move(made));
    }
    session.add(row("from frame to frame", {at(seen.gaps_ms, 0.5), at(seen.gaps_ms, 0.1), at(seen.gaps_ms, 0.9)}));
}

void bench_case(Session& session, const Case& one) {
    const double seconds = session.check_only() ? 1.5 : settling_seconds + (session.quick() ? 2.0 : 10.0);
    const MemoryFolder folder;
    PipeCamera camera(folder, one.shape, camera_fps);
    std::vector<std::string> arguments{
        "-i",     camera.source(), "--rate",    "max",       "--wait",      "1",
        "--mode", one.mode,        "--backend", one.backend, "--threshold", std::to_string(threshold)};
    if (!one.filters.empty()) arguments.insert(arguments.end(), {"-f", one.filters});
    Served server(folder, arguments);
    net::Client client(net::parse_stream_address(server.address("main", one.scheme)));
    Comparison comparison(one, camera, session.cpu());
    camera.start(seconds);
    const auto seen = watch(client, camera, comparison, session.check_only());
    const auto figures = server.wait();
    const auto sent = static_cast<std::int64_t>(camera.log().newest());
    if (figures.at("frames") != sent)
        fail(ErrorCode::internal, "the server processed {} of {} frames", figures.at("frames").dump(), sent);
    if (largest_error(figures) > threshold)
        fail(ErrorCode::internal, "the server's largest error is {}", largest_error(figures));
    if (comparison.compared() == 0) fail(ErrorCode::internal, "no picture could be compared");
    if (session.check_only()) return;
    if (seen.gaps_ms.empty()) fail(ErrorCode::internal, "only {} of {} frames arrived", seen.frames, sent);
    add_rows(session, one, seen, camera.left_out());
}

// Returns a port that is free now.
int free_port() {
    const int descriptor = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    const bool bound = ::bind(descriptor, reinterpret_cast<const sockaddr*>(&address), size) == 0 &&
                       ::getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &size) == 0;
    ::close(descriptor);
    if (!bound) fail(ErrorCode::io, "no free port: {}", std::strerror(errno));
    return ntohs(address.sin_port);
}

// Reads the frames that ffmpeg decodes from a pipe. A frame whose number cannot be read does not count.
Seen watch_rtsp(std::FILE* decoded, const PipeCamera& camera, const Shape& shape) {
    Seen seen;
    HostImage picture(shape);
    const auto bytes = static_cast<std::size_t>(shape.frame_bytes());
    const auto begin = Clock::now();
    std::optional<Clock::time_point> last;
    while (std::fread(picture.view().data(), 1, bytes, decoded) == bytes) {
        const auto now = Clock::now();
        ++seen.frames;
        const auto frame = network::read_stamp(std::as_const(picture).view());
        const auto captured = frame ? camera.log().captured(*frame) : std::nullopt;
        if (!captured || milliseconds(begin, now) <= 1000 * settling_seconds) continue;
        seen.ages_ms.push_back(milliseconds(*captured, now));
        if (last) seen.gaps_ms.push_back(milliseconds(*last, now));
        last = now;
    }
    for (const double gap : seen.gaps_ms) seen.seconds += gap / 1000;
    return seen;
}

// ffmpeg has ffplay's demultiplexer and decoder; what ffplay adds is the time until the screen shows the picture.
void bench_rtsp(Session& session, const Case& one) {
    constexpr double connecting_seconds = 3;
    const double seconds = connecting_seconds + settling_seconds + (session.quick() || session.check_only() ? 2 : 10);
    const MemoryFolder folder;
    PipeCamera camera(folder, one.shape, camera_fps);
    const auto rtsp = fmt::format("127.0.0.1:{}", free_port());
    Served server(folder, {"-i", camera.source(), "--rate", "max", "--mode", one.mode, "--backend", one.backend,
                           "--threshold", std::to_string(threshold), "--rtsp", rtsp});
    camera.start(seconds);
    for (int report = 0; report < 10 && server.next_mark().cameras["main"].frames == 0;) ++report;
    const auto command = fmt::format(
        "ffmpeg -nostdin -v error -fflags nobuffer {} -rtsp_transport tcp -i rtsp://{}/main -f rawvideo -pix_fmt bgr24 "
        "-fps_mode passthrough - 2>/dev/null",
        one.scheme == "rtsp" ? "" : "-flags low_delay", rtsp);
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> decoded(::popen(command.c_str(), "r"), ::pclose);
    if (!decoded) fail(ErrorCode::io, "cannot run ffmpeg: {}", std::strerror(errno));
    const auto seen = watch_rtsp(decoded.get(), camera, one.shape);
    server.wait();
    if (seen.gaps_ms.empty()) fail(ErrorCode::internal, "no frame of {} arrived over RTSP", seen.frames);
    if (!session.check_only()) add_rows(session, one, seen, camera.left_out());
}

void bench_latency(Session& session) {
    for (const auto* executor : {&session.cpu(), session.gpu()}) {
        if (!executor) continue;
        const std::string backend(to_string(executor->backend()));
        const auto bench = [&](const Case& one) {
            if (session.wants(name_of(one) + ", " + backend))
                session.attempt("jobs/latency: " + name_of(one), [&] {
                    one.scheme.starts_with("rtsp") ? bench_rtsp(session, one) : bench_case(session, one);
                });
        };
        for (const Shape& shape : {Shape{1, 720, 1280, 3}, Shape{1, 1080, 1920, 3}})
            for (const char* mode : {"exact", "bounded"}) {
                bench({shape, mode, "tcp", "", backend});
                bench({shape, mode, "tcp", filter, backend});
                bench({shape, mode, "ws", "", backend});
            }
#if FRAMEWIRE_RTSP
        for (const char* scheme : {"rtsp", "rtsp, low delay"}) bench({{1, 720, 1280, 3}, "exact", scheme, "", backend});
#endif
    }
}

const SuiteEntry latency_suite{"jobs", "latency", bench_latency};

}  // namespace
}  // namespace framewire::bench
