#include "options/common.hpp"

#include "framewire/core/error.hpp"
#include "framewire/core/log.hpp"
#include "framewire/media/sources/source_registry.hpp"
#include "jobs/stop_signals.hpp"
#include "view/log_lines.hpp"

#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

namespace framewire::app {

void add_common_options(CLI::App& command, CommonOptions& options) {
    command.add_option("--backend", options.backend, "where filters run; auto takes a GPU when there is one")
        ->check(CLI::IsMember({"auto", "cpu", "cuda"}))
        ->capture_default_str();
    command.add_option("--frames", options.frames, "end after so many frames")
        ->check(CLI::PositiveNumber)
        ->type_name("N");
    command.add_option("--threads", options.threads, "CPU threads of the filters; 0 takes all the machine has")
        ->check(CLI::Range(0, 1024))
        ->type_name("N")
        ->capture_default_str();
    auto* replace = command.add_flag("-y,--replace", options.replace, "replace outputs that are there already");
    command.add_flag("-n,--keep", options.keep, "keep outputs that are there already, and do nothing then")
        ->excludes(replace);
    command.add_option("--stats", options.statistics_path, "write the run's figures to this file")
        ->type_name("FILE.json");
    command
        .add_option("--progress", options.progress,
                    "how the run goes, on standard error; auto draws a bar on a terminal")
        ->check(CLI::IsMember({"auto", "bar", "json", "none"}))
        ->capture_default_str();
    command.add_option("--log-level", options.log_level, "least serious messages to show")
        ->check(CLI::IsMember({"trace", "debug", "info", "warning", "error", "off"}))
        ->capture_default_str();
}

namespace {

// Those that stand before a text: "synth:", "raw:", ...
std::vector<std::string_view> source_prefixes() {
    std::vector<std::string_view> prefixes;
    for (const auto& kind : source_registry())
        if (!kind.prefix.empty()) prefixes.push_back(kind.prefix);
    return prefixes;
}

}  // namespace

void add_input_options(CLI::App& command, InputOptions& options) {
    command
        .add_option("-i,--input", options.source,
                    fmt::format("where frames come from: a path, -, a URL, {}; 'framewire sources' tells more",
                                fmt::join(source_prefixes(), " ")))
        ->required()
        ->type_name("SRC");
    command
        .add_option("-f,--filters", options.filters, "name=value:key=value,name=...; 'framewire filters' lists them")
        ->type_name("FILTERS");
}

namespace {

// Gives the exit code. To be called before any thread is started.
int run_stoppable(const StoppableWork& work) {
    StopSignals signals;
    try {
        work(signals.stop());
    } catch (const Error& error) {
        if (signals.received() == 0) throw;
        log_warning("{}", error.what());
    }
    return signals.received() == 0 ? 0 : 128 + signals.received();
}

}  // namespace

void set_work(CLI::App& command, Action& chosen, const CommonOptions& options, StoppableWork work) {
    command.callback([&chosen, &options, work = std::move(work)] {
        chosen = [&options, work] {
            show_log_lines(parse_log_level(options.log_level));
            return run_stoppable(work);
        };
    });
}

std::optional<std::int64_t> expected_frames(const SourceInfo& source, std::optional<std::int64_t> limit) {
    if (!source.frames) return limit;
    return limit ? std::min(*limit, *source.frames) : *source.frames;
}

CircleOptions circle_options(const CommonOptions& options, const SourceInfo& source, const Shape& sent,
                             const std::stop_source& stop, Backend backend) {
    CircleOptions circle;
    circle.let_wait(frames_under_way(backend));
    circle.raw_frame_bytes = sent.frame_bytes();
    circle.drop_when_late = source.live;
    circle.max_frames = options.frames;
    circle.stop = stop;
    return circle;
}

SinkOptions sink_options(const CommonOptions& options, const SourceInfo& source, const std::stop_source& stop) {
    return {.stop = stop.get_token(), .live = source.live, .replace = options.replace, .once_only = source.live};
}

StatisticsFile::StatisticsFile(const CommonOptions& options) {
    if (!options.statistics_path.empty())
        file_.emplace(options.statistics_path, OutputFileOptions{.replace = options.replace});
}

void StatisticsFile::write(const StatisticsSnapshot& figures, const RunDescription& run) {
    if (file_) write(to_json(figures, run));
}

void StatisticsFile::write(const std::string& json) {
    if (!file_) return;
    file_->write(json.data(), json.size());
    file_->finish();
}

}  // namespace framewire::app
