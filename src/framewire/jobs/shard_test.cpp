#include "framewire/jobs/shard.hpp"
#include "framewire/jobs/job_testing_testing.hpp"

#include <chrono>
#include <filesystem>
#include <map>

namespace framewire::jobs {
namespace {

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

TEST(Shard, NumbersStartAtOne) {
    expect_shard(parse_shard("1/1"), 0, 1);
    expect_shard(parse_shard("2/8"), 1, 8);
    for (const char* text :
         {"", "3", "0/8", "9/8", "1/0", "-1/8", "1/8/2", "a/b", "1/", "/8", "1 / 8", "1/99999999999"})
        EXPECT_EQ(error_of([&] { parse_shard(text); }), ErrorCode::usage) << text;
}

TEST(Shard, AssignsEveryItemToOneShard) {
    for (int count : {1, 2, 3, 7})
        for (std::size_t item = 0; item < 20; ++item) {
            int owners = 0;
            for (int index = 0; index < count; ++index) owners += Shard{index, count}.has(item) ? 1 : 0;
            EXPECT_EQ(owners, 1) << item << " of " << count;
        }
}

TEST(Shard, IsReadFromASlurmArrayTask) {
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

TEST(Shard, IsReadFromAnIndexedJob) {
    expect_shard(shard_in({{"JOB_COMPLETION_INDEX", "2"}}, 4), 2, 4);
    expect_shard(shard_in({{"JOB_COMPLETION_INDEX", "0"}, {"FRAMEWIRE_SHARDS", "4"}}), 0, 4);
    EXPECT_EQ(error_of([&] { shard_in({{"JOB_COMPLETION_INDEX", "0"}}); }), ErrorCode::usage);
    EXPECT_EQ(error_of([&] { shard_in({{"JOB_COMPLETION_INDEX", "4"}}, 4); }), ErrorCode::usage);
    EXPECT_FALSE(shard_in({}));
    EXPECT_FALSE(shard_in({{"FRAMEWIRE_SHARDS", "4"}, {"JOB_COMPLETION_INDEX", ""}}));
}

using Is = ItemState::Is;

class DoneMark : public ::testing::Test {
protected:
    void SetUp() override {
        write_file(folder_ / "in.avi", "the input");
        write_file(folder_ / "model", "another");
    }
    void make() {
        ItemInTheMaking item(markers());
        item.begin(making_);
        for (const auto& output : making_.outputs) write_file(output, "made");
        item.finish(making_);
    }
    DoneMarkers markers() const { return {folder_ / "", "sub/out.mkv"}; }
    Is state() const { return markers().state(making_).is; }
    std::string begun() const { return folder_ / ".framewire/sub/out.mkv.begun"; }

    TemporaryFolder folder_;
    Making making_{
        "1.0", {"-f=gray"}, {folder_ / "in.avi", folder_ / "model"}, {folder_ / "out.mkv", folder_ / "out.jsonl"}};
};

TEST_F(DoneMark, ExistsOnceAllOutputsExist) {
    EXPECT_EQ(state(), Is::missing);
    make();
    EXPECT_EQ(state(), Is::done);
    EXPECT_FALSE(std::filesystem::exists(begun()));
}

TEST_F(DoneMark, ReportsTheFirstChange) {
    make();
    const auto expect_changed = [&](const Making& making, const std::string& what) {
        const auto found = markers().state(making);
        EXPECT_EQ(found.is, Is::changed) << what;
        EXPECT_EQ(found.what, what);
    };
    auto other = making_;
    other.version = "1.1";
    expect_changed(other, "the version of framewire");
    other = making_;
    other.options = {"-f=gray=average"};
    expect_changed(other, "the options");
    other = making_;
    other.outputs.pop_back();
    expect_changed(other, "the requested outputs");
    write_file(folder_ / "model", "another one");
    expect_changed(making_, folder_ / "model");
    using namespace std::chrono_literals;
    // same size as before, but with a later modification time
    write_file(folder_ / "in.avi", "The input");
    std::filesystem::last_write_time(folder_ / "in.avi", std::filesystem::file_time_type::clock::now() + 1s);
    expect_changed(making_, "it");
}

TEST_F(DoneMark, DetectsOutputsThatTheRunDidNotWrite) {
    write_file(folder_ / "out.jsonl", "mine");
    EXPECT_EQ(state(), Is::in_the_way);
    EXPECT_EQ(markers().state(making_).what, folder_ / "out.jsonl");
    make();
    write_file(folder_ / "out.mkv", "changed by hand");
    EXPECT_EQ(state(), Is::in_the_way);
    std::filesystem::remove(folder_ / "out.mkv");
    EXPECT_EQ(state(), Is::missing);
}

TEST_F(DoneMark, NextRunTakesOverAfterAKill) {
    make();
    std::filesystem::remove(folder_ / ".framewire/sub/out.mkv.done");
    write_file(begun(), "");
    EXPECT_EQ(state(), Is::unfinished);
    make();
    EXPECT_EQ(state(), Is::done);
    // the run was killed between its last two steps
    write_file(begun(), "");
    EXPECT_EQ(state(), Is::done);
}

TEST_F(DoneMark, RejectsASecondRunOnTheSameItem) {
    const ItemInTheMaking first(markers());
    EXPECT_EQ(error_of([&] { ItemInTheMaking second(markers()); }), ErrorCode::io);
    EXPECT_TRUE(std::filesystem::exists(begun()));
}

TEST_F(DoneMark, IgnoresInvalidMarkers) {
    make();
    for (const std::string text : {"", "\n\n", "{}", "{\"framewire\":\"1.0\"}\n"}) {
        write_file(folder_ / ".framewire/sub/out.mkv.done", text);
        EXPECT_EQ(state(), Is::in_the_way) << text;
    }
    write_file(folder_ / ".framewire/sub/out.mkv.done", std::string(std::size_t{2} << 20, 'x'));
    EXPECT_EQ(state(), Is::in_the_way);
}

TEST_F(DoneMark, ThrowsIfTheInputIsMissing) {
    std::filesystem::remove(folder_ / "in.avi");
    EXPECT_EQ(error_of([&] { state(); }), ErrorCode::no_input);
}

}  // namespace
}  // namespace framewire::jobs
