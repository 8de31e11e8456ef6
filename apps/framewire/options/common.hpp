#pragma once

#include "command_line/command_line.hpp"

#include "framewire/jobs/options.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace framewire::app {

/// Flags that all subcommands that process frames share.
struct CommonOptions {
    std::string backend = "auto";
    std::string gpus;                    ///< "all" or indices of GPUs; empty: the first one
    std::optional<std::int64_t> frames;  ///< maximum number of frames; empty: all
    int threads = 0;
    std::string statistics_path;  ///< path of the statistics file; empty: none
    std::string progress = "auto";
    std::string log_level = "info";
    bool own_rate = false;               ///< if true, frames of files are processed in real time
    bool times = false;                  ///< if true, a table of stage times is printed at the end
    bool replace = false, keep = false;  ///< -y and -n: replace or keep existing outputs

    /// Returns the flags as options of a job.
    jobs::JobOptions job(std::stop_token stop) const;
    /// Returns the GPUs of `--backend` and `--gpus` for JobOptions::gpus. Throws as jobs::make_gpu_fleet() does.
    std::shared_ptr<jobs::GpuFleet> fleet() const;
};

/// Adds `--gpus`, for subcommands that use fleet().
void add_gpus_option(Command& command, CommonOptions& options);

/// Adds `--times` for subcommands whose jobs measure their stages.
void add_times_option(Command& command, CommonOptions& options);
/// Prints the stage times of a run on standard error, if `--times` was given.
void show_times(const CommonOptions& options, const StatisticsSnapshot& figures);

/// Adds those options of CommonOptions that all subcommands that process frames have.
void add_common_options(Command& command, CommonOptions& options);

/// Adds `--rate` for subcommands whose output does not determine the rate.
void add_rate_option(Command& command, CommonOptions& options, jobs::InputOptions& input);

/// Adds `--start` and `--duration`, which select the time range of a source.
void add_range_options(Command& command, jobs::InputOptions& options);

/// Adds the option for one of jobs::input_settings().
Option add_input_setting(Command& command, std::string_view name, jobs::InputOptions& options);

/// Adds `--reconnect` with SECONDS or `forever` (milliseconds::max()), for connections other than inputs.
Option add_reconnect_option(Command& command, std::optional<std::chrono::milliseconds>& time, const std::string& help);

/// Returns the description of `-i` in the help.
std::string source_help();

/// Adds `-i`, `-f`, `--start`, `--duration` and `--reconnect`: one source, its filters and its time range.
void add_input_options(Command& command, jobs::InputOptions& options);
/// Adds `-i` for several sources, and otherwise the same options. `many` ends the help of `-i`: how many files are
/// given. Returns `-i`, which is required.
Option add_input_options(
    Command& command, std::vector<std::string>& sources, jobs::InputOptions& options,
    const std::string& many =
        ". For many files, with -o FOLDER/: several of these, folders, patterns ('clips/*.avi'), @LIST");

}  // namespace framewire::app
