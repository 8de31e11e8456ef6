// The subcommand view: shows difference streams in a window, or records one of them to a file.
//
//    --no-window        one stream, recorded or only counted
//    one URL            fails if the server is missing
//    several URLs       missing servers are retried

#include "commands/commands.hpp"
#include "commands/work.hpp"
#include "options/access_options.hpp"
#include "options/common.hpp"
#include "options/recording_options.hpp"
#include "options/screen_options.hpp"
#include "view/camera/stream_camera.hpp"
#include "view/screen/screen.hpp"

#include "framewire/core/error.hpp"
#include "framewire/core/log.hpp"
#include "framewire/jobs/job.hpp"
#include "framewire/jobs/receive.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace framewire::app {
namespace {

constexpr std::chrono::seconds default_reconnect{10};

// Flags of the subcommand view.
struct ViewFlags {
    CommonOptions common;
    std::vector<std::string> urls;
    std::string output, changes;
    ScreenOptions screen{.instead = "; use --no-window to run without one"};
    bool no_window = false, no_boxes = false;
    std::optional<std::chrono::milliseconds> reconnect{};
    std::int64_t max_pixels = net::ClientOptions{}.max_pixels;
    SegmentOptions segments;
    EntryFlags entry;

    jobs::ReceiveOptions options(const std::string& url, const std::stop_token& stop) const;
};

// Returns the job's options for one stream.
jobs::ReceiveOptions ViewFlags::options(const std::string& url, const std::stop_token& stop) const {
    jobs::ReceiveOptions options{
        .job = common.job(stop), .url = url, .recording = output, .segments = segments, .boxes = !no_boxes};
    options.client.reconnect = reconnect.value_or(default_reconnect);
    options.client.max_pixels = max_pixels;
    if (!changes.empty()) options.changes = jobs::parse_changes(changes);
    return options;
}

// Prints a summary.
void report(const jobs::ReceiveResult& result) {
    const auto& figures = result.figures;
    const auto& counts = result.counts;
    log_info("{} frames in {:.2f} s, {:.1f} fps, {:.2f} MB received; {} versions skipped, {} reconnections",
             figures.frames, figures.seconds, figures.fps, 1e-6 * static_cast<double>(counts.bytes),
             counts.received.skipped, counts.reconnections);
    const auto& within = result.thresholds;
    if (within.min != within.max)
        log_info("within {} to {} of the source, {:.1f} on average", within.min, within.max, within.mean);
}

// Logs the properties of the stream.
void say_what_is_viewed(const net::StreamInfo& stream) {
    log_info("viewing {}: {}, {:.4g} fps, {}", stream.source, to_string(stream.shape), stream.rate.value(),
             stream.mode == codec::Mode::lossless ? "lossless" : fmt::format("within {}", stream.threshold));
}

// Records or counts frames without a window. The summary is printed even if the job failed.
void view_without_window(const jobs::ReceiveOptions& options) {
    jobs::ReceiveJob job(options);
    say_what_is_viewed(job.stream());
    jobs::FirstFailure failure;
    failure.attempt([&] { job.run(); });
    report(job.result());
    failure.rethrow();
}

// Opens the window once the stream's size is known, but before the recording is created, so that a missing display
// leaves no file behind.
void view_one(jobs::ReceiveOptions options, const ScreenOptions& screen_options, const std::stop_source& stop) {
    Screen screen(screen_options, stop);
    options.on_stream = [&](const net::StreamInfo& stream, const Shape& shown) {
        screen.open(shown.width, shown.height, "framewire: " + stream.source);
    };
    // If the window failed, the recording is aborted with the window's error.
    options.on_end = [&] { screen.rethrow(); };
    auto camera = std::make_unique<StreamCamera>(options);
    const auto& job = camera->connect();
    say_what_is_viewed(job.stream());
    screen.add(std::move(camera));
    jobs::FirstFailure failure;
    failure.attempt([&] { screen.run(); });
    report(job.result());
    failure.rethrow();
}

// Streams that are not available yet are retried, so the window opens immediately.
void view_several(const ViewFlags& flags, const std::stop_source& stop) {
    constexpr int width_px = 1280, height_px = 720;
    Screen screen(flags.screen, stop);
    screen.open(width_px, height_px, fmt::format("framewire: {} cameras", flags.urls.size()));
    for (const auto& url : flags.urls) {
        auto options = flags.options(url, stop.get_token());
        flags.entry.apply(url, options.client);
        screen.add(std::make_unique<StreamCamera>(options));
    }
    screen.run();
}

// Rejects options that apply only to a single stream if there are several streams.
void check(const ViewFlags& flags) {
    if (!flags.no_window && !Screen::supported())
        fail(ErrorCode::config, "this build has no window support; use --no-window");
    require_room(flags.urls.size());
    if (flags.urls.size() == 1) return;
    for (const auto& url : flags.urls) net::parse_stream_address(url);
    const bool of_one = flags.no_window || !flags.output.empty() || !flags.common.statistics_path.empty();
    if (of_one)
        fail(ErrorCode::usage, "--no-window, -o and --stats require a single stream, but {} were given",
             flags.urls.size());
}

// Chooses how the streams are viewed.
void view(ViewFlags& flags, const std::stop_source& stop) {
    check(flags);
    auto one = flags.options(flags.urls.front(), stop.get_token());
    if (!may_write(files_of(one), flags.common, stop.get_token())) return;
    if (flags.urls.size() > 1) return view_several(flags, stop);
    flags.entry.apply(one.url, one.client);
    if (flags.no_window) return view_without_window(one);
    view_one(one, flags.screen, stop);
}

}  // namespace

void add_view(CommandLine& program, Action& chosen) {
    auto command = program.subcommand(
        "view", "Receives difference streams and shows them in a window (press ? for the keys), or records one");
    const auto flags = std::make_shared<ViewFlags>();
    command
        .option("url", flags->urls,
                "address of the stream: tcp://HOST:PORT or tcp://HOST:PORT/NAME, or the same with tls://, ws:// or "
                "wss://; several are shown side by side")
        .required()
        .type_name("URL");
    add_entry_options(command, flags->entry);
    command
        .option("-o,--output", flags->output,
                "record to a file (its extension selects the format), - for standard output, or a URL")
        .type_name("DST");
    command
        .option("--changes", flags->changes,
                "show the changes of each delta frame instead: mask (red on black), overlay (red over the picture) or "
                "heat (by magnitude)")
        .one_of({"mask", "overlay", "heat"});
    command.flag("--no-window", flags->no_window, "do not open a window; only record or count frames");
    command.flag("--no-boxes", flags->no_boxes, "do not draw the boxes of objects that the server detects");
    add_reconnect_option(command, flags->reconnect,
                         "how long to try to reconnect a lost stream, from the loss to its next keyframe")
        .shown_default(fmt::format("{}", default_reconnect.count()));
    command.option("--max-pixels", flags->max_pixels, "refuse streams with larger frames")
        .within(std::int64_t{1}, std::int64_t{max_side_px} * max_side_px)
        .type_name("N");
    add_screen_options(command, flags->screen);
    add_recording_options(command, flags->segments);
    add_common_options(command, flags->common);
    set_work(command, chosen, flags->common, [flags](const std::stop_source& stop) { view(*flags, stop); });
}

}  // namespace framewire::app
