// Tests runs over many files: a run makes missing and changed outputs, however an earlier run ended.
#include "e2e/program.hpp"
#include "e2e/tree.hpp"
#include "kit/images.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <map>
#include <random>
#include <thread>

namespace framewire::e2e {
namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

Names names_of(const Tree& files) {
    Names names;
    for (const auto& [name, bytes] : files) names.push_back(name);
    return names;
}

class ManyFiles : public testing::Test {
protected:
    // Writes clips a00.avi, a01.avi ... of a few frames.
    void make_clips(int count, const std::string& frames = "4", const std::string& size = "64x48") {
        fs::create_directory(clips());
        for (int clip = 0; clip < count; ++clip) {
            const auto number = std::to_string(100 + clip).substr(1);
            const auto made = run_framewire({"run", "--backend", "cpu", "-i",
                                             "synth:size=" + size + ":fps=30:noise=4:seed=" + std::to_string(clip),
                                             "-o", clip_path(number), "--frames", frames});
            ASSERT_EQ(made.code, 0) << made.err;
        }
    }
    std::string clips() const { return folder_ / "clips"; }
    std::string clip_path(const std::string& number) const { return clips() + "/a" + number + ".avi"; }
    std::string out() const { return folder_ / "out/"; }

    Names gray(std::vector<std::string> more = {}) const {
        Names arguments{"run", "--backend", "cpu", "--progress", "none", "-f", "gray", "-o", out()};
        arguments.insert(arguments.end(), more.begin(), more.end());
        return arguments;
    }
    // Runs `gray` over all clips; returns its output on standard error.
    std::string expect_gray(int code, std::vector<std::string> more = {}) const {
        more.insert(more.begin(), {"-i", clips()});
        const auto result = run_framewire(gray(std::move(more)));
        EXPECT_EQ(result.code, code) << result.err;
        return result.err;
    }

    TemporaryFolder folder_;
};

bool has(const std::string& text, const std::string& part) { return text.find(part) != text.npos; }

TEST_F(ManyFiles, OutputsEqualThoseOfSeparateRuns) {
    make_clips(3);
    const auto err = expect_gray(0, {"--jobs", "2", "--stats", folder_ / "stats.json"});
    EXPECT_TRUE(has(err, "3 of 3 files processed")) << err;
    EXPECT_EQ(names_of(tree(out())), (Names{".framewire/a00.mp4.done", ".framewire/a01.mp4.done",
                                            ".framewire/a02.mp4.done", "a00.mp4", "a01.mp4", "a02.mp4"}));
    for (const char* number : {"00", "01", "02"}) {
        const auto single = folder_ / "single.mp4";
        ASSERT_EQ(
            run_framewire({"run", "-y", "--backend", "cpu", "-f", "gray", "-i", clip_path(number), "-o", single}).code,
            0);
        EXPECT_EQ(contents(out() + "a" + number + ".mp4"), contents(single)) << number;
    }
    const auto stats = nlohmann::json::parse(contents(folder_ / "stats.json"));
    EXPECT_EQ(stats["files"], 3);
    EXPECT_EQ(stats["made"], 3);
    EXPECT_EQ(stats["frames"], 12);
}

TEST_F(ManyFiles, ASecondRunRecreatesOnlyMissingAndOutdatedOutputs) {
    make_clips(4);
    expect_gray(0);
    const auto first = tree(out());
    EXPECT_TRUE(has(expect_gray(0), "0 of 4 files processed, 4 already done"));
    EXPECT_EQ(differences(first, tree(out())), "");

    fs::remove(out() + "a01.mp4");
    fs::copy_file(clip_path("03"), clip_path("02"), fs::copy_options::overwrite_existing);
    const auto mended = expect_gray(0);
    EXPECT_TRUE(has(mended, "2 of 4 files processed, 2 already done")) << mended;
    EXPECT_TRUE(has(mended, "a02.avi again because it changed")) << mended;
    auto expected = first;
    const auto again = tree(out());
    EXPECT_EQ(again.at("a01.mp4"), first.at("a01.mp4"));
    EXPECT_EQ(again.at("a02.mp4"), first.at("a03.mp4"));
    EXPECT_EQ(names_of(again), names_of(first));

    const auto other = run_framewire({"run", "--backend", "cpu", "-f", "gray=average", "-i", clips(), "-o", out()});
    EXPECT_EQ(other.code, 0);
    EXPECT_TRUE(has(other.err, "4 of 4 files processed")) << other.err;
    EXPECT_TRUE(has(other.err, "the options changed")) << other.err;
}

TEST_F(ManyFiles, ForeignOutputsAreRejectedKeptOrReplaced) {
    make_clips(2);
    fs::create_directory(folder_ / "out");
    std::ofstream(out() + "a00.mp4") << "mine";
    EXPECT_TRUE(has(expect_gray(74), "a00.mp4 already exists"));
    EXPECT_EQ(names_of(tree(out())), Names{"a00.mp4"}) << "no output was created";
    EXPECT_TRUE(has(expect_gray(0, {"-n"}), "1 of 2 files processed, 1 left unchanged"));
    EXPECT_EQ(contents(out() + "a00.mp4"), "mine");
    EXPECT_TRUE(has(expect_gray(0, {"-y"}), "1 of 2 files processed, 1 already done"));
    EXPECT_EQ(frames_in(out() + "a00.mp4"), 4);
    std::ofstream(out() + "a01.mp4") << "changed by hand";
    EXPECT_TRUE(has(expect_gray(74), "a01.mp4 already exists"));
    EXPECT_EQ(contents(out() + "a01.mp4"), "changed by hand");
}

TEST_F(ManyFiles, FailuresAreSummarisedAndOtherFilesProcessed) {
    make_clips(3);
    const auto clip = contents(clip_path("01"));
    std::ofstream(clip_path("01"), std::ios::binary) << clip.substr(0, clip.size() * 3 / 4);
    const auto err = expect_gray(69, {"-i", folder_ / "nothing.avi", "--stats", folder_ / "stats.json"});
    EXPECT_TRUE(has(err, "2 of 4 files processed, 2 failed")) << err;
    EXPECT_TRUE(has(err, "a01.avi")) << err;
    EXPECT_TRUE(has(err, "nothing.avi: no such file")) << err;
    EXPECT_TRUE(has(err, "2 of 4 files failed")) << err;
    EXPECT_EQ(names_of(tree(out())),
              (Names{".framewire/a00.mp4.done", ".framewire/a02.mp4.done", "a00.mp4", "a01.mp4.part", "a02.mp4"}));
    const auto stats = nlohmann::json::parse(contents(folder_ / "stats.json"));
    ASSERT_EQ(stats["failures"].size(), 2u);
    EXPECT_EQ(stats["failures"][0]["code"], 69);
    EXPECT_EQ(stats["failures"][1]["code"], 66);
    std::ofstream(clip_path("01"), std::ios::binary) << clip;
    EXPECT_TRUE(has(expect_gray(0), "1 of 3 files processed, 2 already done"));
    EXPECT_FALSE(fs::exists(out() + "a01.mp4.part"));
}

TEST_F(ManyFiles, InputsMayBeListsPatternsOrPaths) {
    make_clips(3);
    fs::create_directories(folder_ / "cams/door");
    fs::create_directories(folder_ / "cams/yard");
    fs::copy_file(clip_path("00"), folder_ / "cams/door/1.avi");
    fs::copy_file(clip_path("01"), folder_ / "cams/yard/1.avi");
    const auto made = [&](std::vector<std::string> inputs) {
        fs::remove_all(out());
        inputs.insert(inputs.begin(), "-i");
        const auto result = run_framewire(gray(std::move(inputs)));
        EXPECT_EQ(result.code, 0) << result.err;
        Names videos;
        for (const auto& [name, bytes] : tree(out()))
            if (!name.starts_with(".")) videos.push_back(name);
        return videos;
    };
    EXPECT_EQ(made({folder_ / "cams/*/*.avi"}), (Names{"door/1.mp4", "yard/1.mp4"}));
    EXPECT_TRUE(fs::exists(out() + ".framewire/door/1.mp4.done"));
    EXPECT_EQ(made({clip_path("00"), clip_path("02"), clip_path("00")}), (Names{"a00.mp4", "a02.mp4"}));
    EXPECT_EQ(made({clips() + "/a0[12].avi"}), (Names{"a01.mp4", "a02.mp4"}));
    std::ofstream(folder_ / "list.txt") << clip_path("02") << "\r\n\n" << clip_path("01") << "\n";
    EXPECT_EQ(made({"@" + (folder_ / "list.txt")}), (Names{"a01.mp4", "a02.mp4"}));
    EXPECT_EQ(made({clip_path("00"), "--ending", "y4m"}), Names{"a00.y4m"});

    const auto refused = [&](std::vector<std::string> arguments, int code, const std::string& words) {
        const auto result = run_framewire(std::move(arguments));
        EXPECT_EQ(result.code, code) << result.err;
        EXPECT_TRUE(has(result.err, words)) << result.err;
    };
    const auto one = folder_ / "cams/door/1.avi", other = folder_ / "cams/yard/1.avi";
    refused(gray({"-i", one, other}), 2, "would both be written to 1.mp4");
    refused(gray({"-i", "synth:size=64x48"}), 2, "is not a file");
    refused(gray({"-i", folder_ / "no*.avi"}), 66, "matches no file");
    refused({"run", "-i", clips() + "/*.avi", "-o", folder_ / "all.mp4"}, 2, "-o FOLDER/");
    refused({"run", "-i", one, "-o", folder_ / "one.mp4", "--jobs", "2"}, 2, "-o FOLDER/");
    refused({"run", "-i", clips(), "-o", clips()}, 2, "the input folder");
    refused({"detect", "-i", clips(), "-o", out(), "--mask", folder_ / "mask.mkv"}, 2, "--mask");
}

TEST_F(ManyFiles, ShardsAreDisjointAndComplete) {
    make_clips(5);
    expect_gray(0);
    const auto whole = tree(out());
    fs::remove_all(out());
    EXPECT_TRUE(has(expect_gray(0, {"--shard", "1/3"}), "2 of 2 files processed"));
    EXPECT_TRUE(has(expect_gray(0, {"--shard", "2/3"}), "2 of 2 files processed"));
    EXPECT_TRUE(has(expect_gray(0, {"--shard", "3/3"}), "1 of 1 files processed"));
    EXPECT_EQ(differences(whole, tree(out())), "");
    fs::remove_all(out());
    const auto with = [&](const Names& environment) {
        auto command = framewire(gray({"-i", clips()}));
        command.insert(command.begin(), environment.begin(), environment.end());
        command.insert(command.begin(), "env");
        const auto result = Program(command).wait();
        EXPECT_EQ(result.code, 0) << result.err;
        return result.err;
    };
    EXPECT_TRUE(has(with({"SLURM_ARRAY_TASK_ID=7", "SLURM_ARRAY_TASK_MIN=7", "SLURM_ARRAY_TASK_COUNT=2"}),
                    "3 of 3 files processed"));
    EXPECT_TRUE(has(with({"JOB_COMPLETION_INDEX=1", "FRAMEWIRE_SHARDS=2"}), "2 of 2 files processed"));
    EXPECT_EQ(differences(whole, tree(out())), "");
}

TEST_F(ManyFiles, AnInterruptedRunLeavesNoPartialFiles) {
    make_clips(12, "60");  // long enough that a partial file is seen
    auto program = std::make_unique<Program>(
        framewire({"run", "--backend", "cpu", "-f", "median=31,median=33", "-i", clips(), "-o", out(), "--jobs", "2"}));
    const auto is_begun = [&] {
        return fs::exists(out() + "a00.mp4.part") || fs::exists(out() + "a01.mp4.part") ||
               fs::exists(out() + "a02.mp4.part");
    };
    ASSERT_TRUE(becomes_true(is_begun)) << program->err();
    program->signal(SIGINT);
    const auto result = program->wait();
    EXPECT_EQ(result.code, 128 + SIGINT) << result.err;
    for (const auto& name : names_of(tree(out()))) {
        EXPECT_FALSE(name.ends_with(".part") || name.ends_with(".begun")) << name;
        EXPECT_TRUE(!name.ends_with(".mp4") || fs::exists(out() + ".framewire/" + name + ".done")) << name;
    }
}

TEST_F(ManyFiles, ARunKilledAtAnyTimeResumesWithTheSameOutputs) {
    make_clips(20, "30", "160x120");
    const auto detect = [&](const std::string& into) {
        return framewire({"detect", "--backend", "cpu", "--progress", "none", "--jobs", "2", "-i", clips(), "-o",
                          folder_ / into, "--annotate", folder_ / into, "--background", "mixture"});
    };
    const auto time_of_a_run = [&] {
        const auto begin = std::chrono::steady_clock::now();
        EXPECT_EQ(Program(detect("whole/")).wait().code, 0);
        return std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - begin).count();
    };
    const auto undisturbed = time_of_a_run(), without_work = time_of_a_run();
    const auto whole = tree(folder_ / "whole");
    EXPECT_EQ(whole.size(), 60u) << "records, videos, marks";

    const auto seed = std::random_device()();
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    int hits = 0;
    for (int time = 0; time < (kit::brief() ? 5 : 20); ++time) {
        {
            const Program killed(detect("out/"));  // killed when it goes out of scope
            const auto longest = without_work + (undisturbed - without_work) / 6;
            const std::chrono::microseconds moment_of_the_kill(
                std::uniform_int_distribution<std::int64_t>(without_work / 2, longest)(random));
            std::this_thread::sleep_for(moment_of_the_kill);
        }
        if (!fs::exists(folder_ / "out")) continue;
        const auto names = names_of(tree(folder_ / "out"));
        hits += std::ranges::any_of(names, [](const auto& name) { return name.ends_with(".begun"); }) ? 1 : 0;
    }
    EXPECT_GT(hits, 1) << "too few runs were killed while writing an output";
    RecordProperty("killed_while_it_made", hits);
    const auto last = Program(detect("out/")).wait();
    EXPECT_EQ(last.code, 0) << last.err;
    EXPECT_EQ(differences(whole, tree(folder_ / "out")), "");
}

TEST_F(ManyFiles, DescriptorsEqualThoseOfSeparateRuns) {
    make_clips(2);
    const auto picture = folder_ / "p.png";
    ASSERT_EQ(run_framewire({"run", "-i", clip_path("00"), "--frames", "1", "-o", picture}).code, 0);
    const auto result = run_framewire({"hog", "--backend", "cpu", "-i", clips(), picture, "-o", out()});
    EXPECT_EQ(result.code, 0) << result.err;
    for (const auto& [input, name] : {std::pair{clip_path("01"), "a01.npy"}, std::pair{picture, "p.npy"}}) {
        ASSERT_EQ(run_framewire({"hog", "-y", "--backend", "cpu", "-i", input, "-o", folder_ / "one.npy"}).code, 0);
        EXPECT_EQ(contents(out() + name), contents(folder_ / "one.npy")) << name;
    }
    EXPECT_TRUE(fs::exists(out() + "a00.npy"));
    EXPECT_EQ(run_framewire({"hog", "-i", clips(), "-o", out(), "--json"}).code, 2);
}

// The records of a folder's images go into one file, or into one file per image in a folder.
TEST_F(ManyFiles, PeopleAreReportedPerImage) {
    const auto pictures = folder_ / "pictures/", model = folder_ / "model.npy", records = folder_ / "all.jsonl";
    fs::create_directory(pictures);
    for (const std::string name : {"a.png", "b.png"})
        ASSERT_EQ(run_framewire({"run", "-i", "synth:size=64x48", "--frames", "1", "-o", pictures + name}).code, 0);
    ASSERT_EQ(
        run_framewire({"hog", "--norm", "l2hys", "-i", pictures + "a.png", "-f", "crop=32:32:0:0", "-o", model}).code,
        0);
    const auto find = [&](const std::string& into) {
        const auto result = run_framewire(
            {"hog", "--backend", "cpu", "--people", model, "--window", "32x32", "-i", pictures, "-o", into});
        EXPECT_EQ(result.code, 0) << result.err;
    };
    find(records);
    find(out());
    std::ifstream all(records);
    for (const auto* name : {"a", "b"}) {
        std::string line;
        ASSERT_TRUE(std::getline(all, line));
        const auto own = contents(out() + name + ".jsonl");
        EXPECT_EQ(nlohmann::json::parse(own)["objects"], nlohmann::json::parse(line)["objects"]);
    }
    EXPECT_TRUE(fs::exists(out() + ".framewire/a.jsonl.done"));
}

TEST_F(ManyFiles, LabelsAreWrittenButStepsAndTimesNeedASingleFile) {
    make_clips(2);
    const auto labels = folder_ / "labels/";
    const auto result = run_framewire({"detect", "--backend", "cpu", "-i", clips(), "-o", out(), "--labels", labels});
    EXPECT_EQ(result.code, 0) << result.err;
    ASSERT_EQ(run_framewire({"detect", "--backend", "cpu", "-i", clip_path("01"), "-o", folder_ / "one.jsonl",
                             "--labels", folder_ / "one.npy"})
                  .code,
              0);
    EXPECT_EQ(contents(labels + "a01.npy"), contents(folder_ / "one.npy"));
    EXPECT_TRUE(fs::exists(labels + "a00.npy"));
    for (const auto& more :
         {std::vector<std::string>{"--times"}, {"--steps", folder_ / "steps"}, {"--labels", "l.npy"}}) {
        auto arguments = std::vector<std::string>{"detect", "-i", clips(), "-o", folder_ / "none/"};
        arguments.insert(arguments.end(), more.begin(), more.end());
        const auto refused = run_framewire(arguments);
        EXPECT_EQ(refused.code, 2) << refused.err;
        EXPECT_NE(refused.err.find(more.front()), std::string::npos) << refused.err;
    }
    EXPECT_FALSE(fs::exists(folder_ / "none"));
}

// Output names come from input names, which may contain text that looks like a number pattern, a parameter or a time.
TEST_F(ManyFiles, OutputNamesAreNotTreatedAsPatterns) {
    fs::create_directory(clips());
    const Names names{"a%d", "a0", "a%04d", "100%", "b:crf=30", "c%Y", "d%%d"};
    int seed = 0;
    for (const auto& name : names) {
        const auto made =
            run_framewire({"run", "--backend", "cpu", "-i", "synth:size=64x48:frames=1:seed=" + std::to_string(seed++),
                           "-o", folder_ / "made.png", "-y"});
        ASSERT_EQ(made.code, 0) << made.err;
        fs::rename(folder_ / "made.png", clips() + "/" + name + ".png");
    }
    for (const std::string ending : {"png", "mkv", "y4m"}) {
        const auto out = folder_ / (ending + "/");
        const auto make = [&] {
            return run_framewire({"run", "--backend", "cpu", "-i", clips(), "-o", out, "--ending", ending});
        };
        const auto first = make();
        ASSERT_EQ(first.code, 0) << first.err;
        for (const auto& name : names) {
            const auto again = run_framewire(
                {"run", "-y", "--backend", "cpu", "-i", out + name + "." + ending, "-o", folder_ / "again.bgr"});
            ASSERT_EQ(again.code, 0) << name << ": " << again.err;
            ASSERT_EQ(run_framewire({"run", "-y", "--backend", "cpu", "-i", clips() + "/" + name + ".png", "-o",
                                     folder_ / "own.bgr"})
                          .code,
                      0);
            if (ending == "y4m") continue;  // 4:4:4 rounds colours, so the bytes differ
            EXPECT_EQ(contents(folder_ / "again.bgr"), contents(folder_ / "own.bgr")) << name;
        }
        const auto second = make();
        EXPECT_EQ(second.code, 0) << second.err;
        EXPECT_TRUE(has(second.err, "7 already done")) << second.err;
    }
    const auto seen = run_framewire({"detect", "--backend", "cpu", "-i", clips(), "-o", folder_ / "boxes/",
                                     "--annotate", folder_ / "seen/", "--mask", folder_ / "masks/"});
    EXPECT_EQ(seen.code, 0) << seen.err;
    for (const auto& name : names)
        for (const auto& path : {"boxes/" + name + ".jsonl", "seen/" + name + ".png", "masks/" + name + ".png"})
            EXPECT_TRUE(fs::exists(folder_ / path)) << path;
    const auto pieces = run_framewire({"run", "-i", clips(), "-o", folder_ / "x/", "--segment-time", "1m"});
    EXPECT_EQ(pieces.code, 2) << pieces.err;
}

TEST_F(ManyFiles, EveryShardFailsForAMissingInput) {
    make_clips(2);
    const auto missing = clips() + "/tpyo.avi";
    for (const auto* share : {"1/3", "2/3", "3/3"}) {
        const auto alone = run_framewire(gray({"-i", missing, "--shard", share}));
        EXPECT_EQ(alone.code, 66) << share << ": " << alone.err;
        EXPECT_TRUE(has(alone.err, missing)) << alone.err;
        const auto beside = run_framewire(gray({"-i", clip_path("00"), missing, "--shard", share}));
        EXPECT_EQ(beside.code, 66) << share << ": " << beside.err;
    }
    EXPECT_TRUE(fs::exists(out() + "a00.mp4")) << "the output of the existing input must still be written";
    std::ofstream(folder_ / "list") << missing << "\n";
    EXPECT_EQ(run_framewire(gray({"-i", "@" + folder_ / "list", "--shard", "2/2"})).code, 66);
    // A shard may be empty although inputs exist.
    const auto empty = run_framewire(gray({"-i", clip_path("01"), "--shard", "2/2"}));
    EXPECT_EQ(empty.code, 0) << empty.err;
    EXPECT_TRUE(has(empty.err, "0 of 0 files processed")) << empty.err;
}

}  // namespace
}  // namespace framewire::e2e
