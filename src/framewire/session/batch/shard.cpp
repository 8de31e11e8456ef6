#include "framewire/session/batch/shard.hpp"

#include "framewire/core/error.hpp"
#include "framewire/core/parameters/numbers.hpp"

namespace framewire::session {
namespace {

constexpr const char *slurm_task = "SLURM_ARRAY_TASK_ID", *completion_index = "JOB_COMPLETION_INDEX",
                     *shards_variable = "FRAMEWIRE_SHARDS";

// Returns a variable's number; empty if it is not set. Throws if it is not a number of at least `least`.
std::optional<int> number_of(const Environment& environment, const char* name, int least) {
    const char* text = environment(name);
    if (!text || !*text) return {};
    const auto number = number_in<int>(text);
    if (!number || *number < least)
        fail(ErrorCode::usage, "{} is '{}'; a number from {} on is needed", name, text, least);
    return number;
}

// Checks an index, from 0, against the count.
Shard checked(const char* name, int index, int count) {
    if (index >= count)
        fail(ErrorCode::usage, "{} asks for share {} of {}; the first is 1. --shard I/N says which", name, index + 1,
             count);
    return {index, count, name};
}

// Returns the position of a task in its array.
int slurm_index(const Environment& environment, int task) {
    const int least = number_of(environment, "SLURM_ARRAY_TASK_MIN", 0).value_or(0);
    const int step = number_of(environment, "SLURM_ARRAY_TASK_STEP", 1).value_or(1);
    if (task < least || (task - least) % step != 0)
        fail(ErrorCode::usage,
             "{} is {} in an array from {} on by steps of {}; shares need an array without gaps, or --shard I/N",
             slurm_task, task, least, step);
    return (task - least) / step;
}

}  // namespace

Shard parse_shard(std::string_view text) {
    const auto slash = text.find('/');
    const auto index = number_in<int>(text.substr(0, slash));
    const auto count = slash == text.npos ? std::nullopt : number_in<int>(text.substr(slash + 1));
    if (!index || !count || *index < 1 || *index > *count)
        fail(ErrorCode::usage, "no share '{}'; it is I/N, from 1/N to N/N", text);
    return {*index - 1, *count};
}

std::optional<Shard> shard_of(const Environment& environment, std::optional<int> count) {
    if (!count) count = number_of(environment, shards_variable, 1);
    if (const auto task = number_of(environment, slurm_task, 0)) {
        const auto tasks = count ? count : number_of(environment, "SLURM_ARRAY_TASK_COUNT", 1);
        if (!tasks)
            fail(ErrorCode::usage, "{} is {}, but SLURM_ARRAY_TASK_COUNT is not set; --shards N says of how many",
                 slurm_task, *task);
        return checked(slurm_task, slurm_index(environment, *task), *tasks);
    }
    if (const auto index = number_of(environment, completion_index, 0)) {
        if (!count)
            fail(ErrorCode::usage, "{} is {}, but of how many? --shards N or {} says it", completion_index, *index,
                 shards_variable);
        return checked(completion_index, *index, *count);
    }
    return {};
}

}  // namespace framewire::session
