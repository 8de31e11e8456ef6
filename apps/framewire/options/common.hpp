#pragma once

#include "command_line/command_line.hpp"

#include "framewire/session/options.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace framewire::app {

/// The flags that all subcommands share which move frames.
struct CommonOptions {
    std::string backend = "auto";
    std::optional<std::int64_t> frames;  ///< none: all there are
    int threads = 0;
    std::string statistics_path;  ///< empty: none wanted
    std::string progress = "auto";
    std::string log_level = "info";
    bool own_rate = false;               ///< frames of files are handed on at their own times
    bool times = false;                  ///< a table of the steps' times when done
    bool replace = false, keep = false;  ///< -y and -n: what becomes of outputs that are there already

    /// As jobs take them.
    session::JobOptions job(std::stop_token stop) const;
};

/// `--times`, for subcommands whose jobs time their steps.
void add_times_option(Command& command, CommonOptions& options);
/// Prints what a run's steps took, on standard error, where that was asked for.
void show_times(const CommonOptions& options, const StatisticsSnapshot& figures);

void add_common_options(Command& command, CommonOptions& options);

/// `--rate` of subcommands whose output sets no rate.
void add_rate_option(Command& command, CommonOptions& options, session::InputOptions& input);

/// `--start` and `--duration`: what of a source is wanted.
void add_range_options(Command& command, session::InputOptions& options);

/// One of session::input_settings(), as an option.
Option add_input_setting(Command& command, std::string_view name, session::InputOptions& options);

/// `--reconnect`, SECONDS or forever, which is milliseconds::max(), of something else than an input.
Option add_reconnect_option(Command& command, std::optional<std::chrono::milliseconds>& time, const std::string& help);

/// What stands behind `-i` in the help.
std::string source_help();

/// `-i`, `-f`, `--start`, `--duration` and `--reconnect`: where frames come from and through what.
void add_input_options(Command& command, session::InputOptions& options);
/// The same of several sources.
void add_input_options(Command& command, std::vector<std::string>& sources, session::InputOptions& options);

}  // namespace framewire::app
