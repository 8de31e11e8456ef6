#include "framewire/media/files.hpp"
#include "framewire/media/media_testing.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

namespace framewire {
namespace {

using namespace testing;

TEST(NetworkAddress, InsertsSecretsFromFilesAndTheEnvironment) {
    const TemporaryFolder folder;
    const auto path = folder / "door";
    std::ofstream(path) << "p@ss: w/rd%\nmore\n";
    EXPECT_EQ(network_address("rtsp://me:{file:" + path + "}@h/x"), "rtsp://me:p%40ss%3A%20w%2Frd%25@h/x");
    ::setenv("FRAMEWIRE_TEST_SECRET", "a&b", 1);
    EXPECT_EQ(network_address("http://h/x?token={env:FRAMEWIRE_TEST_SECRET}&y={env:FRAMEWIRE_TEST_SECRET}"),
              "http://h/x?token=a%26b&y=a%26b");
    EXPECT_EQ(network_address("http://u:a b@h/{x}"), "http://u:a%20b@h/{x}");
    EXPECT_EQ(network_address("srt://h:1?passphrase={file:" + path + "}"), "srt://h:1?passphrase=p@ss: w/rd%");
}

TEST(NetworkAddress, RejectsInvalidSecretsWithoutRevealingThem) {
    const TemporaryFolder folder;
    const auto expect_refused = [&](const std::string& value, ErrorCode code, const std::string& scheme = "rtsp") {
        std::ofstream(folder / "value", std::ios::binary) << value;
        try {
            network_address(scheme + "://me:{file:" + (folder / "value") + "}@h");
            ADD_FAILURE() << "taken: " << value.substr(0, 20);
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), code) << error.what();
            if (value.size() < 2) return;
            EXPECT_EQ(std::string(error.what()).find(value), std::string::npos) << error.what();
        }
    };
    expect_refused("", ErrorCode::usage);
    expect_refused("\n", ErrorCode::usage);
    expect_refused(std::string(5000, 'x'), ErrorCode::usage);
    expect_refused(std::string("ab\0cd", 5), ErrorCode::usage);
    expect_refused("Tr0ub&dor", ErrorCode::usage, "srt");
    EXPECT_EQ(error_of([&] { network_address("rtsp://me:{file:" + (folder / "none") + "}@h"); }), ErrorCode::no_input);
    EXPECT_EQ(error_of([] { network_address("rtsp://me:{env:FRAMEWIRE_NO_SUCH}@h"); }), ErrorCode::no_input);
    EXPECT_EQ(error_of([] { network_address("rtsp://me:{env:FRAMEWIRE_NO_SUCH@h"); }), ErrorCode::usage);
}

using namespace framewire::testing;

std::optional<ErrorCode> refusal(const std::vector<RunFile>& inputs, const std::vector<RunFile>& outputs) {
    return error_of([&] { require_different_files(inputs, outputs); });
}

TEST(RunFiles, RejectsTheSameFileUnderDifferentPaths) {
    const TemporaryFolder folder;
    write_file(folder / "a", "text");
    write_file(folder / "b", "text");
    ASSERT_EQ(::link((folder / "a").c_str(), (folder / "hard").c_str()), 0);
    ASSERT_EQ(::symlink("a", (folder / "soft").c_str()), 0);
    ASSERT_EQ(::symlink(".", (folder / "here").c_str()), 0);
    for (const auto* name : {"a", "./a", "here/a", "here/here/a", "hard", "soft", "here/soft"}) {
        EXPECT_EQ(refusal({{"-i", folder / "a"}}, {{"-o", folder / name}}), ErrorCode::usage) << name;
        EXPECT_EQ(refusal({}, {{"-o", folder / "a"}, {"--stats", folder / name}}), ErrorCode::usage) << name;
    }
    EXPECT_EQ(refusal({{"-i", folder / "a"}}, {{"-o", folder / "b"}, {"--stats", folder / "c"}}), std::nullopt);
}

TEST(RunFiles, RejectsTheSameNewFileUnderDifferentPaths) {
    const TemporaryFolder folder;
    ASSERT_EQ(::symlink(".", (folder / "here").c_str()), 0);
    ASSERT_EQ(::symlink("new", (folder / "dangling").c_str()), 0);
    for (const auto* name : {"new", "here/new", "dangling", "./new"})
        EXPECT_EQ(refusal({}, {{"-o", folder / "new"}, {"--mask", folder / name}}), ErrorCode::usage) << name;
    EXPECT_EQ(refusal({}, {{"-o", folder / "new"}, {"--mask", folder / "other"}}), std::nullopt);
}

TEST(RunFiles, AcceptsADeviceTwiceButNotAPipe) {
    const TemporaryFolder folder;
    EXPECT_EQ(refusal({{"-i", "/dev/null"}}, {{"-o", "/dev/null"}, {"--stats", "/dev/null"}}), std::nullopt);
    ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
    EXPECT_EQ(refusal({}, {{"-o", folder / "pipe"}, {"--stats", folder / "pipe"}}), ErrorCode::usage);
}

TEST(RunFiles, ListsOnlyExistingRegularFiles) {
    const TemporaryFolder folder;
    write_file(folder / "a", "");
    const std::vector<RunFile> outputs{
        {"-o", folder / "a"}, {"--mask", folder / "b"}, {"--stats", "/dev/null"}, {"-o", "-"}};
    const auto there = files_there(outputs);
    ASSERT_EQ(there.size(), 1u);
    EXPECT_EQ(there[0].path, folder / "a");
}

TEST(RunFiles, ListsFilesOfSourcesAndSinks) {
    using Paths = std::vector<std::string>;
    const TemporaryFolder folder;
    for (const auto* name : {"s1.png", "s2.png"}) write_file(folder / name, "");
    EXPECT_EQ(files_read_by("a.mp4"), Paths{"a.mp4"});
    EXPECT_EQ(files_read_by("-"), Paths{"-"});
    EXPECT_EQ(files_read_by("file:///x/a.mp4"), Paths{"/x/a.mp4"});
    EXPECT_EQ(files_read_by("raw:/x/a.bgr:size=4x4"), Paths{"/x/a.bgr"});
    EXPECT_EQ(files_read_by(folder / "s%d.png"), (Paths{folder / "s1.png", folder / "s2.png"}));
    EXPECT_EQ(files_read_by(folder / "").size(), 2u);
    for (const auto* text : {"synth", "synth:seed=1", "rtsp://host/a", "lavfi:testsrc", "/dev/video0"})
        EXPECT_EQ(files_read_by(text), Paths{}) << text;
    EXPECT_EQ(files_written_by("synth:seed=1:truth=boxes.jsonl"), Paths{"boxes.jsonl"});
    EXPECT_EQ(files_of_sink("a.mp4"), Paths{"a.mp4"});
    EXPECT_EQ(files_of_sink("rtsp://host/a"), Paths{});
    EXPECT_EQ(files_of_sink(folder / "s%d.png"), (Paths{folder / "s1.png", folder / "s2.png", folder / "s0.png"}));
}

}  // namespace
}  // namespace framewire
