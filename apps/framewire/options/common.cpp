// Options that several subcommands share.

#include "options/common.hpp"
#include "options/parameter_options.hpp"

#include "framewire/jobs/gpu_fleet.hpp"
#include "framewire/jobs/input/input.hpp"
#include "framewire/media/sources.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>
#include <string_view>
#include <utility>
#include <vector>

namespace framewire::app {
namespace {

// Returns the prefixes of sources: "synth:", "raw:", ...
std::vector<std::string_view> source_prefixes() {
    std::vector<std::string_view> prefixes;
    for (const auto& kind : source_registry())
        if (!kind.prefix.empty()) prefixes.push_back(kind.prefix);
    return prefixes;
}

// Declares -f.
void add_filters_option(Command& command, std::string& filters) {
    command.option("-f,--filters", filters, "name=value:key=value,name=...; 'framewire filters' lists them")
        .type_name("FILTERS");
}

// Declares the options that apply to every kind of source.
void add_medium_options(Command& command, jobs::InputOptions& options) {
    add_input_setting(command, "matrix", options);
    add_input_setting(command, "range", options);
    add_filters_option(command, options.filters);
    add_range_options(command, options);
    add_input_setting(command, "decode", options);
    add_input_setting(command, "reconnect", options).shown_default("5 attempts");
    add_input_setting(command, "max-pixels", options).shown_default("16384x16384");
}

}  // namespace

Option add_input_setting(Command& command, std::string_view name, jobs::InputOptions& options) {
    return add_setting(command, jobs::setting_named(jobs::input_settings(), name), options);
}

void add_range_options(Command& command, jobs::InputOptions& options) {
    add_input_setting(command, "start", options);
    add_input_setting(command, "duration", options);
}

jobs::JobOptions CommonOptions::job(std::stop_token stop) const {
    return {.backend = parse_backend(backend),
            .threads = threads,
            .frames = frames,
            .replace = replace,
            .statistics_path = statistics_path,
            .progress = parse_progress(progress),
            .own_rate = own_rate,
            .time_steps = times,
            .stop = std::move(stop)};
}

std::shared_ptr<jobs::GpuFleet> CommonOptions::fleet() const {
    return jobs::make_gpu_fleet(parse_backend(backend), gpus);
}

void add_gpus_option(Command& command, CommonOptions& options) {
    command
        .option(
            "--gpus", options.gpus,
            "GPUs that cameras and files are spread over: all, or numbers as in 0,2; 'framewire devices' lists them")
        .type_name("all|N,...")
        .shown_default("0");
}

void add_times_option(Command& command, CommonOptions& options) {
    command.flag("--times", options.times,
                 "measure each step, print a table to standard error and add it to --stats; on a GPU, the steps then "
                 "run one after the other");
}

void add_rate_option(Command& command, CommonOptions& options, jobs::InputOptions& input) {
    command
        .option(
            "--rate",
            [&options, &input](const std::string& text) {
                options.own_rate = jobs::take_rate(text, "own, max", input) == jobs::PlayRate::own;
            },
            "playback rate of a file: its own, as fast as it can be read (max), or frames per second")
        .type_name("own|max|FPS")
        .shown_default("max");
}

// Prints to standard error, because standard output may carry data.
void show_times(const CommonOptions& options, const StatisticsSnapshot& figures) {
    if (options.times && !figures.steps.empty()) fmt::print(stderr, "{}", to_table(figures.steps));
}

void add_common_options(Command& command, CommonOptions& options) {
    command.option("--backend", options.backend, "where filters run; auto uses a GPU if there is one")
        .one_of({"auto", "cpu", "cuda"});
    command.option("--frames", options.frames, "stop after this many frames").positive().type_name("N");
    command.option("--threads", options.threads, "CPU threads for the filters; 0: as many as the machine has")
        .within(0, 1024)
        .type_name("N");
    const auto replace = command.flag("-y,--replace", options.replace, "replace existing outputs");
    command.flag("-n,--no-replace", options.keep, "if an output already exists, keep it and do nothing")
        .excludes(replace);
    command.option("--stats", options.statistics_path, "write statistics of the run to this file")
        .type_name("FILE.json");
    command.option("--progress", options.progress, "progress on standard error; auto draws a bar on a terminal")
        .one_of({"auto", "bar", "json", "none"});
    command.option("--log-level", options.log_level, "lowest level of log messages to show")
        .one_of({"trace", "debug", "info", "warning", "error", "off"});
}

// The input setting parses the value, which is then copied.
Option add_reconnect_option(Command& command, std::optional<std::chrono::milliseconds>& time, const std::string& help) {
    const auto& setting = jobs::setting_named(jobs::input_settings(), "reconnect");
    const auto take = [&setting, &time](const std::string& text) {
        jobs::InputOptions input;
        setting.set(input, text);
        time = input.reconnect;
    };
    return command.option("--reconnect", take, help)
        .check([&setting](const std::string& text) { return setting.problem(text); })
        .type_name(std::string(setting.info.unit));
}

std::string source_help() {
    return fmt::format("source of the frames: a path, -, a URL, {}; see 'framewire sources'",
                       fmt::join(source_prefixes(), " "));
}

void add_input_options(Command& command, jobs::InputOptions& options) {
    command.option("-i,--input", options.source, source_help()).required().type_name("SRC");
    add_medium_options(command, options);
}

Option add_input_options(Command& command, std::vector<std::string>& sources, jobs::InputOptions& options,
                         const std::string& many) {
    const auto input = command.option("-i,--input", sources, source_help() + many).required().type_name("SRC...");
    add_medium_options(command, options);
    return input;
}

}  // namespace framewire::app
