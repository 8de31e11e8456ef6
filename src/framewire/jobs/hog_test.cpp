#include "framewire/jobs/hog.hpp"
#include "framewire/core/error.hpp"
#include "framewire/jobs/job_testing_testing.hpp"
#include "framewire/jobs/outputs.hpp"
#include "framewire/jobs/people.hpp"
#include "framewire/jobs/run.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <vector>

namespace framewire::jobs {
namespace {

class Describe : public JobTest {
protected:
    // Makes a folder with images of these sizes, named 1.png, 2.png and so on.
    std::string images(const std::vector<std::string>& sizes) const {
        const auto path = folder_ / "images";
        std::filesystem::create_directory(path);
        int number = 0;
        for (const auto& size : sizes)
            RunJob({.input = {.source = fmt::format("synth:size={}:frames=1", size)},
                    .output = fmt::format("{}/{}.png", path, ++number)})
                .run();
        return path;
    }
    // Truncates the file of image `number` to half its size.
    void break_image(int number) const {
        const std::filesystem::path path = fmt::format("{}/{}.png", folder_ / "images", number);
        std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2);
    }
};

FRAMEWIRE_ON_EVERY_BACKEND(Describe);

TEST_P(Describe, WritesAVideoAsOneArray) {
    DescribeJob describe({.job = job(), .input = {.source = camera()}, .output = folder_ / "out.npy"});
    const auto& result = describe.run();
    EXPECT_EQ(result.ending, Ending::complete);
    EXPECT_EQ(result.descriptors.frames(), frames);
    ASSERT_TRUE(result.shape);
    EXPECT_EQ(array_shape(*result.shape), (std::vector<std::int64_t>{12, 16, 9}));
    EXPECT_GT(result.descriptors.largest(), 0);
    EXPECT_GE(read_file(folder_ / "out.npy").size(), sizeof(float) * frames * 12 * 16 * 9);
}

// Frames are processed in parallel, each on one thread.
TEST_P(Describe, IsIndependentOfTheNumberOfThreads) {
    std::vector<Bytes> results;
    for (const int threads : {1, 2, 7}) {
        auto options = job();
        options.threads = threads;
        DescribeJob describe({.job = options,
                              .input = {.source = "synth:size=130x97:noise=2:objects=5:frames=40"},
                              .output = folder_ / fmt::format("{}.npy", threads)});
        EXPECT_EQ(describe.run().descriptors.frames(), 40);
        results.push_back(read_file(folder_ / fmt::format("{}.npy", threads)));
    }
    EXPECT_EQ(results[0], results[1]);
    EXPECT_EQ(results[0], results[2]);
}

TEST_P(Describe, DescribesFramesBeforeAFailure) {
    DescribeJob describe({.job = job(), .input = {.source = broken_source(5)}, .output = folder_ / "out.npy"});
    EXPECT_NE(error_of([&] { describe.run(); }), std::nullopt);
    EXPECT_EQ(describe.result().descriptors.frames(), 5);
}

TEST_P(Describe, WritesOneArrayPerImageOfAFolder) {
    const auto source = images({"64x48", "40x40", "64x48"});
    DescribeFolderJob describe({.job = job(), .input = {.source = source}, .output = folder_ / "out/"});
    const auto& result = describe.run();
    EXPECT_EQ(result.descriptors.frames(), 3);
    EXPECT_FALSE(result.shape);
    EXPECT_EQ(result.figures.raw_bytes, 3 * (2 * 64 * 48 + 40 * 40));
    EXPECT_EQ(read_file(folder_ / "out/1.npy").size(), read_file(folder_ / "out/3.npy").size());
    EXPECT_LT(read_file(folder_ / "out/2.npy").size(), read_file(folder_ / "out/1.npy").size());
}

TEST_P(Describe, DrawsTheStepsOfSelectedFrames) {
    DescribeOptions options{.job = job(),
                            .input = {.source = camera()},
                            .output = folder_ / "out.npy",
                            .steps_folder = folder_ / "steps",
                            .steps_of = StepFrames("0,3-4,99")};
    DescribeJob(options).run();
    for (const auto& [name, there] : {std::pair{"000000", true}, {"000003", true}, {"000004", true}, {"000001", false}})
        EXPECT_EQ(std::filesystem::exists(folder_ / (std::string("steps/") + name + "/gray.png")), there) << name;
    EXPECT_NE(read_file(folder_ / "steps/000003/hog.png"), read_file(folder_ / "steps/000000/hog.png"));
    options.output = folder_ / "again.npy";
    EXPECT_EQ(error_of([&] { DescribeJob(options).run(); }), ErrorCode::io) << "they are there already";

    options.steps_of = {};
    options.steps_folder = folder_ / "first";
    options.output = folder_ / "first.npy";
    DescribeJob(options).run();
    EXPECT_EQ(read_file(folder_ / "first/hog.png"), read_file(folder_ / "steps/000000/hog.png"));
}

TEST_P(Describe, DrawsTheStepsOfAFoldersImages) {
    const auto source = images({"64x48", "40x40", "64x48"});
    DescribeFolderJob({.job = job(),
                       .input = {.source = source},
                       .output = folder_ / "out/",
                       .steps_folder = folder_ / "steps",
                       .steps_of = StepFrames("1-2,7")})
        .run();
    EXPECT_FALSE(std::filesystem::exists(folder_ / "steps/1"));
    EXPECT_TRUE(std::filesystem::exists(folder_ / "steps/2/gray.png"));
    EXPECT_TRUE(std::filesystem::exists(folder_ / "steps/3/hog.png"));
}

TEST_P(Describe, SkipsAndReportsABrokenImage) {
    const auto source = images({"64x48", "40x40", "64x48", "64x48"});
    break_image(3);
    DescribeFolderJob describe({.job = job(), .input = {.source = source}, .output = folder_ / "out/"});
    std::string message;
    EXPECT_EQ(error_of([&] { describe.run(); }, &message), ErrorCode::source_lost);
    EXPECT_NE(message.find("3.png"), std::string::npos) << message;
    EXPECT_EQ(describe.result().ending, Ending::broken_off);
    EXPECT_EQ(describe.result().descriptors.frames(), 3);
    EXPECT_TRUE(std::filesystem::exists(folder_ / "out/2.npy"));
    EXPECT_FALSE(std::filesystem::exists(folder_ / "out/3.npy"));
    EXPECT_TRUE(std::filesystem::exists(folder_ / "out/4.npy"));
}

TEST_P(Describe, RejectsAnOutputFolderForASingleSource) {
    EXPECT_EQ(
        error_of([&] { DescribeFolderJob({.job = job(), .input = {.source = camera()}, .output = folder_ / "out/"}); }),
        ErrorCode::usage);
    EXPECT_TRUE(folder_.names().empty());
}

class PeopleInFolder : public Describe {
protected:
    // All weights are 0, so each window's score equals the bias.
    PeopleOptions options(const std::string& source) {
        PeopleOptions options{.job = job(), .input = {.source = source}, .model = folder_ / "model.txt"};
        options.window.width_px = options.window.height_px = 16;
        options.window.hog.cell = 8;
        std::string numbers;
        for (int weight = 0; weight < 36; ++weight) numbers += "0 ";
        write_file(options.model, numbers + "1\n");
        options.output = folder_ / "out.jsonl";
        options.annotate = folder_ / "seen/";
        return options;
    }
};

FRAMEWIRE_ON_EVERY_BACKEND(PeopleInFolder);

TEST_P(PeopleInFolder, KeepsRecordsBeforeABrokenImage) {
    const auto source = images({"64x48", "40x40", "8x8", "64x48"});
    break_image(4);
    PeopleFolderJob job(options(source));
    EXPECT_EQ(error_of([&] { job.run(); }), ErrorCode::source_lost);
    EXPECT_EQ(job.result().figures.frames, 3);
    EXPECT_GT(job.result().people, 0);
    EXPECT_EQ(job.result().best_score, 1.0F);
    EXPECT_EQ(job.result().ending, Ending::broken_off);
    EXPECT_EQ(lines_in(folder_ / "out.jsonl"), 3);
    EXPECT_TRUE(std::filesystem::exists(folder_ / "seen/3.png"));
    EXPECT_FALSE(std::filesystem::exists(folder_ / "seen/4.png"));
}

TEST(StepFrames, ParsesNumbersAndRanges) {
    const StepFrames frames("20-22,0,10");
    std::vector<std::int64_t> all;
    frames.for_each([&](std::int64_t frame) { all.push_back(frame); });
    EXPECT_EQ(all, (std::vector<std::int64_t>{0, 10, 20, 21, 22}));
    EXPECT_TRUE(frames.contains(21));
    EXPECT_FALSE(frames.contains(11));
    EXPECT_FALSE(frames.contains(23));
    EXPECT_FALSE(frames.empty());
    EXPECT_TRUE(StepFrames().empty());
    EXPECT_TRUE(StepFrames("0-9999").contains(9999));
}

TEST(StepFrames, RejectsInvalidLists) {
    for (const auto* text : {"", ",", "1,", "a", "-1", "3-2", "1-", "1-2-3", "1 2", "1,1", "5,3-7", "0-10000",
                             "0-5999,6000-11999", "0-9223372036854775807", "99999999999999999999"})
        EXPECT_THROW(StepFrames{text}, Error) << text;
}

}  // namespace
}  // namespace framewire::jobs
