#pragma once

#include "commands/commands.hpp"
#include "options/common.hpp"

#include "framewire/jobs/batch.hpp"
#include "framewire/jobs/options.hpp"

#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace framewire::app {

/// Flags of subcommands that can process many files.
struct BatchFlags {
    std::vector<std::string> inputs;
    int jobs = 1;
    std::string ending;         ///< extension of video and image outputs; empty: chosen by the input
    std::string shard;          ///< "I/N"; empty: taken from the environment
    std::optional<int> shards;  ///< number of shards, if the environment sets only the index
    jobs::Cutting cutting;      ///< how long videos are split; 0 seconds: not at all

    /// Returns the file name of an input's output, with the extension: "name.mp4".
    std::string video_name(const jobs::BatchInput& input) const;
};

/// Adds `-i` for one source or many files, `-f`, and the options for processing many files.
void add_batch_options(Command& command, BatchFlags& flags, jobs::InputOptions& options);

/// Returns true if the inputs are many files, whose outputs go to the folder `output`. Otherwise stores the single
/// source in `options` and returns false. Throws Error{usage} if the destination of many files is not a folder, and if
/// options for many files are given with a single source.
bool is_of_many(const BatchFlags& flags, const std::string& output, jobs::InputOptions& options);

/// Returns true if the flags or a job scheduler's environment request parallel jobs or a single shard.
bool shares_work(const BatchFlags& flags);

/// A work item of a batch: a whole file or a time range of it.
struct ItemRequest {
    jobs::BatchInput input;
    jobs::JobOptions job;
    std::optional<jobs::FileSegment> segment{};
    std::string parts_folder{};  ///< folder for the outputs of a time range
    std::string part{};          ///< name of the time range's outputs in `parts_folder`

    /// Sets the source and, if there is one, the time range in `options`.
    void take(jobs::InputOptions& options) const;
    /// Returns the path of `name` in `folder`; empty if `folder` is empty. Throws Error{usage} with the name of
    /// `option` if `folder` is not a folder.
    std::string in_folder(const std::string& option, const std::string& folder, const std::string& name) const;
    /// Returns the sink text for in_folder(). `name` comes from an input's name, so it is not parsed for patterns or
    /// parameters.
    std::string sink_in_folder(const std::string& option, const std::string& folder, const std::string& name) const;
    /// Returns the work item whose first output is `name` and which an AnyJob such as RunJob processes with these
    /// options. For `film` see jobs::BatchItem.
    template <class AnyJob, class Options>
    jobs::BatchItem item(const std::string& name, const Options& options, const std::string& film = "") const {
        return {.input = shown_input(),
                .name = shown_name(name),
                .files = files_of(options),
                .film = film,
                .work = jobs::item_work<AnyJob>(options),
                .in_every_share = input.missing};
    }

private:
    // Returns the input with its time range, for messages.
    std::string shown_input() const;
    // Returns the output's name for messages. Outputs of a part are listed with their folder.
    std::string shown_name(const std::string& name) const;
};

/// Describes the jobs that process many files.
struct ManyJobs {
    const jobs::InputOptions& input;
    const BackgroundModel* background = nullptr;  ///< background model of the detector; null without a detector
    bool audio = true;                            ///< true if the sound is copied to the video output
    std::function<jobs::BatchItem(const ItemRequest& request)> item;
};

/// Makes the missing and outdated outputs of many files and prints a summary. Throws the first error of a job after all
/// jobs have ended.
void make_many(const Command& command, const BatchFlags& flags, CommonOptions& common, const std::string& folder,
               const ManyJobs& jobs, const std::stop_token& stop);

}  // namespace framewire::app
