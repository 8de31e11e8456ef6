#include "framewire/session/batch/shard.hpp"

#include "framewire/session/job_testing.hpp"

#include <map>

namespace framewire::session {
namespace shard_test {

using Variables = std::map<std::string, std::string>;

std::optional<Shard> shard_in(const Variables& variables, std::optional<int> count = {}) {
    return shard_of(
        [&](const char* name) {
            const auto found = variables.find(name);
            return found == variables.end() ? nullptr : found->second.c_str();
        },
        count);
}

void expect_shard(const std::optional<Shard>& shard, int index, int count) {
    ASSERT_TRUE(shard);
    EXPECT_EQ(shard->index, index);
    EXPECT_EQ(shard->count, count);
}

TEST(Shard, IsCountedFromOne) {
    expect_shard(parse_shard("1/1"), 0, 1);
    expect_shard(parse_shard("2/8"), 1, 8);
    for (const char* text :
         {"", "3", "0/8", "9/8", "1/0", "-1/8", "1/8/2", "a/b", "1/", "/8", "1 / 8", "1/99999999999"})
        EXPECT_EQ(error_of([&] { parse_shard(text); }), ErrorCode::usage) << text;
}

TEST(Shard, CoversEveryPieceOnce) {
    for (int count : {1, 2, 3, 7})
        for (std::size_t piece = 0; piece < 20; ++piece) {
            int owners = 0;
            for (int index = 0; index < count; ++index) owners += Shard{index, count}.has(piece) ? 1 : 0;
            EXPECT_EQ(owners, 1) << piece << " of " << count;
        }
}

TEST(Shard, ComesFromASlurmArrayTask) {
    expect_shard(
        shard_in({{"SLURM_ARRAY_TASK_ID", "0"}, {"SLURM_ARRAY_TASK_MIN", "0"}, {"SLURM_ARRAY_TASK_COUNT", "4"}}), 0, 4);
    expect_shard(
        shard_in({{"SLURM_ARRAY_TASK_ID", "4"}, {"SLURM_ARRAY_TASK_MIN", "1"}, {"SLURM_ARRAY_TASK_COUNT", "4"}}), 3, 4);
    const Variables by_fours{{"SLURM_ARRAY_TASK_ID", "9"},
                             {"SLURM_ARRAY_TASK_MIN", "1"},
                             {"SLURM_ARRAY_TASK_STEP", "4"},
                             {"SLURM_ARRAY_TASK_COUNT", "3"}};
    expect_shard(shard_in(by_fours), 2, 3);
    expect_shard(shard_in({{"SLURM_ARRAY_TASK_ID", "2"}}, 8), 2, 8);
}

TEST(Shard, RejectsAnArrayWithGaps) {
    Variables gaps{{"SLURM_ARRAY_TASK_ID", "7"}, {"SLURM_ARRAY_TASK_MIN", "1"}, {"SLURM_ARRAY_TASK_COUNT", "3"}};
    EXPECT_EQ(error_of([&] { shard_in(gaps); }), ErrorCode::usage);
    gaps["SLURM_ARRAY_TASK_STEP"] = "4";
    EXPECT_EQ(error_of([&] { shard_in(gaps); }), ErrorCode::usage);
    EXPECT_EQ(error_of([&] { shard_in({{"SLURM_ARRAY_TASK_ID", "2"}}); }), ErrorCode::usage);
    EXPECT_EQ(error_of([&] { shard_in({{"SLURM_ARRAY_TASK_ID", "two"}}, 8); }), ErrorCode::usage);
}

TEST(Shard, ComesFromAnIndexedJob) {
    expect_shard(shard_in({{"JOB_COMPLETION_INDEX", "2"}}, 4), 2, 4);
    expect_shard(shard_in({{"JOB_COMPLETION_INDEX", "0"}, {"FRAMEWIRE_SHARDS", "4"}}), 0, 4);
    EXPECT_EQ(error_of([&] { shard_in({{"JOB_COMPLETION_INDEX", "0"}}); }), ErrorCode::usage);
    EXPECT_EQ(error_of([&] { shard_in({{"JOB_COMPLETION_INDEX", "4"}}, 4); }), ErrorCode::usage);
    EXPECT_FALSE(shard_in({}));
    EXPECT_FALSE(shard_in({{"FRAMEWIRE_SHARDS", "4"}, {"JOB_COMPLETION_INDEX", ""}}));
}

}  // namespace shard_test
}  // namespace framewire::session
