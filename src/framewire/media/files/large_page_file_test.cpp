#include "framewire/media/files/large_page_file.hpp"

#include "framewire/media/files/large_page_testing.hpp"
#include "framewire/media/files/output_file.hpp"
#include "framewire/media/media_testing.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <random>
#include <thread>

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
            EXPECT_EQ(pages.write(all.data(), first, 0), first);
            EXPECT_EQ(pages.write(all.data() + first, rest, first), rest);  // across the end of a window
            EXPECT_EQ(file.status().st_size, static_cast<off_t>(all.size()));
            EXPECT_EQ(pages.write(all.data() + 50, mib, 50), mib);  // back, and the length stays
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
        if (pages.write(all.data(), all.size(), 0) != 64 * mib) return 1;
        if (pages.write(all.data(), 2 * mib, 64 * mib) != 0) return 2;
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

int try_output_file(const std::string& folder) {
    if (!mount_large_pages(folder, "200m")) return no_large_pages;
    const ThreadPool threads(LargePageFile::least_threads);
    const OutputFileOptions options{.replace = true, .threads = &threads};
    const auto all = numbered(70 * mib + 5);
    const auto free_bytes = [&] { return std::filesystem::space(folder).free; };
    const auto free_before = free_bytes();
    {
        OutputFile file(folder + "/a", options);
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
    expect_with_large_pages([&] { return try_output_file(folder / ""); });
}

constexpr std::size_t piece_bytes = 6 * mib + 12345;
constexpr int writers = 8;

// Calls body(number) for all, out of order, on `writers` threads.
template <class Body>
void side_by_side(int count, Body&& body) {
    std::vector<int> numbers(static_cast<std::size_t>(count));
    std::iota(numbers.begin(), numbers.end(), 0);
    std::shuffle(numbers.begin(), numbers.end(), std::mt19937(7));
    std::atomic<std::size_t> next = 0;
    std::vector<std::jthread> threads;
    for (int writer = 0; writer < writers; ++writer)
        threads.emplace_back([&] {
            for (std::size_t at = next++; at < numbers.size(); at = next++) body(numbers[at]);
        });
}

TEST(LargePageFile, ThreadsWriteSideBySideWhatOneWrites) {
    constexpr int pieces = 50;  // of 300 MiB, so that windows are unmapped and mapped again
    const TemporaryFolder folder;
    const ThreadPool threads(2);
    const auto all = numbered(pieces * piece_bytes);
    const auto path = folder / "a";
    {
        const File file(path);
        LargePageFile pages(file.descriptor, threads);
        std::atomic<int> failed = 0;
        side_by_side(pieces, [&](int piece) {
            const auto at = static_cast<std::size_t>(piece) * piece_bytes;
            const auto place = static_cast<std::int64_t>(at);
            // One of them by all threads, beside those that write alone.
            const auto put = piece == 20 ? pages.write(all.data() + at, piece_bytes, place)
                                         : pages.write_alone(all.data() + at, piece_bytes, place);
            failed += put != piece_bytes;
        });
        EXPECT_EQ(failed, 0);
        EXPECT_EQ(file.status().st_size, static_cast<off_t>(all.size()));
    }
    EXPECT_TRUE(read_file(path) == all);
}

// What a job does with a file that takes pieces ahead: `pieces` of them behind a header, of which `taken` get their
// turn. Those that are not there by then are written in order.
struct AheadOutput {
    AheadOutput(const std::string& path, const ThreadPool& threads)
        : file(path, {.replace = true, .threads = &threads}), all(numbered(header_bytes + 40 * piece_bytes)) {
        file.write(all.data(), header_bytes);
    }

    const void* piece(int number) const {
        return all.data() + header_bytes + static_cast<std::size_t>(number) * piece_bytes;
    }
    // Gives how many were written ahead.
    int write(int pieces, int taken) {
        std::vector<std::int64_t> places;
        for (int number = 0; number < pieces; ++number) places.push_back(file.place_ahead(piece_bytes));
        std::vector<char> written(static_cast<std::size_t>(pieces));
        side_by_side(pieces, [&](int number) {
            const auto at = static_cast<std::size_t>(number);
            written[at] = file.write_ahead(places[at], piece(number), piece_bytes);
        });
        for (int number = 0; number < taken; ++number) {
            const auto at = static_cast<std::size_t>(number);
            written[at] ? file.take_ahead(places[at], piece_bytes) : file.write(piece(number), piece_bytes);
            file.mark_whole();
        }
        return static_cast<int>(std::ranges::count(written, 1));
    }
    // Whether a file has the header and so many pieces, and no more.
    bool is_in(const std::string& path, int pieces) const {
        const auto bytes = read_file(path);
        return bytes.size() == header_bytes + static_cast<std::size_t>(pieces) * piece_bytes &&
               std::equal(bytes.begin(), bytes.end(), all.begin());
    }

    static constexpr std::size_t header_bytes = 192;
    OutputFile file;
    Bytes all;
};

int try_ahead(const std::string& folder) {
    if (!mount_large_pages(folder, "200m")) return no_large_pages;
    const ThreadPool threads(writers);
    const auto path = folder + "/a";
    {
        AheadOutput output(path, threads);
        if (output.file.pieces_at_once(piece_bytes) != writers) return 1;
        if (output.file.pieces_at_once(LargePageFile::least_bytes - 1) != 0) return 2;
        if (output.write(20, 20) != 20) return 3;
        if (output.file.bytes() != static_cast<std::int64_t>(output.header_bytes + 20 * piece_bytes)) return 4;
        output.file.finish();
        if (!output.is_in(path, 20)) return 5;
    }
    std::filesystem::remove(path);
    {  // pieces that are there never get their turn: in a file that is completed, and in one that is not
        AheadOutput output(path, threads);
        if (output.write(20, 7) != 20) return 6;
        output.file.finish();
        if (!output.is_in(path, 7)) return 7;
    }
    std::filesystem::remove(path);
    { AheadOutput(path, threads).write(20, 9); }
    if (const AheadOutput other(folder + "/b", threads); !other.is_in(path + ".part", 9)) return 8;
    return 0;
}

TEST(LargePageFile, PiecesAreWrittenBeforeTheirTurn) {
    const TemporaryFolder folder;
    expect_with_large_pages([&] { return try_ahead(folder / ""); });
}

// 240 MiB where 150 fit, of which two windows are taken ahead.
int try_ahead_without_room(const std::string& folder) {
    if (!mount_large_pages(folder, "150m")) return no_large_pages;
    const ThreadPool threads(writers);
    std::string message;
    try {
        AheadOutput output(folder + "/a", threads);
        output.write(40, 40);
        return 1;
    } catch (const Error& error) {
        if (error.code() != ErrorCode::io) return 2;
        message = error.what();
    }
    if (message.find("No space left on device") == message.npos) return 3;
    const auto kept = read_file(folder + "/a.part");
    if (kept.size() % piece_bytes != AheadOutput::header_bytes || kept.size() < 128 * mib) return 4;
    const auto all = numbered(AheadOutput::header_bytes + 40 * piece_bytes);
    return std::equal(kept.begin(), kept.end(), all.begin()) ? 0 : 5;
}

TEST(LargePageFile, PiecesBeforeAFullFileSystemAreThere) {
    const TemporaryFolder folder;
    expect_with_large_pages([&] { return try_ahead_without_room(folder / ""); });
}

TEST(LargePageFile, OtherFilesTakeNoPiecesAhead) {
    const TemporaryFolder folder;
    const ThreadPool threads(writers);
    EXPECT_EQ(OutputFile(folder / "a", {.threads = &threads}).pieces_at_once(piece_bytes), 0);
}

TEST(LargePageFile, APieceIsTakenAtItsTurnOnly) {
    const TemporaryFolder folder;
    OutputFile file(folder / "a");
    const auto first = file.place_ahead(100);
    const auto second = file.place_ahead(100);
    EXPECT_EQ(error_of([&] { file.take_ahead(second, 100); }), ErrorCode::internal);
    file.take_ahead(first, 100);
    file.take_ahead(second, 100);
    EXPECT_EQ(file.bytes(), 200);
}

}  // namespace large_page_file_test
}  // namespace framewire
