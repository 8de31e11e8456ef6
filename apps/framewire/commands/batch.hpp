#pragma once

#include "commands/commands.hpp"
#include "options/common.hpp"

#include "framewire/session/batch/batch.hpp"
#include "framewire/session/batch/batch_inputs.hpp"
#include "framewire/session/batch/parts/stretches.hpp"
#include "framewire/session/options.hpp"

#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace framewire::app {

/// The flags of subcommands that take many files.
struct BatchFlags {
    std::vector<std::string> inputs;
    int jobs = 1;
    std::string ending;         ///< of videos and pictures; empty: of each by its kind
    std::string shard;          ///< "I/N"; empty: as the environment says
    std::optional<int> shards;  ///< how many, where the environment says which
    session::Cutting cutting;   ///< of long videos; 0 seconds: they are not

    /// What is called for, for an input: its own ending, "name.mp4".
    std::string video_name(const session::BatchInput& input) const;
};

/// `-i` of one source or many files, `-f`, and what goes with many files.
void add_batch_options(Command& command, BatchFlags& flags, session::InputOptions& options);

/// Whether these inputs are many files, which go into the folder `output`; else `options` gets the one source. Throws
/// Error{usage} where many files go elsewhere, and on options of many files with one source.
bool is_of_many(const BatchFlags& flags, const std::string& output, session::InputOptions& options);

/// Whether the flags, or a scheduler's environment, ask for several files at once or for a share of them.
bool shares_work(const BatchFlags& flags);

/// What a piece of work is of: one of many files, or a stretch of one.
struct PieceRequest {
    session::BatchInput input;
    session::JobOptions job;
    std::optional<session::Stretch> stretch{};
    std::string parts_folder{};  ///< what is made of a stretch goes there
    std::string part{};          ///< and is called this

    /// The source, or the stretch of it.
    void take(session::InputOptions& options) const;
    /// `name` in `folder`; empty where no folder is wanted. Throws Error{usage} where it is none: `option` names it.
    std::string in_folder(const std::string& option, const std::string& folder, const std::string& name) const;
    /// The same as a sink's text: `name` comes from an input's, and nothing in it is a pattern or a parameter.
    std::string sink_in_folder(const std::string& option, const std::string& folder, const std::string& name) const;
    /// The piece whose first output is `name`, by a RunJob or the like with these options. `film`: see session::Piece.
    template <class AnyJob, class Options>
    session::Piece piece(const std::string& name, const Options& options, const std::string& film = "") const {
        return {.input = shown_input(),
                .name = shown_name(name),
                .files = files_of(options),
                .film = film,
                .work = session::piece_work<AnyJob>(options),
                .in_every_share = input.missing};
    }

private:
    std::string shown_input() const;
    std::string shown_name(const std::string& name) const;
};

/// What many files' jobs are made of.
struct ManyJobs {
    const session::InputOptions& input;
    const BackgroundModel* background = nullptr;  ///< of a detector; null where there is none
    bool audio = true;                            ///< goes along into the film
    std::function<session::Piece(const PieceRequest& request)> piece;
};

/// Makes what is missing or changed of many files, and says what came of it. Throws what the first of them failed with.
void make_many(const Command& command, const BatchFlags& flags, CommonOptions& common, const std::string& folder,
               const ManyJobs& jobs, const std::stop_token& stop);

}  // namespace framewire::app
