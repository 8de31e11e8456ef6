#include "framewire/media/files/large_page_file.hpp"

#include "framewire/media/files/output_file.hpp"
#include "framewire/media/media_testing.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>

namespace framewire {
namespace large_page_file_test {

using namespace framewire::testing;

constexpr std::size_t mib = 1 << 20;

// Each page of it begins with its number, and otherwise has one value.
Bytes numbered(std::size_t bytes) {
    constexpr std::size_t page = 4096;
    Bytes all(bytes);
    for (std::size_t at = 0; at < bytes; at += page) {
        std::memset(all.data() + at, static_cast<int>(at / page % 251), std::min(page, bytes - at));
        std::memcpy(all.data() + at, &at, std::min(sizeof at, bytes - at));
    }
    return all;
}

struct File {
    explicit File(const std::string& path) : descriptor(::open(path.c_str(), O_RDWR | O_CREAT, 0600)) {}
    ~File() { ::close(descriptor); }
    struct stat status() const {
        struct stat status {};
        ::fstat(descriptor, &status);
        return status;
    }
    int descriptor;
};

// Files without large pages are written the same way, only not in less time.
TEST(LargePageFile, WritesAtAnyPlaceAndIsAsLongAsWhatWasWritten) {
    const TemporaryFolder folder;
    const ThreadPool threads(4);
    const auto all = numbered(70 * mib + 12345);
    {
        const File file(folder / "a");
        ASSERT_EQ(::ftruncate(file.descriptor, 100), 0);
        {
            LargePageFile pages(file.descriptor, threads);
            const std::size_t first = 3 * mib + 1, rest = all.size() - first;
            EXPECT_EQ(pages.write(all.data(), first, 0, 100), first);
            EXPECT_EQ(pages.write(all.data() + first, rest, first, first), rest);  // across the end of a window
            EXPECT_EQ(file.status().st_size, static_cast<off_t>(all.size()));
            EXPECT_EQ(pages.write(all.data() + 50, mib, 50, all.size()), mib);  // back, and the length stays
            EXPECT_EQ(file.status().st_size, static_cast<off_t>(all.size()));
        }
        EXPECT_EQ(file.status().st_size, static_cast<off_t>(all.size()));
        EXPECT_LE(file.status().st_blocks * 512, static_cast<blkcnt_t>(all.size() + 2 * mib)) << "pages were kept";
    }
    EXPECT_TRUE(read_file(folder / "a") == all);
}

// Writes 66 MiB where 65 fit, as on a full disk: as much as one window has. Gives 0, or the number of what is not as it
// has to be.
int try_to_outgrow(const std::string& path) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{65 * mib, 65 * mib};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const ThreadPool threads(2);
    auto all = numbered(66 * mib);
    const File file(path);
    {
        LargePageFile pages(file.descriptor, threads);
        if (pages.write(all.data(), all.size(), 0, 0) != 64 * mib) return 1;
        if (pages.write(all.data(), 2 * mib, 64 * mib, 64 * mib) != 0) return 2;
    }
    if (file.status().st_size != static_cast<off_t>(64 * mib)) return 3;
    all.resize(64 * mib);
    return read_file(path) == all ? 0 : 4;
}

TEST(LargePageFile, SaysHowMuchThereWasRoomFor) {
    const TemporaryFolder folder;
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(std::_Exit(try_to_outgrow(folder / "a")), ::testing::ExitedWithCode(0), "");
}

TEST(LargePageFile, OtherFilesAreNone) {
    const TemporaryFolder folder;
    EXPECT_FALSE(LargePageFile::is(File(folder / "a").descriptor));
}

constexpr int no_mount = 99;

// On a file system with large pages that nobody else sees. Gives 0, no_mount, or the number of what is not as it has to
// be.
int try_output_file(const std::string& folder) {
    if (::unshare(CLONE_NEWNS) != 0 || ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount("none", folder.c_str(), "tmpfs", 0, "huge=always,size=200m") != 0)
        return no_mount;
    const ThreadPool threads(LargePageFile::least_threads);
    const OutputFileOptions options{.replace = true, .threads = &threads};
    const auto all = numbered(70 * mib + 5);
    const auto free_bytes = [&] { return std::filesystem::space(folder).free; };
    const auto free_before = free_bytes();
    {
        OutputFile file(folder + "/a", options);
        if (!LargePageFile::is(File(folder + "/a.part").descriptor)) return no_mount;  // a kernel without
        file.write(all.data(), 100);
        file.write(all.data() + 100, 60 * mib);
        if (free_before - free_bytes() < 64 * mib) return 1;  // pages were not taken ahead, so they were not mapped
        file.write(all.data() + 100 + 60 * mib, all.size() - 100 - 60 * mib);
        file.seek(0);
        file.write(all.data(), 192);
        file.finish();
        if (file.bytes() != static_cast<std::int64_t>(all.size())) return 2;
    }
    if (read_file(folder + "/a") != all) return 3;
    if (free_before - free_bytes() > all.size() + 4 * mib) return 4;  // pages that were taken ahead were kept
    std::filesystem::remove(folder + "/a");
    // 210 MiB where 200 fit: an error, and what is whole is kept.
    std::optional<ErrorCode> code;
    {
        OutputFile file(folder + "/b", options);
        code = error_of([&] {
            for (int piece = 0; piece < 3; ++piece) {
                file.write(all.data(), 70 * mib);
                file.mark_whole();
            }
        });
    }
    if (code != ErrorCode::io) return 5;
    const auto kept = read_file(folder + "/b.part");
    if (kept.size() != 140 * mib) return 6;
    return std::memcmp(kept.data() + 70 * mib, all.data(), 70 * mib) == 0 ? 0 : 7;
}

TEST(LargePageFile, OutputFilesAreWrittenByManyThreads) {
    const TemporaryFolder folder;
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    static int code;
    EXPECT_EXIT(
        std::_Exit(try_output_file(folder / "")),
        [](int status) {
            code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
            return code == 0 || code == no_mount;
        },
        "");
    if (code == no_mount)
        GTEST_SKIP() << "no file system with large pages: mounting in a namespace of its own is not permitted here";
}

}  // namespace large_page_file_test
}  // namespace framewire
