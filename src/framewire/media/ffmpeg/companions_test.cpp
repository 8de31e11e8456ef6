#include "framewire/media/media_testing.hpp"

#include <chrono>
#include <map>
#include <sstream>

namespace framewire {
namespace {

using namespace testing;
using namespace std::chrono_literals;

// Returns packet times in milliseconds per kind of stream, as ffprobe reads them. Empty subtitles, which MP4 inserts,
// are skipped.
std::map<std::string, std::vector<long>> packet_times_of(const TemporaryFolder& folder, const std::string& path) {
    const auto list = folder / "packets.csv";
    EXPECT_EQ(std::system(("timeout 60 ffprobe -v error -show_entries packet=codec_type,pts_time,size -of csv=p=0 " +
                           path + " > " + list)
                              .c_str()),
              0);
    std::map<std::string, std::vector<long>> times;
    std::ifstream lines(list);
    for (std::string line; std::getline(lines, line);) {
        std::replace(line.begin(), line.end(), ',', ' ');
        std::istringstream words(line);
        std::string kind;
        double seconds = 0;
        int bytes = 0;
        if (words >> kind >> seconds >> bytes && (kind != "subtitle" || bytes > 2))
            times[kind].push_back(std::lround(1000 * seconds));
    }
    for (auto& [kind, of_kind] : times) std::sort(of_kind.begin(), of_kind.end());
    return times;
}

// Re-encodes `medium` with a sink that flushes its buffers at the given interval.
void copy_film(const std::string& medium, const std::string& target, std::chrono::milliseconds held_back) {
    const auto source = open_source(medium);
    const auto sink = open_sink(
        target, source->info().shape, source->info().rate,
        {.replace = true, .longest_held_back = held_back, .medium = source->info().medium, .to_the_end = true});
    HostImage image(source->info().shape);
    FrameTime time;
    while (source->read(image.view(), time)) sink->write(std::as_const(image).view(), time);
    sink->finish();
}

struct Film {
    const char *medium, *sound, *subtitles, *ending;
};

class LateStreams : public ::testing::TestWithParam<Film> {};

// The audio starts at 0.8 s and the subtitles at 2 s, in containers that support them.
TEST_P(LateStreams, KeepTheirTimestampsAtAnyFlushInterval) {
    const auto& film = GetParam();
    const TemporaryFolder folder;
    write_file(folder / "s.srt", "1\n00:00:02,000 --> 00:00:03,000\nhello\n");
    const auto medium = folder / film.medium;
    const std::string subtitles = film.subtitles;
    ASSERT_TRUE(ffmpeg(
        "-f lavfi -i testsrc2=size=64x48:rate=25:duration=4 -itsoffset 0.8 -f lavfi -i sine=440:d=2:r=48000 -i " +
        (folder / "s.srt") + " -map 0 -map 1 " + (subtitles.empty() ? "" : "-map 2 -c:s " + subtitles) +
        " -c:v libx264 -bf 2 -c:a " + film.sound + " -ac 2 " + medium));
    const auto in = packet_times_of(folder, medium);
    std::map<std::string, std::vector<long>> seldom;
    for (const auto held_back : {std::chrono::milliseconds(1h), 500ms, 0ms}) {
        const auto out = folder / (std::string("out") + film.ending);
        copy_film(medium, out, held_back);
        const auto times = packet_times_of(folder, out);
        EXPECT_EQ(times.at("video").size(), 100U);
        ASSERT_TRUE(times.contains("audio"));
        const auto begin = times.at("video").front();
        EXPECT_NEAR(static_cast<double>(times.at("audio").front() - begin), 800, 35) << held_back.count();
        EXPECT_EQ(times.contains("subtitle"), !subtitles.empty());
        if (!subtitles.empty()) {
            EXPECT_NEAR(static_cast<double>(times.at("subtitle").front() - begin), 2000, 2);
        }
        if (seldom.empty()) seldom = times;
        EXPECT_EQ(times, seldom) << "flushed every " << held_back.count() << " ms";
    }
}

INSTANTIATE_TEST_SUITE_P(
    All, LateStreams,
    ::testing::Values(Film{"in.mp4", "aac", "mov_text", ".mp4"}, Film{"in.mp4", "ac3", "mov_text", ".mp4"},
                      Film{"in.mp4", "eac3", "mov_text", ".mp4"}, Film{"in.mp4", "mp3", "mov_text", ".mp4"},
                      Film{"in.mkv", "libopus", "", ".mp4"}, Film{"in.ts", "aac", "", ".mp4"},
                      Film{"in.mov", "pcm_s16le", "mov_text", ".mov"}, Film{"in.mkv", "ac3", "srt", ".mkv"},
                      Film{"in.ts", "aac", "", ".ts"}, Film{"in.ts", "mp2", "", ".ts"}));

TEST(LastPicture, KeepsItsDisplayDuration) {
    const TemporaryFolder folder;
    // Files with 10 pictures of 0.04 s and one of 5 s, which is declared by frame durations or only by the total
    // duration.
    ASSERT_TRUE(
        ffmpeg("-f lavfi -i testsrc2=size=64x48:rate=25 -frames:v 11 -c:v libx264 -bf 0 " + (folder / "even.mp4")));
    ASSERT_TRUE(ffmpeg("-i " + (folder / "even.mp4") +
                       " -c copy -bsf:v setts=duration=\"if(gte(N\\,10)\\,5000\\,40)\" " + (folder / "in.mkv")));
    const auto seconds_of = [&](const std::string& path) {
        EXPECT_EQ(std::system(("ffprobe -v error -show_entries format=duration -of csv=p=0 " + path + " > " +
                               (folder / "seconds"))
                                  .c_str()),
                  0);
        double seconds = 0;
        std::ifstream(folder / "seconds") >> seconds;
        return seconds;
    };
    ASSERT_NEAR(seconds_of(folder / "in.mkv"), 5.4, 0.1);
    const auto reading = read_video(folder / "in.mkv");
    EXPECT_FALSE(reading.error) << reading.message;
    ASSERT_EQ(reading.times.size(), 11U);
    EXPECT_NEAR(reading.times.back().duration_seconds, seconds_of(folder / "in.mkv") - 0.4, 0.01);
    for (const std::string ending : {".mp4", ".mov", ".mkv", ".mov:codec=mjpeg"}) {
        const auto out = folder / ("out" + ending);
        copy_film(folder / "in.mkv", out, 500ms);
        const auto path = out.substr(0, out.find(":codec"));
        EXPECT_NEAR(seconds_of(path), seconds_of(folder / "in.mkv"), 0.05) << ending;
        const auto again = read_video(path);
        EXPECT_FALSE(again.error) << ending << " " << again.message;
        EXPECT_EQ(again.frames.size(), 11U) << ending;
    }
}

// In AVI, a chunk of 0 bytes repeats the previous picture.
TEST(LastPicture, IsExtendedByEmptyChunksInAvi) {
    const TemporaryFolder folder;
    ASSERT_TRUE(ffmpeg("-f lavfi -i testsrc2=size=64x48:rate=10:duration=1 -c:v mjpeg " + (folder / "a.avi")));
    auto bytes = read_file(folder / "a.avi");
    // The last three index entries, and their chunks, become empty; the old content becomes a junk chunk.
    const auto find_all = [&](std::string_view text) {
        std::vector<std::size_t> places;
        constexpr std::string_view pictures = "movi";  // after the header, which contains the chunk names too
        for (auto at = std::search(bytes.begin(), bytes.end(), pictures.begin(), pictures.end());
             (at = std::search(at, bytes.end(), text.begin(), text.end())) != bytes.end(); ++at)
            places.push_back(static_cast<std::size_t>(at - bytes.begin()));
        return places;
    };
    const auto chunks = find_all("00dc");
    ASSERT_EQ(chunks.size(), 20U) << "ten pictures, and as many entries of the index";
    const auto set_number = [&](std::size_t at, std::uint32_t number) {
        for (int byte = 0; byte < 4; ++byte)
            bytes[at + static_cast<std::size_t>(byte)] = std::uint8_t(number >> (8 * byte));
    };
    const auto whole = bytes;
    for (std::size_t picture = 7; picture < 10; ++picture) {
        const auto at = chunks[picture];
        const auto size = static_cast<std::uint32_t>(bytes[at + 4] | bytes[at + 5] << 8 | bytes[at + 6] << 16);
        set_number(at + 4, 0);
        std::copy_n("JUNK", 4, bytes.begin() + static_cast<std::ptrdiff_t>(at) + 8);
        set_number(at + 12, size - 8);
        set_number(chunks[10 + picture] + 12, 0);
    }
    write_file(folder / "a.avi", bytes.data(), bytes.size());
    const auto reading = read_video(folder / "a.avi");
    EXPECT_FALSE(reading.error) << reading.message;
    ASSERT_EQ(reading.times.size(), 7U);
    EXPECT_NEAR(reading.times.back().duration_seconds, 0.4, 1e-6);
    write_file(folder / "cut.avi", bytes.data(), bytes.size() / 2);
    EXPECT_EQ(read_video(folder / "cut.avi").error, ErrorCode::source_lost);
    // The file is complete, but the second half of its index points beyond the end.
    bytes = whole;
    for (std::size_t picture = 5; picture < 10; ++picture) set_number(chunks[10 + picture] + 8, 0x7fffff00);
    write_file(folder / "outside.avi", bytes.data(), bytes.size());
    EXPECT_EQ(read_video(folder / "outside.avi").error, ErrorCode::source_lost);
}

}  // namespace
}  // namespace framewire
