#include "framewire/media/media_testing.hpp"
#include "framewire/media/sinks/pieces/piece_names.hpp"

#include <algorithm>

namespace framewire {
namespace segmented_sink_test {

using namespace testing;

constexpr Shape shape{1, 48, 64, 3};

// Each frame has a different gray value that identifies it.
Bytes numbered_frame(int number) {
    return Bytes(static_cast<std::size_t>(shape.bytes()), static_cast<std::uint8_t>(20 + number));
}

// Frames at 10 per second.
void record(const std::string& target, int frames, const SegmentOptions& segments) {
    const auto sink = open_sink(target, shape, {10, 1}, {.segments = segments});
    for (int number = 0; number < frames; ++number)
        sink->write(view_of(numbered_frame(number), shape), {number, number / 10.0, {}});
    sink->finish();
}

// Sorted by the times in their names.
std::vector<std::string> pieces(const TemporaryFolder& folder) {
    std::vector<std::string> paths;
    for (const auto& name : folder.names()) paths.push_back(folder / name);
    return paths;
}

TEST(Segments, ContainEachFrameOnceAndAreNamedByTime) {
    const TemporaryFolder folder;
    record(folder / "cam-%Y%m%d-%H%M%S.y4m", 75, {.seconds = 2});
    const auto paths = pieces(folder);
    ASSERT_EQ(paths.size(), 4U);
    int next = 0;
    for (const auto& path : paths) {
        const auto reading = read_video(path);
        EXPECT_FALSE(reading.error) << reading.message;
        EXPECT_EQ(reading.frames.size(), next < 60 ? 20U : 15U);
        for (const auto& frame : reading.frames) EXPECT_EQ(frame, numbered_frame(next++));
        EXPECT_EQ(reading.times.front().seconds, 0);
    }
    EXPECT_EQ(next, 75);
}

TEST(Segments, AreNumberedIfTimesAreEqual) {
    const TemporaryFolder folder;
    record(folder / "cam-%Y.y4m", 45, {.seconds = 1});
    EXPECT_EQ(folder.names().size(), 5U);
}

TEST(Segments, OldestAreRemovedAndOtherFilesStay) {
    const TemporaryFolder folder;
    write_file(folder / "cam-notes.y4m", "mine");
    write_file(folder / "cam-20200101-000000.y4m", std::string(100'000, 'x'));
    write_file(folder / "cam-20200101-000000.mkv", "another pattern's");
    std::filesystem::last_write_time(folder / "cam-20200101-000000.y4m",
                                     std::filesystem::file_time_type::clock::now() - std::chrono::hours(48));
    const auto target = folder / "cam-%Y%m%d-%H%M%S.y4m";
    record(target, 20, {.seconds = 1, .keep_seconds = 24 * 3600});
    auto names = folder.names();
    EXPECT_EQ(names.size(), 4U);
    EXPECT_FALSE(std::filesystem::exists(folder / "cam-20200101-000000.y4m"));
    // A segment has ten frames of 9222 bytes.
    record(target, 60, {.seconds = 1, .keep_bytes = 200'000});
    EXPECT_EQ(PieceNames::parse(target).existing().size(), 2U);
    EXPECT_TRUE(std::filesystem::exists(folder / "cam-notes.y4m"));
    EXPECT_TRUE(std::filesystem::exists(folder / "cam-20200101-000000.mkv"));
    // The newest stays whatever its size.
    record(target, 20, {.seconds = 1, .keep_bytes = 1});
    EXPECT_EQ(PieceNames::parse(target).existing().size(), 1U);
}

#ifdef FRAMEWIRE_FFMPEG

TEST(Segments, RejectOtherTargets) {
    const TemporaryFolder folder;
    for (const auto* target : {"a-%H.png", "a-%H.m3u8"})
        EXPECT_EQ(error_of([&] { record(folder / target, 1, {.seconds = 1}); }), ErrorCode::usage) << target;
    EXPECT_EQ(error_of([&] { record("-", 1, {.seconds = 1}); }), ErrorCode::usage);
    EXPECT_EQ(error_of([&] { record(folder / "a.y4m", 1, {.seconds = 1}); }), ErrorCode::usage) << "no time in it";
    EXPECT_TRUE(folder.names().empty());
}

TEST(Segments, StartWithAKeyFrameAndPlay) {
    const TemporaryFolder folder;
    record(folder / "cam-%H%M%S.mp4", 35, {.seconds = 1});
    const auto paths = pieces(folder);
    ASSERT_EQ(paths.size(), 4U);
    int next = 0;
    for (const auto& path : paths) {
        const auto command = "ffprobe -v error -read_intervals %+#1 -show_entries packet=flags -of csv=p=0 " + path +
                             " > " + path + ".probe";
        ASSERT_EQ(std::system(command.c_str()), 0);
        const auto probe = read_file(path + ".probe");
        EXPECT_EQ(probe.empty() ? '?' : static_cast<char>(probe[0]), 'K') << path;
        const auto reading = read_video(path);
        EXPECT_FALSE(reading.error) << reading.message;
        for (const auto& frame : reading.frames) EXPECT_GE(psnr(frame, numbered_frame(next++)), 38) << next;
    }
    EXPECT_EQ(next, 35);
}

#endif

}  // namespace segmented_sink_test
}  // namespace framewire
