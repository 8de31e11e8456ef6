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

/// Flags of subcommands that process many files.
struct BatchFlags {
    std::vector<std::string> inputs;
    int jobs = 1;
    std::string ending;         ///< extension of video and image outputs; empty: depends on the input
    std::string shard;          ///< "I/N"; empty: taken from the environment
    std::optional<int> shards;  ///< number of shards, if the environment gives only the index
    jobs::Cutting cutting;      ///< segments of long videos; 0 seconds: not cut

    /// File name of the output for an input, with the extension: "name.mp4".
    std::string video_name(const jobs::BatchInput& input) const;
};

/// Adds `-i` for one source or many files, `-f`, and the options for many files.
void add_batch_options(Command& command, BatchFlags& flags, jobs::InputOptions& options);

/// True if the inputs are many files, whose outputs go to the folder `output`; otherwise stores the single source in
/// `options`. Throws Error{usage} if many files have another destination, and on many-file options with a single
/// source.
bool is_of_many(const BatchFlags& flags, const std::string& output, jobs::InputOptions& options);

/// True if the flags or a job scheduler's environment ask for parallel jobs or for one shard.
bool shares_work(const BatchFlags& flags);

/// One work item of a batch: a whole file, or a time range of it.
struct ItemRequest {
    jobs::BatchInput input;
    jobs::JobOptions job;
    std::optional<jobs::FileSegment> segment{};
    std::string parts_folder{};  ///< folder for the output of a time range
    std::string part{};          ///< and its name there

    /// Sets the source in `options`, or its time range.
    void take(jobs::InputOptions& options) const;
    /// Path of `name` in `folder`; empty if `folder` is. Throws Error{usage}, naming `option`, if it is not a folder.
    std::string in_folder(const std::string& option, const std::string& folder, const std::string& name) const;
    /// Sink text for in_folder(): because `name` comes from an input's name, it is not parsed for patterns or
    /// parameters.
    std::string sink_in_folder(const std::string& option, const std::string& folder, const std::string& name) const;
    /// The work item whose first output is `name`, run by an AnyJob such as RunJob with these options. `film`: see
    /// jobs::BatchItem.
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
    // Input with its time range, for messages.
    std::string shown_input() const;
    // Output as listed in messages; parts of a cut video are listed in their folder.
    std::string shown_name(const std::string& name) const;
};

/// Description of the jobs for many files.
struct ManyJobs {
    const jobs::InputOptions& input;
    const BackgroundModel* background = nullptr;  ///< background of a detector; otherwise null
    bool audio = true;                            ///< copied to the video output
    std::function<jobs::BatchItem(const ItemRequest& request)> item;
};

/// Makes the missing and outdated outputs of many files and prints a summary. Throws the first error of a job.
void make_many(const Command& command, const BatchFlags& flags, CommonOptions& common, const std::string& folder,
               const ManyJobs& jobs, const std::stop_token& stop);

}  // namespace framewire::app
