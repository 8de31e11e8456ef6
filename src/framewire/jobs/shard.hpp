#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace framewire::jobs {

/// One shard of a batch that several processes share: every `count`th item, starting with item `index`.
struct Shard {
    int index = 0;  ///< 0 to count - 1
    /// Number of shards.
    int count = 1;
    /// Name of the environment variable that set the shard; empty if an option did.
    std::string from{};

    /// Returns true if item `item`, counted from 0, belongs to the shard.
    bool has(std::size_t item) const {
        return item % static_cast<std::size_t>(count) == static_cast<std::size_t>(index);
    }
};

/// Parses "I/N", where I is between 1 and N. Throws Error{usage}.
Shard parse_shard(std::string_view text);

/// Function that returns the value of an environment variable; null if it is not set.
using Environment = std::function<const char*(const char* name)>;

/// Returns the shard that a scheduler's environment assigns to this process: a task of a Slurm job array
/// (SLURM_ARRAY_TASK_ID with _COUNT, _MIN and _STEP), or a pod of a Kubernetes Indexed Job (JOB_COMPLETION_INDEX).
/// `count` is the number of shards; default: FRAMEWIRE_SHARDS or the size of the array. Empty if none of these
/// variables is set. Throws Error{usage} if the number of shards is unknown, if the index is not below it, or if the
/// array has gaps.
std::optional<Shard> shard_of(const Environment& environment, std::optional<int> count);

/// Everything that determines the result of a work item.
struct Making {
    /// Version of the program and of the libraries that read and write media.
    std::string version{};
    /// Options as given, without those that do not affect the outputs.
    std::vector<std::string> options{};
    /// Paths of the input files.
    std::vector<std::string> inputs{};
    /// Paths of the output files.
    std::vector<std::string> outputs{};
};

/// State of a work item before a run.
struct ItemState {
    /// Result of comparing the done markers with the existing files.
    enum class Is {
        /// The item's outputs do not exist.
        missing,
        /// A run was killed while it made the item.
        unfinished,
        /// The item was made with other inputs, options or another version.
        changed,
        /// The outputs are up to date: a new run would make the same ones.
        done,
        /// An output exists that no batch run made, or that was changed after a batch run made it.
        in_the_way
    };
    Is is = Is::missing;
    /// For `changed`: the input, option or version that changed. For `in_the_way`: the output.
    std::string what{};
};

/// Done markers of a work item, stored in the subfolder `.framewire` of the output folder. NAME.begun exists and is
/// locked while the item is being made. NAME.done is written last, after all outputs have been synced to disk, and
/// records what determined them, one JSON object per line: version, options, each input with size and modification
/// time, each output with size. Outputs without either marker were not made by a batch run.
class DoneMarkers {
public:
    /// `name` is the item's first output, relative to the folder.
    DoneMarkers(const std::string& folder, const std::string& name);

    /// Compares the markers with the existing files. Throws Error{no_input} if an input does not exist.
    ItemState state(const Making& making) const;
    /// Returns true if a run is making the item, or was killed while making it.
    bool begun() const;

private:
    friend class ItemInTheMaking;
    std::string begun_, done_;
};

/// Holds the lock of an item while it is being made, so that only one run makes it at a time.
class ItemInTheMaking {
public:
    /// Creates and locks NAME.begun. Throws Error{io}, including if another run holds the lock.
    explicit ItemInTheMaking(DoneMarkers markers);
    /// Removes NAME.begun.
    ~ItemInTheMaking();
    ItemInTheMaking(const ItemInTheMaking&) = delete;
    ItemInTheMaking& operator=(const ItemInTheMaking&) = delete;

    /// Records the inputs and options before the work reads them. If an input changes during the work, it therefore
    /// differs from the marker at the next run.
    void begin(const Making& making);
    /// Syncs the outputs to disk, then writes NAME.done. Throws Error{io}.
    void finish(const Making& making);

private:
    DoneMarkers markers_;
    int lock_ = -1;
    // content of the marker, without the outputs
    std::string made_;
};

}  // namespace framewire::jobs
