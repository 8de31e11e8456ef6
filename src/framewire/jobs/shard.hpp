#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace framewire::jobs {

/// One shard of work that several processes share: every `count`th item, starting with the `index`th.
struct Shard {
    int index = 0;  ///< 0 to count - 1
    /// Number of shards.
    int count = 1;
    /// Environment variable that set the shard; empty: an option did.
    std::string from{};

    /// Returns true if the item with this number, from 0, belongs to the shard.
    bool has(std::size_t item) const {
        return item % static_cast<std::size_t>(count) == static_cast<std::size_t>(index);
    }
};

/// Parses "I/N" with I from 1 to N. Throws Error{usage}.
Shard parse_shard(std::string_view text);

/// Looks up an environment variable; null if it is not set.
using Environment = std::function<const char*(const char* name)>;

/// Returns the shard that a scheduler's environment asks for: a task of a Slurm job array (SLURM_ARRAY_TASK_ID with
/// _COUNT, _MIN and _STEP), or a pod of a Kubernetes Indexed Job (JOB_COMPLETION_INDEX). `count` is the number of
/// shards; default: FRAMEWIRE_SHARDS or the size of the array. Empty if none of these variables is set. Throws
/// Error{usage} if an index has no count or is beyond it, or if the array has gaps.
std::optional<Shard> shard_of(const Environment& environment, std::optional<int> count);

/// Everything that determines the result of an item of work.
struct Making {
    /// Version of the program and of the libraries that read and write.
    std::string version{};
    /// Options as given, without those that do not affect outputs.
    std::vector<std::string> options{};
    /// Paths of the input files.
    std::vector<std::string> inputs{};
    /// Paths of the output files.
    std::vector<std::string> outputs{};
};

/// State of an item of work before a run.
struct ItemState {
    /// Result of comparing the markers with the present files.
    enum class Is {
        /// Its outputs do not exist.
        missing,
        /// A run that was making it was killed.
        unfinished,
        /// It is done, but with other inputs, options or version.
        changed,
        /// A new run would make the same.
        done,
        /// An output exists that no batch run made, or that was changed since.
        in_the_way
    };
    Is is = Is::missing;
    /// For `changed`: what changed. For `in_the_way`: the output.
    std::string what{};
};

/// Done markers of an item of work, in the folder `.framewire` of the output folder. NAME.begun exists and is locked
/// while the item is made. NAME.done is written last, after all outputs are synced to disk, and describes what made
/// them, one JSON object per line: version, options, each input with size and modification time, each output with size.
/// Outputs without either marker were made by something else.
class DoneMarkers {
public:
    /// `name` is the item's first output, relative to the folder.
    DoneMarkers(const std::string& folder, const std::string& name);

    /// Compares the markers with the files that exist now. Throws Error{no_input} if an input does not exist.
    ItemState state(const Making& making) const;
    /// Returns true if a run is making the item, or was killed while making it.
    bool begun() const;

private:
    friend class ItemInTheMaking;
    std::string begun_, done_;
};

/// Holds the lock of an item while it is made, so that only one run makes it at a time.
class ItemInTheMaking {
public:
    /// Creates and locks NAME.begun. Throws Error{io}, also if another run holds the lock.
    explicit ItemInTheMaking(DoneMarkers markers);
    /// Removes NAME.begun.
    ~ItemInTheMaking();
    ItemInTheMaking(const ItemInTheMaking&) = delete;
    ItemInTheMaking& operator=(const ItemInTheMaking&) = delete;

    /// Records inputs and options before the work reads them. An input that changes meanwhile thus no longer matches
    /// the marker at the next run.
    void begin(const Making& making);
    /// Syncs the outputs to disk and then writes NAME.done. Throws Error{io}.
    void finish(const Making& making);

private:
    DoneMarkers markers_;
    int lock_ = -1;
    // contents of the marker without the outputs
    std::string made_;
};

}  // namespace framewire::jobs
