#include "framewire/media/output_file.hpp"
#include "framewire/media/media_testing.hpp"
#include "kit/images.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <random>
#include <thread>
#include <vector>

namespace framewire {
namespace {

using namespace framewire::testing;
using Names = std::vector<std::string>;

void put(OutputFile& file, std::string_view text) { file.write(text.data(), text.size()); }

std::string text_of(const std::string& path) {
    const auto bytes = read_file(path);
    return {bytes.begin(), bytes.end()};
}

mode_t mode_of(const std::string& path) {
    struct stat status {};
    EXPECT_EQ(::stat(path.c_str(), &status), 0) << path;
    return status.st_mode & 07777;
}

TEST(OutputFile, AppearsOnlyWhenFinished) {
    const TemporaryFolder folder;
    {
        OutputFile file(folder / "a");
        put(file, "text");
        EXPECT_EQ(folder.names(), Names{"a.part"});
    }
    EXPECT_EQ(folder.names(), Names{});
    OutputFile file(folder / "a");
    put(file, "text");
    file.finish();
    EXPECT_EQ(folder.names(), Names{"a"});
    EXPECT_EQ(text_of(folder / "a"), "text");
}

TEST(OutputFile, ReplacesAnExistingFileOnlyIfAllowed) {
    const TemporaryFolder folder;
    write_file(folder / "a", "old");
    std::string message;
    EXPECT_EQ(error_of([&] { OutputFile(folder / "a"); }, &message), ErrorCode::io);
    EXPECT_NE(message.find("-y"), std::string::npos) << message;
    EXPECT_EQ(text_of(folder / "a"), "old");
    OutputFile file(folder / "a", {.replace = true});
    put(file, "new");
    EXPECT_EQ(text_of(folder / "a"), "old");
    file.finish();
    EXPECT_EQ(text_of(folder / "a"), "new");
    EXPECT_EQ(folder.names(), Names{"a"});
}

TEST(OutputFile, AnInterruptedRunNeverReplacesAFinishedFile) {
    const TemporaryFolder folder;
    write_file(folder / "a", "finished");
    {
        OutputFile file(folder / "a", {.replace = true});
        put(file, "begun");
        file.finish(Ending::broken_off);
    }
    EXPECT_EQ(text_of(folder / "a"), "finished");
    EXPECT_EQ(text_of(folder / "a.part"), "begun");

    OutputFile file(folder / "b");
    put(file, "begun");
    file.finish(Ending::broken_off);
    EXPECT_EQ(text_of(folder / "b"), "begun");
}

TEST(OutputFile, KeepsAFileCreatedInTheMeantime) {
    const TemporaryFolder folder;
    OutputFile file(folder / "a");
    put(file, "ours");
    write_file(folder / "a", "theirs");
    std::string message;
    EXPECT_EQ(error_of([&] { file.finish(); }, &message), ErrorCode::io);
    EXPECT_NE(message.find("a.part"), std::string::npos) << message;
    EXPECT_EQ(text_of(folder / "a"), "theirs");
    EXPECT_EQ(text_of(folder / "a.part"), "ours");
}

TEST(OutputFile, KeepsTheUsablePartIfNotFinished) {
    const TemporaryFolder folder;
    {
        OutputFile file(folder / "a");
        put(file, "whole");
        file.mark_whole();
        put(file, "cut o");
    }
    EXPECT_EQ(folder.names(), Names{"a.part"});
    EXPECT_EQ(text_of(folder / "a.part"), "whole");
}

TEST(OutputFile, RemovesLeftoversOfAKilledRun) {
    const TemporaryFolder folder;
    write_file(folder / "a.part", "what was left, longer than what comes");
    OutputFile file(folder / "a");
    put(file, "new");
    file.finish();
    EXPECT_EQ(folder.names(), Names{"a"});
    EXPECT_EQ(text_of(folder / "a"), "new");
}

TEST(OutputFile, RenamesLeftoversOfALiveRecording) {
    const TemporaryFolder folder;
    for (const auto* left : {"first", "second"}) {
        write_file(folder / "a.mp4.part", left);
        OutputFile file(folder / "a.mp4", {.replace = true, .once_only = true});
        put(file, "new");
        file.finish();
    }
    EXPECT_EQ(folder.names(), (Names{"a.mp4", "a.rescued-2.mp4", "a.rescued.mp4"}));
    EXPECT_EQ(text_of(folder / "a.rescued.mp4"), "first");
    EXPECT_EQ(text_of(folder / "a.rescued-2.mp4"), "second");
}

TEST(OutputFile, RejectsASecondWriter) {
    const TemporaryFolder folder;
    OutputFile file(folder / "a");
    put(file, "first");
    std::string message;
    EXPECT_EQ(error_of([&] { OutputFile(folder / "a"); }, &message), ErrorCode::io);
    EXPECT_NE(message.find("another run"), std::string::npos) << message;
    file.finish();
    EXPECT_EQ(text_of(folder / "a"), "first");
}

TEST(OutputFile, PreservesPermissions) {
    const TemporaryFolder folder;
    write_file(folder / "a", "old");
    for (const mode_t mode : {0600, 0640, 0755}) {
        ASSERT_EQ(::chmod((folder / "a").c_str(), mode), 0);
        OutputFile file(folder / "a", {.replace = true});
        file.finish();
        EXPECT_EQ(mode_of(folder / "a"), mode);
    }
}

TEST(OutputFile, FollowsLinksToExistingAndMissingFiles) {
    const TemporaryFolder folder;
    write_file(folder / "target", "old");
    ASSERT_EQ(::symlink("target", (folder / "link").c_str()), 0);
    ASSERT_EQ(::symlink("missing", (folder / "dangling").c_str()), 0);
    for (const auto* name : {"link", "dangling"}) {
        OutputFile file(folder / name, {.replace = true});
        put(file, "new");
        file.finish();
    }
    EXPECT_EQ(folder.names(), (Names{"dangling", "link", "missing", "target"}));
    EXPECT_EQ(text_of(folder / "target"), "new");
    EXPECT_EQ(text_of(folder / "missing"), "new");
    EXPECT_TRUE(std::filesystem::is_symlink(folder / "link"));
}

TEST(OutputFile, SupportsFileNamesOfMaximumLength) {
    const TemporaryFolder folder;
    const std::string longest(255, 'n');
    OutputFile file(folder / longest);
    put(file, "text");
    file.finish();
    EXPECT_EQ(folder.names(), Names{longest});
    EXPECT_EQ(error_of([&] { OutputFile(folder / (longest + "n")); }), ErrorCode::io);
}

TEST(OutputFile, StopInterruptsTheWaitForAPipeReader) {
    const TemporaryFolder folder;
    ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
    std::stop_source stop;
    constexpr std::chrono::milliseconds so_that_it_waits{50};  // time to start waiting; an earlier stop gives the same
                                                               // result
    const std::jthread later([&] {
        std::this_thread::sleep_for(so_that_it_waits);
        stop.request_stop();
    });
    EXPECT_EQ(error_of([&] { OutputFile(folder / "pipe", {.stop = stop.get_token()}); }), ErrorCode::io);
}

// Writes 600 bytes that are usable and 600 more to a file that is limited to 1000, as on a full disk; exits with the
// error's code.
[[noreturn]] void outgrow(const std::string& path) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{1000, 1000};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    std::optional<ErrorCode> code;
    {
        OutputFile file(path);
        put(file, std::string(600, 'a'));
        file.mark_whole();
        code = error_of([&] { put(file, std::string(600, 'b')); });
    }
    std::_Exit(code ? static_cast<int>(*code) : 0);
}

TEST(OutputFile, KeepsTheUsablePartOnAFullDisk) {
    const TemporaryFolder folder;
    EXPECT_EXIT(outgrow(folder / "a"), ::testing::ExitedWithCode(static_cast<int>(ErrorCode::io)), "");
    EXPECT_EQ(folder.names(), Names{"a.part"});
    EXPECT_EQ(text_of(folder / "a.part"), std::string(600, 'a'));
}

using Bytes = std::vector<std::uint8_t>;

Bytes noise(std::size_t bytes) {
    std::mt19937 random(5);
    Bytes all(bytes);
    for (auto& byte : all) byte = static_cast<std::uint8_t>(random() | 1);  // never 0, which marks unwritten bytes
    return all;
}

// Returns zeroed memory after a copy between these positions.
Bytes copied(const Bytes& from, std::size_t from_at, std::size_t to_at, std::size_t bytes) {
    Bytes to(to_at + bytes + 200);
    streaming_copy(to.data() + to_at, from.data() + from_at, bytes);
    return to;
}

Bytes wanted(const Bytes& from, std::size_t from_at, std::size_t to_at, std::size_t bytes) {
    Bytes to(to_at + bytes + 200);
    for (std::size_t i = 0; i < bytes; ++i) to[to_at + i] = from[from_at + i];
    return to;
}

TEST(StreamingCopy, CopiesAtAnyAlignment) {
    const auto from = noise(600);
    kit::for_each_instruction_set(Backend::cpu, [&](const std::string& instruction_set) {
        for (std::size_t bytes = 0; bytes < 400; bytes += bytes < 140 ? 1 : 37)
            for (std::size_t to_at = 0; to_at < 130; to_at += kit::brief() ? 13 : 1)
                for (const std::size_t from_at : {0, 1, 16, 63})
                    ASSERT_TRUE(copied(from, from_at, to_at, bytes) == wanted(from, from_at, to_at, bytes))
                        << instruction_set << ": " << bytes << " bytes from " << from_at << " to " << to_at;
    });
}

TEST(StreamingCopy, CopiesFullHdFrames) {
    const std::size_t bytes = 1920 * 1080 * 3;
    const auto from = noise(bytes + 7);
    kit::for_each_instruction_set(Backend::cpu, [&](const std::string& instruction_set) {
        ASSERT_TRUE(copied(from, 7, 5, bytes) == wanted(from, 7, 5, bytes)) << instruction_set;
    });
}

}  // namespace
}  // namespace framewire
