#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace framewire::session {

/// One share of work that several runs do together: every `count`th piece from the `index`th on.
struct Shard {
    int index = 0;  ///< 0 to count - 1
    int count = 1;
    std::string from{};  ///< the environment's variable that says so; empty: it was asked for

    bool has(std::size_t piece) const {
        return piece % static_cast<std::size_t>(count) == static_cast<std::size_t>(index);
    }
};

/// Reads "I/N", I from 1 to N. Throws Error{usage}.
Shard parse_shard(std::string_view text);

/// A variable of the environment; null where it is not set.
using Environment = std::function<const char*(const char* name)>;

/// The share that a scheduler's environment asks for: of a task of a Slurm array (SLURM_ARRAY_TASK_ID with _COUNT, _MIN
/// and _STEP) or of a pod of a Kubernetes Indexed Job (JOB_COMPLETION_INDEX). `count` is how many there are in all;
/// none: as FRAMEWIRE_SHARDS or the array says. None where nothing of it is set. Throws Error{usage} on an index
/// without a count or beyond it, and on arrays with gaps.
std::optional<Shard> shard_of(const Environment& environment, std::optional<int> count);

}  // namespace framewire::session
