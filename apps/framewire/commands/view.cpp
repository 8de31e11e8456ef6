#include "commands/commands.hpp"
#include "commands/work.hpp"
#include "options/access_options.hpp"
#include "options/common.hpp"
#include "options/recording_options.hpp"
#include "view/viewer.hpp"

#include "framewire/core/error.hpp"
#include "framewire/core/log.hpp"
#include "framewire/session/job/failure.hpp"
#include "framewire/session/receive/receive.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace framewire::app {
namespace {

constexpr std::chrono::seconds default_reconnect{10};

struct ViewFlags {
    CommonOptions common;
    std::string url, output, changes;
    bool no_window = false, no_boxes = false;
    std::optional<std::chrono::milliseconds> reconnect{};
    std::int64_t max_pixels = net::ClientOptions{}.max_pixels;
    SegmentOptions segments;
    EntryFlags entry;

    session::ReceiveOptions options(const std::stop_token& stop) const;
};

session::ReceiveOptions ViewFlags::options(const std::stop_token& stop) const {
    session::ReceiveOptions options{
        .job = common.job(stop), .url = url, .recording = output, .segments = segments, .boxes = !no_boxes};
    options.client.reconnect = reconnect.value_or(default_reconnect);
    options.client.max_pixels = max_pixels;
    if (!changes.empty()) options.changes = session::parse_changes(changes);
    return options;
}

void report(const session::ReceiveResult& result) {
    const auto& figures = result.figures;
    const auto& counts = result.counts;
    log_info("{} frames in {:.2f} s, {:.1f} fps, {:.2f} MB received; {} versions skipped, {} reconnections",
             figures.frames, figures.seconds, figures.fps, 1e-6 * static_cast<double>(counts.bytes),
             counts.received.skipped, counts.reconnections);
    const auto& within = result.thresholds;
    if (within.min != within.max)
        log_info("within {} to {} of the source, {:.1f} in the mean", within.min, within.max, within.mean);
}

void view(ViewFlags& flags, const std::stop_source& stop) {
    if (!flags.no_window && !Window::supported())
        fail(ErrorCode::config, "this build has no windows; --no-window does without");
    if (!may_write(files_of(flags.options(stop.get_token())), flags.common, stop.get_token())) return;
    Viewer viewer;
    auto options = flags.options(stop.get_token());
    flags.entry.apply(flags.url, options.client);
    if (!flags.no_window) viewer.look_at(options);
    session::ReceiveJob job(options);
    const auto& stream = job.stream();
    log_info("viewing {}: {}, {:.4g} fps, {}", stream.source, to_string(stream.shape), stream.rate.value(),
             stream.mode == delta::Mode::lossless ? "lossless" : fmt::format("within {}", stream.threshold));
    session::FirstFailure failure;
    failure.attempt([&] {
        if (flags.no_window)
            job.run();
        else
            viewer.run(job, stop);
    });
    report(job.result());
    failure.rethrow();
}

}  // namespace

void add_view(CommandLine& program, Action& chosen) {
    auto command =
        program.subcommand("view", "Receives a difference stream and shows it in a window, records it, or both");
    const auto flags = std::make_shared<ViewFlags>();
    command.option("url", flags->url, "where the stream is: tcp://HOST:PORT or tcp://HOST:PORT/NAME, or with tls://")
        .required()
        .type_name("URL");
    add_entry_options(command, flags->entry);
    command.option("-o,--output", flags->output, "record to a file by its ending, -, a URL").type_name("DST");
    command
        .option("--changes", flags->changes,
                "show what each step changed instead: mask, red on black; overlay, red over the picture; heat, by how "
                "much")
        .one_of({"mask", "overlay", "heat"});
    command.flag("--no-window", flags->no_window, "only record, or count");
    command.flag("--no-boxes", flags->no_boxes, "leave out the boxes of objects that the server detects");
    add_reconnect_option(command, flags->reconnect,
                         "how long a lost stream is tried to be had again, from the loss to its next picture")
        .shown_default(fmt::format("{}", default_reconnect.count()));
    command.option("--max-pixels", flags->max_pixels, "refuse streams of larger pictures")
        .within(std::int64_t{1}, std::int64_t{max_side_px} * max_side_px)
        .type_name("N");
    add_recording_options(command, flags->segments);
    add_common_options(command, flags->common);
    set_work(command, chosen, flags->common, [flags](const std::stop_source& stop) { view(*flags, stop); });
}

}  // namespace framewire::app
