// Tests that the same command gives the same bytes, whatever else the machine is doing.
#include "e2e/program.hpp"
#include "e2e/tree.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

namespace framewire::e2e {
namespace {

namespace fs = std::filesystem;
using Arguments = std::vector<std::string>;

void expect_made(const Arguments& command) {
    const auto result = Program(command).wait();
    EXPECT_EQ(result.code, 0) << result.err;
}

Arguments joined(Arguments first, const Arguments& more) {
    first.insert(first.end(), more.begin(), more.end());
    return first;
}

// Writes 30 frames whose width is not a multiple of what encoders process at once.
void make_input(const std::string& path) {
    expect_made(framewire({"run", "--backend", "cpu", "-i", "synth:size=160x120:fps=30:noise=4:seed=7:frames=30", "-f",
                           "gray", "-o", path}));
}

// Fixture whose parameter is the output's extension; each one selects another encoder or container.
class EncodedBytes : public testing::TestWithParam<const char*> {
protected:
    void SetUp() override {
        make_input(input());
        first_ = made({"env"});
        ASSERT_FALSE(first_.empty());
    }
    std::string input() const { return folder_ / "in.y4m"; }
    // Returns the bytes that the program writes when the command prefix `way` starts it. Its input is `from`, or
    // input() if `from` is empty.
    std::string made(const Arguments& way, const std::string& from = "") const {
        const auto path = folder_ / ("out" + std::string(GetParam()));
        expect_made(joined(way, framewire({"run", "-y", "--backend", "cpu", "--progress", "none", "-i",
                                           from.empty() ? input() : from, "-o", path})));
        return contents(path.substr(0, path.find(':', path.rfind('/'))));
    }

    const TemporaryFolder folder_;
    std::string first_;
};

TEST_P(EncodedBytes, DoNotDependOnUninitialisedMemory) {
    // glibc fills allocations with this byte, except those that it maps from the system, which are always zero.
    const std::string filled = "GLIBC_TUNABLES=glibc.malloc.mmap_threshold=1000000000:glibc.malloc.perturb=";
    for (const char* byte : {"0", "1", "85", "170"})
        EXPECT_TRUE(made({"env", filled + byte}) == first_) << "with memory filled with byte " << byte;
}

TEST_P(EncodedBytes, DoNotDependOnTheInputRate) {
    const auto third = std::to_string(fs::file_size(input()) / 3);
    const std::string pause = "sleep 0.6", slowly = "f=$1; shift; { head -c " + third + " \"$f\"; " + pause +
                                                    "; tail -c +$((" + third + " + 1)) \"$f\"; } | \"$@\"";
    EXPECT_TRUE(made({"sh", "-c", slowly, "sh", input()}, "-") == first_);
}

INSTANTIATE_TEST_SUITE_P(Endings, EncodedBytes,
                         testing::Values(".mp4", ".mkv", ".mkv:codec=h264", ".avi", ".ts", ".webm", ".gif", ".webp",
                                         ".fwd"));

// Fixture for outputs of runs over many files; the parameter is the command.
class ManyFilesBytes : public testing::TestWithParam<Arguments> {
protected:
    void SetUp() override {
        fs::create_directory(folder_ / "clips");
        for (const char* seed : {"0", "1", "2", "3", "4"})
            expect_made(framewire({"run", "--backend", "cpu", "--frames", "30", "-i",
                                   std::string("synth:size=160x120:fps=30:noise=4:seed=") + seed, "-o",
                                   folder_ / (std::string("clips/") + seed + ".avi")}));
    }
    // Runs the command into the folder `out`.
    void make(const std::string& out, const Arguments& more) const {
        auto command = framewire(joined(GetParam(), more));
        for (auto& argument : command)
            if (argument == "OUT") argument = folder_ / out;
        expect_made(joined(command, {"--backend", "cpu", "--progress", "none", "-i", folder_ / "clips"}));
    }

    const TemporaryFolder folder_;
};

TEST_P(ManyFilesBytes, DoNotDependOnParallelismOrEarlierOutputs) {
    make("whole/", {});
    const auto whole = tree(folder_ / "whole");
    for (const auto& more : {Arguments{}, {"--jobs", "2"}, {"--jobs", "3"}, {"--threads", "1"}, {"--threads", "3"}}) {
        fs::remove_all(folder_ / "out");
        make("out/", more);
        EXPECT_EQ(differences(whole, tree(folder_ / "out")), "") << testing::PrintToString(more);
    }
    for (const auto& entry : fs::directory_iterator(folder_ / "out"))
        if (entry.path().stem() == "3") fs::remove(entry.path());
    make("out/", {"--jobs", "2"});
    EXPECT_EQ(differences(whole, tree(folder_ / "out")), "") << "after recreating a single output";
}

INSTANTIATE_TEST_SUITE_P(Jobs, ManyFilesBytes,
                         testing::Values(Arguments{"run", "-f", "gray", "-o", "OUT"},
                                         Arguments{"run", "-f", "median=5", "--ending", "mkv", "-o", "OUT"},
                                         Arguments{"detect", "--background", "mixture", "-o", "OUT", "--annotate",
                                                   "OUT"},
                                         Arguments{"hog", "-o", "OUT"}));

}  // namespace
}  // namespace framewire::e2e
