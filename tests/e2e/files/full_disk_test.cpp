// Tests outputs on a disk that fills up: a file system of 64 KiB, mounted where only the program under test sees it.

#include "e2e/places.hpp"
#include "e2e/program.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

namespace framewire::e2e {
namespace {

constexpr int disk_kib = 64;

// sh -c SCRIPT sh DISK USED_KIB NAMES PROGRAM ARGUMENTS...: mounts the disk, fills part of it, runs the program, and
// lists the files on the disk, which disappears with the last process that sees it. Exits with 99 if it cannot mount
// the disk.
constexpr const char* on_small_disk = R"(
disk=$1 used_kib=$2 names=$3
shift 3
mount -t tmpfs -o size=64k none "$disk" && head -c "${used_kib}k" /dev/zero >"$disk/used" || exit 99
"$@"
code=$?
ls -A "$disk" >"$names"
exit $code
)";

// Returns the command prefix that creates a private mount namespace: as root, or as root of a user namespace; empty if
// neither is allowed.
const std::vector<std::string>& own_mounts() {
    static const auto found = [] {
        for (const std::vector<std::string>& way :
             {std::vector<std::string>{"unshare", "--mount"}, {"unshare", "--map-root-user", "--mount"}}) {
            const TemporaryFolder disk;
            auto probe = way;
            probe.insert(probe.end(), {"mount", "-t", "tmpfs", "-o", "size=64k", "none", disk.path()});
            if (Program(probe).wait().code == 0) return way;
        }
        return std::vector<std::string>{};
    }();
    return found;
}

// Files that remain beside the output as NAME.part: everything that was complete when the disk filled up.
enum class Remains {
    nothing,
    lines,
    recording  // if the run recorded at least half a second before the disk filled up
};

struct Case {
    const char* name;
    std::vector<std::string> arguments;  // DISK is replaced by the disk, ELSE by a folder with free space
    const char* output;                  // path on the disk
    int free_kib = disk_kib;
    Remains remains = Remains::nothing;
};

void PrintTo(const Case& one, std::ostream* out) { *out << one.name; }

class FullDisk : public testing::TestWithParam<Case> {
protected:
    void SetUp() override {
        if (own_mounts().empty())
            GTEST_SKIP() << "cannot create a small disk: mounting in a separate namespace is not permitted here";
    }
};

TEST_P(FullDisk, IsReportedAndLeavesOnlyTheExpectedFiles) {
    const TemporaryFolder disk, elsewhere;
    const auto& one = GetParam();
    auto command = own_mounts();
    command.insert(command.end(), {"sh", "-c", on_small_disk, "sh", disk.path(),
                                   std::to_string(disk_kib - one.free_kib), elsewhere / "names", program_path});
    for (auto argument : one.arguments) {
        if (const auto at = argument.find("DISK"); at != std::string::npos) argument.replace(at, 4, disk.path());
        if (const auto at = argument.find("ELSE"); at != std::string::npos) argument.replace(at, 4, elsewhere.path());
        command.push_back(argument);
    }
    const auto result = Program(command).wait(std::chrono::seconds(120));
    ASSERT_NE(result.code, 99) << result.err;
    EXPECT_EQ(result.code, 74) << result.err;
    EXPECT_NE(result.err.find(disk / one.output), std::string::npos) << result.err;
    EXPECT_NE(result.err.find("No space left on device"), std::string::npos) << result.err;
    std::istringstream listed(contents(elsewhere / "names"));
    std::vector<std::string> names;
    for (std::string name; std::getline(listed, name);) names.push_back(name);
    const auto part = std::string(one.output) + ".part";
    if (one.remains == Remains::recording) std::erase(names, part);
    EXPECT_EQ(names, one.remains == Remains::lines ? (std::vector<std::string>{part, "used"})
                                                   : std::vector<std::string>{"used"});
}

const std::string noisy = "synth:size=320x240:fps=30:seed=1:noise=50:objects=5",
                  small = "synth:size=64x48:fps=30:seed=1";

std::vector<std::string> run_to(const std::string& output) {
    return {"run", "--backend", "cpu", "-i", noisy, "-o", "DISK/" + output, "--frames", "100"};
}

INSTANTIATE_TEST_SUITE_P(
    All, FullDisk,
    testing::Values(
        Case{"Bgr", run_to("out.bgr"), "out.bgr"}, Case{"Y4m", run_to("out.y4m"), "out.y4m"},
        Case{"Png", run_to("out.png"), "out.png"},
        Case{.name = "Mp4", .arguments = run_to("out.mp4"), .output = "out.mp4", .remains = Remains::recording},
        Case{.name = "Mkv", .arguments = run_to("out.mkv"), .output = "out.mkv", .remains = Remains::recording},
        Case{.name = "Avi", .arguments = run_to("out.avi"), .output = "out.avi", .remains = Remains::recording},
        Case{
            "Descriptors", {"hog", "--backend", "cpu", "-i", noisy, "-o", "DISK/out.npy", "--frames", "10"}, "out.npy"},
        Case{"Records",
             {"detect", "--backend", "cpu", "-i", small, "-o", "DISK/out.jsonl", "--frames", "500"},
             "out.jsonl",
             4,
             Remains::lines},
        Case{"GroundTruth",
             {"run", "--backend", "cpu", "-i", small + ":truth=DISK/true.jsonl", "-o", "ELSE/out.bgr", "--frames",
              "500"},
             "true.jsonl",
             4,
             Remains::lines},
        Case{"Statistics",
             {"run", "--backend", "cpu", "-i", small, "-o", "ELSE/out.bgr", "--frames", "5", "--stats",
              "DISK/stats.json"},
             "stats.json",
             0}),
    [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace framewire::e2e
