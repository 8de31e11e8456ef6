#include "commands/commands.hpp"
#include "commands/work.hpp"
#include "options/access_options.hpp"
#include "options/common.hpp"
#include "options/detector_options.hpp"
#include "options/parameter_options.hpp"

#include "framewire/core/error.hpp"
#include "framewire/core/log.hpp"
#include "framewire/core/parameters/amounts.hpp"
#include "framewire/core/parameters/fields.hpp"
#include "framewire/session/broadcast.hpp"
#include "framewire/session/job/failure.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace framewire::app {
namespace {

struct ServeFlags {
    CommonOptions common;
    session::InputOptions input;
    DetectorFlags detector;
    session::AccessOptions access;
    std::string record, listen = "127.0.0.1:7878", name{net::default_stream}, rate = "own";
    ParameterValues encoder;  // those of encoder_fields() that were given
    std::optional<double> max_bitrate{};
    std::optional<int> threshold_max{};
    int wait = 0, viewers = 64;
    bool loop = false, detect = false;

    session::BroadcastOptions options(const std::stop_token& stop) const;
};

session::BroadcastOptions ServeFlags::options(const std::stop_token& stop) const {
    session::BroadcastOptions options{.job = common.job(stop), .input = input};
    options.input.loop = loop;
    options.encoder = delta::encoder_fields().from(encoder);
    if (max_bitrate) options.rate = {*max_bitrate, threshold_max};
    options.record = record;
    options.wait_for_viewers = wait;
    options.hurries = take_rate(rate, "own, max", options.input) == PlayRate::max;
    options.server.listen = net::parse_address(listen);
    options.server.viewers_limit = viewers;
    options.server.stream = name;
    if (detect) options.detector = detector.options();
    return options;
}

double megabytes(std::int64_t bytes) { return 1e-6 * static_cast<double>(bytes); }

void report(const session::BroadcastResult& result) {
    const auto& figures = result.figures;
    if (result.viewers_left > 0)
        log_warning("{} viewers did not take the end of the stream in time", result.viewers_left);
    log_info("{} frames in {:.2f} s, {:.1f} fps, {} dropped", figures.frames, figures.seconds, figures.fps,
             figures.drops);
    if (!figures.delta) return;
    const auto& viewers = result.viewers;
    const auto& delta = *figures.delta;
    log_info("{:.2f} MB for one viewer, {:.2f} MB in the report's format, {:.2f} MB raw", megabytes(figures.sent_bytes),
             megabytes(delta.report_bytes), megabytes(figures.raw_bytes));
    log_info("{:.2f}% of bytes changed, off by {} at most, {}", 100 * delta.changed, delta.max_error,
             delta.psnr ? fmt::format("PSNR {:.1f} dB", *delta.psnr) : "equal to the source");
    if (figures.rate) {
        const auto& [threshold, mean, most, limit, over] = *figures.rate;
        log_info("each viewer's steps took {:.3f} Mbit/s, {:.3f} in the busiest second, within {}", 1e-6 * mean,
                 1e-6 * most,
                 threshold.min == threshold.max
                     ? fmt::format("{}", threshold.max)
                     : fmt::format("{} to {}, {:.1f} in the mean", threshold.min, threshold.max, threshold.mean));
        if (over > 0) log_info("{} steps took more than was asked for even within {}", over, threshold.max);
    }
    log_info("{} viewers were sent {} pictures, {} steps, {:.2f} MB; {} were dropped, {} refused",
             viewers.viewers_total, viewers.pictures, viewers.steps,
             megabytes(viewers.picture_bytes + viewers.step_bytes + viewers.other_bytes), viewers.dropped,
             viewers.refused);
}

std::string problem_with_bitrate(const std::string& text) {
    return bits_per_second_of(text) ? "" : "'" + text + "' is no bitrate from 1k to 1000G; 500k, 2M and the like are";
}

void add_rate_options(Command& command, ServeFlags& flags) {
    auto bitrate = command.option(
        "--max-bitrate", [&flags](const std::string& text) { flags.max_bitrate = bits_per_second_of(text); },
        "raise the threshold while the stream of a viewer would take more bits per second: 500k, 2M, 1.5G");
    bitrate.check(problem_with_bitrate).type_name("BITS");
    command
        .option("--threshold-max", flags.threshold_max,
                fmt::format("raise it no higher than this; without, {}, or --threshold where that is more",
                            delta::RateLimits::usual_threshold_max))
        .within(0, 254)
        .type_name("N")
        .needs(bitrate);
}

void check(const ServeFlags& flags) {
    const auto encoder = delta::encoder_fields().from(flags.encoder);
    if (encoder.mode == delta::Mode::lossless && flags.encoder.is_given("threshold") && encoder.threshold > 0)
        fail(ErrorCode::usage, "--threshold {} does not go with --mode lossless, whose threshold is 0",
             encoder.threshold);
    if (encoder.mode != delta::Mode::bounded && flags.encoder.is_given("effort"))
        fail(ErrorCode::usage, "--effort is of --mode bounded; --mode {} looks for no motion", to_string(encoder.mode));
    if (encoder.mode == delta::Mode::lossless && flags.max_bitrate)
        fail(ErrorCode::usage,
             "--max-bitrate does not go with --mode lossless, whose threshold is 0; --mode exact --threshold 0 begins "
             "there");
    if (flags.threshold_max && *flags.threshold_max < encoder.threshold)
        fail(ErrorCode::usage, "--threshold-max {} is below --threshold {}", *flags.threshold_max, encoder.threshold);
}

void serve(ServeFlags& flags, const std::stop_token& stop) {
    if (!may_write(files_of(flags.options(stop)), flags.common, stop)) return;
    auto options = flags.options(stop);
    const auto access = prepare_access(flags.access, options.server);
    tell_access(access, options.server);
    session::BroadcastJob job(options);
    log_info("serving {} at {}", job.source().name, to_string(job.address()));
    session::FirstFailure failure;
    failure.attempt([&] { job.run(); });
    report(job.result());
    show_times(flags.common, job.result().figures);
    failure.rethrow();
}

}  // namespace

void add_serve(CommandLine& program, Action& chosen) {
    auto command = program.subcommand("serve", "Source -> filters -> difference stream to any number of viewers");
    const auto flags = std::make_shared<ServeFlags>();
    add_input_options(command, flags->input);
    command
        .option("--listen", flags->listen,
                "where viewers connect; port 0 takes a free one; beyond loopback they need a token")
        .type_name("HOST:PORT");
    command.option("--name", flags->name, "the stream's name, as in tcp://HOST:PORT/NAME").type_name("NAME");
    add_access_options(command, flags->access);
    for (const auto& parameter : delta::encoder_fields().infos()) add_parameter(command, parameter, flags->encoder);
    add_rate_options(command, *flags);
    command.option("--record", flags->record, "a .fwd file of what viewers get; :key=SECONDS may follow")
        .type_name("DST");
    command.option("--rate", flags->rate, "how a file is played: own rate, max, or so many frames a second")
        .type_name("own|max|FPS");
    command.flag("--loop", flags->loop, "begin again when the source ends");
    command.option("--wait", flags->wait, "hold the first frame until so many viewers are there")
        .within(0, 10'000)
        .type_name("N");
    command.option("--viewers", flags->viewers, "how many viewers there may be at a time")
        .within(1, 10'000)
        .type_name("N");
    command.flag("--detect", flags->detect, "look for moving objects; viewers draw boxes around them");
    add_detector_options(command, flags->detector, "--detect-threshold");
    add_common_options(command, flags->common);
    add_times_option(command, flags->common);
    set_work(command, chosen, flags->common, [flags](const std::stop_source& stop) {
        check(*flags);
        serve(*flags, stop.get_token());
    });
}

}  // namespace framewire::app
