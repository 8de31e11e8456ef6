// The subcommand serve. Cameras come either from the command line (-i, several times with names) or from a
// configuration file. Options for the whole server are stored as functions that set them, so that options on the
// command line can override the configuration.

#include "commands/commands.hpp"
#include "commands/work.hpp"
#include "options/access_options.hpp"
#include "options/common.hpp"
#include "options/detector_options.hpp"
#include "options/parameter_options.hpp"
#include "signals/service_manager.hpp"

#include "framewire/core/error.hpp"
#include "framewire/core/log.hpp"
#include "framewire/core/text.hpp"
#include "framewire/jobs/cameras.hpp"
#include "framewire/jobs/configuration.hpp"
#include "framewire/jobs/job.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace framewire::app {
namespace {

constexpr std::string_view dashes = "--";

// Flags of the subcommand serve.
struct ServeFlags {
    CommonOptions common;
    std::vector<std::string> sources, filters, records;
    std::string name{net::default_stream};
    bool named = false;            // true if --name was given
    jobs::CameraSettings cameras;  // settings that all cameras share
    std::string config;            // path of the configuration file with the cameras and their settings
    std::vector<std::function<void(net::ListenerOptions&)>> listener;  // setters for the options that were given
    std::vector<std::function<void(service::LiveOptions&)>> live;      // setters for the options that were given
    std::vector<std::function<void(service::EventOptions&)>> events;   // setters for the options that were given
    std::vector<std::function<void(service::RtspOptions&)>> rtsp;      // setters for the options that were given
    std::vector<std::function<void(service::WhepOptions&)>> webrtc;    // setters for the options that were given
    std::optional<std::string> video;                                  // value of --video
    service::AccessOptions access;
    bool no_web = false;

    std::vector<Option> of_cameras;                  // options that cannot be combined with a configuration
    std::vector<std::string> warnings;               // warnings about deprecated names
    std::vector<std::pair<Option, Option>> renamed;  // pairs of a deprecated option and its replacement

    jobs::CamerasOptions options(const std::stop_token& stop);
    std::vector<jobs::CameraText> named_sources() const;
};

// Returns the last text that applies to camera `name`: one for this camera or, if there is none, one for all cameras;
// empty without either.
std::string text_for(const std::string& name, const std::vector<std::string>& texts,
                     const std::vector<std::string>& names) {
    std::string for_all, for_one;
    for (const auto& text : texts) {
        const auto parts = jobs::camera_text(text, names);
        if (parts.name.empty())
            for_all = parts.rest;
        else if (parts.name == name)
            for_one = parts.rest;
    }
    return for_one.empty() ? for_all : for_one;
}

// Returns the sources with their names. Throws Error{usage} if there are several cameras and one has no name.
std::vector<jobs::CameraText> ServeFlags::named_sources() const {
    std::vector<jobs::CameraText> found;
    for (const auto& source : sources) found.push_back(jobs::camera_source(source));
    for (auto& camera : found) {
        if (found.size() > 1 && camera.name.empty())
            fail(ErrorCode::usage, "several cameras need names: -i NAME={}", address_without_credentials(camera.rest));
        if (named && (found.size() > 1 || !camera.name.empty()))
            fail(ErrorCode::usage, "--name is for a single camera without a name; -i {}=SRC already names it",
                 camera.name.empty() ? "NAME" : camera.name);
        if (camera.name.empty()) camera.name = name;
    }
    return found;
}

// Returns the job's options: either the configuration, overridden by the command line, or the cameras on the command
// line. Warnings about the configuration are appended to those about the command line.
jobs::CamerasOptions ServeFlags::options(const std::stop_token& stop) {
    jobs::CamerasOptions options{.job = common.job(stop)};
    options.web = !no_web;
    if (!config.empty()) {
        auto read = jobs::read_configuration(config, options.job);
        read.require_right();
        for (const auto& warning : read.warnings) warnings.push_back(to_string(read, warning));
        options.listener = read.listener;
        options.live = read.live;
        options.events = read.events;
        options.rtsp = read.rtsp;
        options.webrtc = read.webrtc;
        options.video = read.video;
        options.cameras = std::move(read.cameras);
    }
    // Options on the command line override the configuration.
    for (const auto& set : listener) set(options.listener);
    for (const auto& set : live) set(options.live);
    for (const auto& set : events) set(options.events);
    for (const auto& set : rtsp) set(options.rtsp);
    for (const auto& set : webrtc) set(options.webrtc);
    if (video) jobs::setting_named(jobs::video_settings(), "video").set(options.video, *video);
    if (options.video.encoder && no_web && !options.rtsp.listen)
        fail(ErrorCode::usage,
             "--video cannot be combined with --no-web: video is served over HTTP, unless --rtsp is given");
    if (!config.empty()) return options;

    const auto cameras_named = named_sources();
    std::vector<std::string> names;
    for (const auto& camera : cameras_named) names.push_back(camera.name);
    for (const auto& camera : cameras_named) {
        auto settings = cameras;
        settings.input.source = camera.rest;
        settings.input.filters = text_for(camera.name, filters, names);
        settings.record = text_for(camera.name, records, names);
        options.cameras.push_back(broadcast_of(settings, camera.name, options.job, dashes));
    }
    return options;
}

double megabytes(std::int64_t bytes) { return 1e-6 * static_cast<double>(bytes); }

// Prints the summary of one camera. `who` precedes it.
void report(const jobs::BroadcastResult& result, const std::string& who) {
    const auto& figures = result.figures;
    const auto say = [&who](const std::string& words) { log_info("{}{}", who, words); };
    if (result.viewers_left > 0)
        log_warning("{}{} viewers did not receive the end of the stream in time", who, result.viewers_left);
    say(fmt::format("{} frames in {:.2f} s, {:.1f} fps, {} dropped", figures.frames, figures.seconds, figures.fps,
                    figures.drops));
    if (!figures.delta) return;
    const auto& delta = *figures.delta;
    say(fmt::format("{:.2f} MB for one viewer, {:.2f} MB in the report's format, {:.2f} MB raw",
                    megabytes(figures.sent_bytes), megabytes(delta.report_bytes), megabytes(figures.raw_bytes)));
    say(fmt::format("{:.2f}% of bytes changed, largest error {}, {}", 100 * delta.changed, delta.max_error,
                    delta.psnr ? fmt::format("PSNR {:.1f} dB", *delta.psnr) : "equal to the source"));
    if (!figures.rate) return;
    const auto& [threshold, mean, most, limit, over] = *figures.rate;
    say(fmt::format("delta frames per viewer: {:.3f} Mbit/s, {:.3f} in the busiest second, within {}", 1e-6 * mean,
                    1e-6 * most,
                    threshold.min == threshold.max
                        ? fmt::format("{}", threshold.max)
                        : fmt::format("{} to {}, {:.1f} on average", threshold.min, threshold.max, threshold.mean)));
    if (over > 0)
        say(fmt::format("{} delta frames exceeded the bitrate even at a threshold of {}", over, threshold.max));
}

// Prints the summary of all cameras and of the viewers.
void report(const jobs::CamerasResult& result) {
    const bool several = result.cameras.size() > 1;
    for (const auto& camera : result.cameras) report(camera.broadcast, several ? camera.name + ": " : "");
    const auto& viewers = result.viewers;
    log_info("{} viewers received {} keyframes, {} delta frames, {:.2f} MB; {} were dropped, {} refused",
             viewers.viewers_total, viewers.keyframes, viewers.delta_frames,
             megabytes(viewers.keyframe_bytes + viewers.delta_frame_bytes + viewers.other_bytes), viewers.dropped,
             viewers.refused);
}

// Runs the server. The summary is printed even if the server failed.
void serve(ServeFlags& flags, const std::stop_token& stop) {
    if (flags.sources.empty() && flags.config.empty())
        fail(ErrorCode::usage, "--input or a --config with cameras is required");
    for (const auto& [earlier, present] : flags.renamed)
        if (earlier.given() && present.given())
            fail(ErrorCode::usage, "{} excludes {}", earlier.name(), present.name());
    for (const auto& option : flags.of_cameras)
        if (!flags.config.empty() && option.given())
            fail(ErrorCode::usage, "{} cannot be combined with --config; set it in the file", option.name());
    const auto files = files_of(flags.options(stop));
    for (const auto& warning : std::exchange(flags.warnings, {})) log_warning("{}", warning);
    if (!may_write(files, flags.common, stop)) return;
    auto options = flags.options(stop);  // made again, because may_write() may have allowed files to be replaced
    options.job.gpus = flags.common.fleet();
    // Tokens and certificates are prepared before cameras are opened, so that errors are reported at once.
    std::vector<net::Address> also;
    if (options.rtsp.listen) also.push_back(*options.rtsp.listen);
    const auto access = prepare_access(flags.access, options.listener, also);
    tell_access(access, options.listener);
    jobs::CamerasJob job(options);
    notify_service_manager("READY=1");
    const std::stop_callback stopping(stop, [] { notify_service_manager("STOPPING=1"); });
    jobs::FirstFailure failure;
    failure.attempt([&] { job.run(); });
    report(job.result());
    for (const auto& camera : job.result().cameras) show_times(flags.common, camera.broadcast.figures);
    failure.rethrow();
}

// Declares -i, -f and --record, which can apply to a single camera.
std::vector<Option> add_texts_of_cameras(Command& command, ServeFlags& flags) {
    const auto& record = jobs::setting_named(jobs::camera_settings(), "record").info;
    return {
        command
            .option("-i,--input", flags.sources,
                    source_help() + ". Several cameras on one port: -i door=SRC -i yard=SRC, served at /door and /yard")
            .type_name("SRC"),
        command
            .option("-f,--filters", flags.filters,
                    "name=value:key=value,name=...; 'framewire filters' lists them. door=FILTERS applies to that "
                    "camera only")
            .type_name("FILTERS"),
        command.option("--record", flags.records, fmt::format("{}. door=DST applies to that camera only", record.help))
            .type_name(std::string(record.unit))};
}

// Declares options for the whole server. Setters for the options that are given are collected in `given`.
template <class Target>
void add_settings_of_all(Command& command, const std::vector<jobs::Setting<Target>>& settings,
                         std::vector<std::function<void(Target&)>>& given) {
    for (const auto& setting : settings)
        add_parameter(
            command, setting.info,
            [&setting, &given](const std::string& text) {
                given.push_back([&setting, text](auto& target) { setting.set(target, text); });
            },
            how_to_read(setting));
}

// Declares --video, whose value is optional.
void add_video_option(Command& command, ServeFlags& flags) {
    const auto& video = jobs::setting_named(jobs::video_settings(), "video").info;
    command
        .option(
            fmt::format("{}{}", dashes, video.name), [&flags](const std::string& text) { flags.video = text; },
            std::string(video.help))
        .type_name(std::string(video.unit))
        .optional_value();
}

// Declares the deprecated name of a setting as a hidden option that causes a warning.
Option add_former_name(Command& command, const jobs::Setting<jobs::CameraSettings>& setting, ServeFlags& flags) {
    auto how = how_to_read(setting);
    how.flag = fmt::format("{}{}", dashes, setting.former_name);
    const auto take = [&setting, &flags](const std::string& text) {
        flags.warnings.push_back(jobs::deprecation_warning(setting.former_name, setting.info.name, dashes));
        setting.set(flags.cameras, text);
    };
    auto option = add_parameter(command, setting.info, take, how);
    // Option::excludes() would show the deprecated name in the other option's help.
    flags.renamed.emplace_back(option, command[fmt::format("{}{}", dashes, setting.info.name)]);
    return option.hidden();
}

// Declares options for cameras. Returns those that cannot be combined with a configuration.
std::vector<Option> add_camera_options(Command& command, ServeFlags& flags) {
    auto options = add_texts_of_cameras(command, flags);
    for (const auto& setting : jobs::input_settings()) {
        options.push_back(add_setting(command, setting, flags.cameras.input));
        if (setting.info.name == "reconnect") options.back().shown_default("forever");
        if (setting.info.name == "max-pixels") options.back().shown_default("8192x8192");
        if (setting.info.name == "max-memory") options.back().shown_default("8G, or half of the machine's memory");
    }
    const auto take_name = [&flags](const std::string& name) {
        flags.name = name;
        flags.named = true;
    };
    options.push_back(command
                          .option("--name", take_name,
                                  "name of the stream, as in tcp://HOST:PORT/NAME, if -i does not name the camera")
                          .shown_default(std::string(net::default_stream))
                          .type_name("NAME"));
    for (const auto& setting : jobs::camera_settings())
        if (setting.info.name != "record") options.push_back(add_setting(command, setting, flags.cameras));
    for (const auto& setting : jobs::camera_settings())
        if (!setting.former_name.empty()) options.push_back(add_former_name(command, setting, flags));
    return options;
}

}  // namespace

void add_serve(CommandLine& program, Action& chosen) {
    auto command = program.subcommand("serve", "Sources -> filters -> difference streams to any number of viewers");
    const auto flags = std::make_shared<ServeFlags>();
    flags->of_cameras = add_camera_options(command, *flags);
    command
        .option("--config", flags->config,
                "configuration file with cameras and their settings; 'framewire check' reports its errors")
        .type_name("FILE");
    add_settings_of_all(command, jobs::listener_settings(), flags->listener);
    add_settings_of_all(command, jobs::live_option_settings(), flags->live);
    add_video_option(command, *flags);
    auto events = command.group("Events (for cameras with --detect)");
    add_settings_of_all(events, jobs::event_settings(), flags->events);
    add_settings_of_all(command, jobs::rtsp_settings(), flags->rtsp);
    add_settings_of_all(command, jobs::webrtc_settings(), flags->webrtc);
    add_access_options(command, flags->access);
    command.flag("--no-web", flags->no_web, "serve streams only, without the page, API and metrics over HTTP");
    for (const auto& option : add_detector_options(command, flags->cameras.detector, "--detect-threshold"))
        flags->of_cameras.push_back(option);
    add_common_options(command, flags->common);
    add_gpus_option(command, flags->common);
    add_times_option(command, flags->common);
    set_work(command, chosen, flags->common,
             [flags](const std::stop_source& stop) { serve(*flags, stop.get_token()); });
}

}  // namespace framewire::app
