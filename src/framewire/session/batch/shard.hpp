#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace framewire::session {

/// One shard of work that several processes share: every `count`th piece, starting with the `index`th.
struct Shard {
    int index = 0;  ///< 0 to count - 1
    /// Number of shards.
    int count = 1;
    /// Environment variable that set the shard; empty: an option did.
    std::string from{};

    /// Returns true if the piece with this number, from 0, belongs to the shard.
    bool has(std::size_t piece) const {
        return piece % static_cast<std::size_t>(count) == static_cast<std::size_t>(index);
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

}  // namespace framewire::session
