// Streams and metadata that accompany the video (sound, subtitles, chapters, tags), checked with ffprobe.
#include "e2e/program.hpp"
#include "e2e/shell.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <tuple>

namespace framewire::e2e {
namespace {

Result run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"run", "--backend", "cpu", "--progress", "none"});
    return run_framewire(std::move(arguments));
}

// Film of six seconds with a beep each second, during which the picture is white.
const std::string pictures =
    "-f lavfi -i \"color=black:s=64x48:r=25:d=6,drawbox=t=fill:c=white:enable='lt(mod(t,1),0.04)'\"";
const std::string beeps = "-f lavfi -i \"aevalsrc='sin(2*PI*1000*t)*lt(mod(t,1),0.04)':s=48000:d=6\"";

// Writes a film with sound, subtitles, chapters and tags.
void make_film(const TemporaryFolder& folder, const std::string& path, const std::string& how) {
    std::ofstream(folder / "words.srt")
        << "1\n00:00:01,000 --> 00:00:02,000\nhello\n\n2\n00:00:03,000 --> 00:00:04,000\nworld\n";
    std::ofstream(folder / "chapters.txt")
        << ";FFMETADATA1\ntitle=A film\n[CHAPTER]\nTIMEBASE=1/1000\nSTART=0\nEND=2000\n"
           "title=One\n[CHAPTER]\nTIMEBASE=1/1000\nSTART=2000\nEND=6000\ntitle=Two\n";
    ASSERT_TRUE(
        ffmpeg(pictures + " " + beeps + " -i " + (folder / "words.srt") + " -i " + (folder / "chapters.txt") +
               " -map 0 -map 1 -map 2 -map_metadata 3 -metadata creation_time=2020-02-02T10:00:00Z -c:v libx264 " +
               how + " " + path));
}

// Returns the times in seconds at which the sound becomes loud.
std::vector<double> beeps_in(const std::string& path) {
    std::istringstream lines(
        printed_by("ffmpeg -nostdin -hide_banner -nostats -i " + path +
                   " -af silencedetect=n=0.1:d=0.3 -f null - 2>&1 | grep -o 'silence_end: [0-9.]*' | sed 's/.*: //'"));
    std::vector<double> times;
    for (double time = 0; lines >> time;) times.push_back(time);
    return times;
}

// Returns the times in seconds of the white frames.
std::vector<double> flashes_in(const std::string& path) {
    std::istringstream lines(printed_by(
        "ffprobe -v error -f lavfi -i 'movie=" + path +
        ",signalstats' -show_entries frame=pts_time:frame_tags=lavfi.signalstats.YAVG -of csv=p=0 | sed 's/,/ /g'"));
    std::vector<double> times;
    for (std::string line; std::getline(lines, line);) {
        double time = 0, brightness = 0;
        if (std::istringstream(line) >> time >> brightness && brightness > 128) times.push_back(time);
    }
    return times;
}

void expect_in_step(const std::string& path, std::size_t count) {
    const auto seen = flashes_in(path), heard = beeps_in(path);
    ASSERT_EQ(seen.size(), count) << path;
    // The first beep is at the very beginning, so no silence precedes it.
    for (std::size_t at = 1; at < count; ++at)
        EXPECT_TRUE(std::ranges::any_of(heard, [&](double time) { return std::abs(time - seen[at]) <= 0.04; }))
            << path << ": no beep at " << seen[at];
}

// Returns the hashes of the subtitles, except the empty ones that MP4 stores between them.
std::vector<std::string> words_in(const std::string& path) {
    std::istringstream lines(probed(path, "packet=size,data_hash", "-select_streams s -show_data_hash md5"));
    std::vector<std::string> words;
    for (std::string line; std::getline(lines, line);)
        if (!line.starts_with("2,")) words.push_back(line);
    EXPECT_EQ(words.size(), 2U) << path;
    return words;
}

struct Film {
    const char *ending, *how;
};

class Companions : public testing::TestWithParam<Film> {};

TEST_P(Companions, AreCopiedToTheOutput) {
    const TemporaryFolder folder;
    const std::string ending = GetParam().ending;
    make_film(folder, folder / ("in" + ending), GetParam().how);
    if (HasFatalFailure()) return;
    const auto made =
        run({"-i", folder / ("in" + ending), "-f", "adjust=brightness=1", "-o", folder / ("out" + ending)});
    ASSERT_EQ(made.code, 0) << made.err;
    const auto output = folder / ("out" + ending);
    EXPECT_EQ(probed(output, "stream=codec_type,codec_name", "-select_streams a"),
              probed(folder / ("in" + ending), "stream=codec_type,codec_name", "-select_streams a"));
    EXPECT_EQ(words_in(output), words_in(folder / ("in" + ending)));
    // The output has all of the sound, except what precedes the first frame.
    const std::string hashes = "-select_streams a -show_data_hash md5";
    const auto sound = probed(output, "packet=data_hash", hashes);
    const auto all = probed(folder / ("in" + ending), "packet=data_hash", hashes);
    EXPECT_TRUE(all.ends_with(sound));
    EXPECT_LE(std::count(all.begin(), all.end(), '\n'), std::count(sound.begin(), sound.end(), '\n') + 2);
    EXPECT_EQ(probed(output, "format_tags=title"), "A film\n");
    EXPECT_NE(probed(output, "format_tags=creation_time").find("2020-02-02T10:00:00"), std::string::npos);
    EXPECT_NEAR(std::stod(probed(output, "chapter=start_time").substr(9)), 2, 0.05);
    EXPECT_NE(probed(output, "chapter=start_time:chapter_tags=title").find("Two"), std::string::npos);
    expect_in_step(output, 6);
}

INSTANTIATE_TEST_SUITE_P(Containers, Companions,
                         testing::Values(Film{".mp4", "-c:a aac -c:s mov_text"}, Film{".mkv", "-c:a libopus -c:s srt"},
                                         Film{".mov", "-c:a pcm_s16le -c:s mov_text"}));

TEST(CompanionRules, NoAudioOmitsOnlyTheAudio) {
    const TemporaryFolder folder;
    make_film(folder, folder / "in.mkv", "-c:a aac -c:s srt");
    ASSERT_EQ(run({"-i", folder / "in.mkv", "-o", folder / "out.mkv", "--no-audio"}).code, 0);
    EXPECT_EQ(probed(folder / "out.mkv", "stream=codec_type"), "video\nsubtitle\n");
}

TEST(CompanionRules, ReportsStreamsThatTheContainerCannotHold) {
    const TemporaryFolder folder;
    make_film(folder, folder / "in.mkv", "-c:a pcm_s16le -c:s srt");
    const auto made = run({"-i", folder / "in.mkv", "-o", folder / "out.mp4"});
    ASSERT_EQ(made.code, 0) << made.err;
    EXPECT_NE(made.err.find("audio (pcm_s16le)"), std::string::npos) << made.err;
    EXPECT_NE(made.err.find("subtitles (subrip)"), std::string::npos) << made.err;
    EXPECT_EQ(probed(folder / "out.mp4", "stream=codec_type").substr(0, 6), "video\n");
}

TEST(CompanionRules, AudioEndsWithTheLastRequestedFrame) {
    const TemporaryFolder folder;
    make_film(folder, folder / "in.mp4", "-c:a aac -c:s mov_text");
    ASSERT_EQ(run({"-i", folder / "in.mp4", "-o", folder / "out.mp4", "--frames", "50"}).code, 0);
    EXPECT_NEAR(std::stod(probed(folder / "out.mp4", "stream=duration", "-select_streams a")), 2, 0.05);
    expect_in_step(folder / "out.mp4", 2);
}

// An annotated video replaces the clip, so it keeps the clip's sound.
TEST(CompanionRules, AnnotatedVideosKeepTheAudio) {
    const TemporaryFolder folder;
    make_film(folder, folder / "in.mp4", "-c:a aac -c:s mov_text");
    const auto detect = [&](std::vector<std::string> more) {
        std::vector<std::string> arguments{"detect", "--backend", "cpu", "-i", folder / "in.mp4", "-o", "-"};
        arguments.insert(arguments.end(), more.begin(), more.end());
        return run_framewire(arguments);
    };
    const auto made = detect({"--annotate", folder / "seen.mp4", "--mask", folder / "mask.mkv"});
    ASSERT_EQ(made.code, 0) << made.err;
    EXPECT_EQ(words_in(folder / "seen.mp4"), words_in(folder / "in.mp4"));
    EXPECT_EQ(probed(folder / "seen.mp4", "format_tags=title"), "A film\n");
    expect_in_step(folder / "seen.mp4", 6);
    EXPECT_EQ(probed(folder / "mask.mkv", "stream=codec_type"), "video\n") << "a mask must not have audio";
    ASSERT_EQ(detect({"--annotate", folder / "quiet.mkv", "--no-audio", "--frames", "30"}).code, 0);
    EXPECT_EQ(probed(folder / "quiet.mkv", "stream=codec_type", "-select_streams a"), "");
    EXPECT_EQ(detect({"--no-audio"}).code, 2) << "of --annotate";
}

// `ffmpeg -ss 1 -t 3` gives the expected chapters.
TEST(CompanionRules, TimeRangesKeepTheirChapters) {
    const TemporaryFolder folder;
    for (const std::string ending : {".mp4", ".mkv"}) {
        make_film(folder, folder / ("in" + ending),
                  std::string("-c:a aac -c:s ") + (ending == ".mp4" ? "mov_text" : "srt"));
        ASSERT_EQ(
            run({"-i", folder / ("in" + ending), "-o", folder / ("out" + ending), "--start", "1", "--duration", "3"})
                .code,
            0);
        std::istringstream chapters(
            probed(folder / ("out" + ending), "chapter=start_time,end_time:chapter_tags=title"));
        for (const auto& [start, end, title] : {std::tuple{0.0, 1.0, "One"}, {1.0, 3.0, "Two"}}) {
            std::string from, to, name;
            ASSERT_TRUE(std::getline(chapters, from, ',') && std::getline(chapters, to, ',') &&
                        std::getline(chapters, name))
                << ending;
            EXPECT_NEAR(std::stod(from), start, 0.03) << ending;
            EXPECT_NEAR(std::stod(to), end, 0.03) << ending;
            EXPECT_EQ(name, title) << ending;
        }
        EXPECT_NEAR(std::stod(probed(folder / ("out" + ending), "format=duration")), 3, 0.05) << ending;
    }
    EXPECT_EQ(probed(folder / "out.mkv", "format_tags=title"), "A film\n");
}

TEST(CompanionRules, SegmentsHaveTheirOwnAudio) {
    const TemporaryFolder folder;
    make_film(folder, folder / "in.mp4", "-c:a aac -c:s mov_text");
    std::filesystem::create_directory(folder / "p");
    const auto made = run({"-i", folder / "in.mp4", "-o", folder / "p/a-%H%M%S.mp4", "--segment-time", "2s"});
    ASSERT_EQ(made.code, 0) << made.err;
    int pieces = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder / "p")) {
        ++pieces;
        EXPECT_NEAR(std::stod(probed(entry.path(), "stream=duration", "-select_streams a")), 2, 0.05);
        expect_in_step(entry.path(), 2);
    }
    EXPECT_EQ(pieces, 3);
}

// Returns the number of sound bytes that FFmpeg decodes to one channel of 16 bits.
std::size_t decoded_sound_bytes(const std::string& path) {
    const auto count = printed_by("ffmpeg -nostdin -v quiet -i '" + path + "' -map 0:a -ac 1 -f s16le - | wc -c");
    return std::strtoul(count.c_str(), nullptr, 10);
}

// Each codec's sound is copied or reported as left out, and no combination of codec and container ends the job.
class SoundCodecs : public testing::TestWithParam<const char*> {};

TEST_P(SoundCodecs, AreCopiedOrReportedAsOmitted) {
    const TemporaryFolder folder;
    const std::string codec = GetParam();
    for (const std::string ending : {".mkv", ".ts"}) {
        const auto medium = folder / ("in" + ending);
        if (!ffmpeg("-f lavfi -i testsrc2=size=32x32:rate=10:duration=2 -f lavfi -i sine=440:d=2:r=48000 -c:v libx264 "
                    "-c:a " +
                    codec + " -ac 2 -strict -2 " + medium + " 2>/dev/null"))
            continue;
        const auto before = decoded_sound_bytes(medium);
        for (const std::string into : {".mp4", ".mov", ".mkv", ".ts", ".webm", ".avi", ".m3u8", ".gif"}) {
            const auto output = folder / ("out" + into);
            const auto made = run({"-y", "-i", medium, "-o", output});
            ASSERT_EQ(made.code, 0) << codec << " " << ending << " " << into << ": " << made.err;
            const bool said = made.err.find("left out") != std::string::npos;
            const bool heard = before > 0 && decoded_sound_bytes(output) > before * 9 / 10;
            EXPECT_TRUE(said != heard) << codec << " " << ending << " into " << into << ": said " << said << ", heard "
                                       << heard << "; " << made.err;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(All, SoundCodecs,
                         testing::Values("aac", "mp2", "libmp3lame", "ac3", "eac3", "flac", "libopus", "libvorbis",
                                         "alac", "pcm_s16le", "pcm_s24be", "truehd", "dca", "wavpack"));

// Recorders and DVRs write files whose clock restarts in the middle.
TEST(Splices, AudioStaysInSyncAcrossASplice) {
    const TemporaryFolder folder;
    for (const std::string part : {"1", "2"})
        ASSERT_TRUE(
            ffmpeg("-f lavfi -i testsrc2=size=64x48:rate=25:duration=4 -f lavfi -i "
                   "\"aevalsrc='sin(2*PI*1000*t)*between(mod(t,2),1,1.1)':s=48000:d=4\" -c:v libx264 -g 25 -c:a mp2 "
                   "-output_ts_offset " +
                   std::string(part == "1" ? "3600" : "0") + " -f mpegts " + (folder / ("s" + part + ".ts"))));
    ASSERT_EQ(printed_by("cat " + (folder / "s1.ts") + " " + (folder / "s2.ts") + " " + (folder / "s1.ts") + " > " +
                         (folder / "c.ts")),
              "");
    std::ofstream(folder / "list.m3u8") << "#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:5\n#EXTINF:4.0,\ns1.ts\n"
                                           "#EXT-X-DISCONTINUITY\n#EXTINF:4.0,\ns2.ts\n#EXT-X-DISCONTINUITY\n"
                                           "#EXTINF:4.0,\ns1.ts\n#EXT-X-ENDLIST\n";
    for (const std::string medium : {"c.ts", "list.m3u8"})
        for (const std::string ending : {".mkv", ".mp4"}) {
            const auto output = folder / ("out" + ending);
            const auto made = run({"-y", "-i", folder / medium, "-o", output});
            ASSERT_EQ(made.code, 0) << medium << ending << made.err;
            EXPECT_EQ(std::stoi(probed(output, "stream=nb_read_frames", "-select_streams v -count_frames")), 300)
                << medium << ending;
            EXPECT_NEAR(std::stod(probed(output, "format=duration")), 12, 0.15) << medium << ending;
            const auto heard = beeps_in(output);
            for (const double second : {1.0, 3.0, 5.0, 7.0, 9.0, 11.0})
                EXPECT_TRUE(std::ranges::any_of(heard, [&](double time) { return std::abs(time - second) < 0.08; }))
                    << medium << ending << ": no beep at " << second;
        }
}

TEST(Splices, LostPacketsAreReportedAsDamage) {
    const TemporaryFolder folder;
    ASSERT_TRUE(ffmpeg("-f lavfi -i testsrc2=size=320x240:rate=25:duration=4 -c:v libx264 -g 25 -f mpegts " +
                       (folder / "a.ts")));
    ASSERT_EQ(printed_by("sh -c '(head -c 94000 " + (folder / "a.ts") + "; tail -c +103401 " + (folder / "a.ts") +
                         ") > " + (folder / "lost.ts") + "'"),
              "");
    EXPECT_EQ(run({"-i", folder / "lost.ts", "-o", folder / "o.mkv"}).code, 69);
}

TEST(TimeCode, MatchesTheFirstOutputFrame) {
    const TemporaryFolder folder;
    ASSERT_TRUE(
        ffmpeg("-f lavfi -i testsrc2=size=64x48:rate=25:duration=4 -f lavfi -i sine=440:d=4 -timecode 10:00:59:20 "
               "-c:v libx264 -c:a aac " +
               (folder / "in.mov")));
    const auto code_of = [](const std::string& path) {
        const auto said = probed(path, "stream_tags=timecode:format_tags=timecode");
        const auto at = said.find(':');
        return at == std::string::npos || at < 2 ? said : said.substr(at - 2, 11);
    };
    for (const std::string ending : {".mov", ".mp4", ".mkv"}) {
        const auto output = folder / ("out" + ending);
        const auto made = run({"-y", "-i", folder / "in.mov", "-f", "gray", "-o", output});
        ASSERT_EQ(made.code, 0) << made.err;
        EXPECT_EQ(code_of(output), "10:00:59:20") << ending;
        EXPECT_EQ(made.err.find("left out"), std::string::npos) << made.err;
        ASSERT_EQ(run({"-y", "-i", folder / "in.mov", "-o", output, "--start", "1.2"}).code, 0);
        EXPECT_EQ(code_of(output), "10:01:01:00") << ending << ": expected the time code of frame 30";
        EXPECT_EQ(probed(output, "frame=pts", "-select_streams v -count_frames").empty(), false);
    }
    for (const std::string ending : {".ts", ".webm", ".avi", ".m3u8"}) {
        const auto made = run({"-y", "-i", folder / "in.mov", "-o", folder / ("out" + ending)});
        EXPECT_EQ(made.code, 0) << made.err;
        EXPECT_NE(made.err.find("time code (10:00:59:20)"), std::string::npos) << ending << made.err;
    }
}

TEST(CompanionRules, ReportsOtherStreamsInTheFile) {
    const TemporaryFolder folder;
    ASSERT_TRUE(ffmpeg("-f lavfi -i testsrc2=size=64x48:rate=25:duration=1 -frames:v 1 " + (folder / "cover.png")));
    ASSERT_TRUE(ffmpeg("-f lavfi -i testsrc2=size=64x48:rate=25:duration=1 -attach " + (folder / "cover.png") +
                       " -metadata:s:t mimetype=application/x-truetype-font -c:v libx264 -metadata:s:v language=fre " +
                       (folder / "in.mkv")));
    const auto made = run({"-i", folder / "in.mkv", "-o", folder / "out.mkv"});
    EXPECT_EQ(made.code, 0) << made.err;
    EXPECT_NE(made.err.find("an attachment"), std::string::npos) << made.err;
    EXPECT_EQ(probed(folder / "out.mkv", "stream_tags=language", "-select_streams v"), "fre\n");
}

TEST(Properties, PixelAspectAndColoursArePreserved) {
    const TemporaryFolder folder;
    ASSERT_TRUE(
        ffmpeg("-f lavfi -i testsrc2=size=72x58:rate=25:duration=1 -vf setsar=16/15,format=yuv420p "
               "-colorspace bt709 -color_primaries bt709 -color_trc bt709 -color_range tv -c:v libx264 -qp 0 " +
               (folder / "in.mp4")));
    ASSERT_EQ(run({"-i", folder / "in.mp4", "-o", folder / "out.mp4"}).code, 0);
    const std::string what = "stream=sample_aspect_ratio,color_space,color_transfer,color_primaries,color_range";
    EXPECT_EQ(probed(folder / "out.mp4", what), probed(folder / "in.mp4", what));
    EXPECT_GT(psnr(folder / "out.mp4", folder / "in.mp4", "average"), 38);
}

// Players must show the same shape. The rules are those of FFmpeg's filters, except for square pixels.
TEST(Properties, PixelAspectFollowsFilters) {
    const TemporaryFolder folder;
    ASSERT_TRUE(ffmpeg("-f lavfi -i testsrc2=size=72x58:rate=25 -frames:v 2 -vf setsar=16/15 -c:v libx264 " +
                       (folder / "in.mp4")));
    for (const auto& [filter, ffmpegs] : {std::pair{"scale=36:58", "scale=36:58"},
                                          {"rotate=90", "transpose=clock"},
                                          {"flip,crop=40:30:2:2", "hflip,crop=40:30:2:2"}}) {
        const auto ours = folder / "ours.y4m", theirs = folder / "theirs.y4m";
        ASSERT_EQ(run({"-y", "-i", folder / "in.mp4", "-f", filter, "-o", ours}).code, 0) << filter;
        ASSERT_TRUE(ffmpeg("-i " + (folder / "in.mp4") + " -vf " + ffmpegs + " " + theirs));
        const std::string what = "stream=width,height,sample_aspect_ratio";
        EXPECT_EQ(probed(ours, what), probed(theirs, what)) << filter;
    }
    ASSERT_EQ(run({"-y", "-i", folder / "ours.y4m", "-o", folder / "again.mp4"}).code, 0);
    EXPECT_EQ(probed(folder / "again.mp4", "stream=sample_aspect_ratio"), "16:15\n") << "y4m must preserve it, too";
    const auto askew = run({"-y", "-i", folder / "in.mp4", "-f", "rotate=10", "-o", folder / "askew.mp4"});
    EXPECT_NE(askew.err.find("rotated frames are written with square pixels"), std::string::npos) << askew.err;
    const auto image = run({"-i", folder / "in.mp4", "--frames", "1", "-o", folder / "image.png"});
    EXPECT_NE(image.err.find("correct this with 'scale=iw*16/15:ih'"), std::string::npos) << image.err;
    const auto mended = run({"-y", "-i", folder / "in.mp4", "--frames", "1", "-f", "crop=60:50,scale=iw*16/15:ih", "-o",
                             folder / "image.png"});
    EXPECT_EQ(mended.code, 0) << mended.err;
    EXPECT_EQ(mended.err.find("correct this"), std::string::npos) << mended.err;
    ASSERT_EQ(run({"-i", "synth:size=64x48:frames=2", "-f", "scale=64:24", "-o", folder / "square.mp4"}).code, 0);
    EXPECT_EQ(probed(folder / "square.mp4", "stream=sample_aspect_ratio"), "1:1\n");
}

TEST(Properties, UnevenTimestampsArePreserved) {
    const TemporaryFolder folder;
    ASSERT_TRUE(
        ffmpeg("-f lavfi -i testsrc2=size=64x48:rate=25:duration=2 -vf \"select='not(mod(n,7))+not(mod(n,5))'\" "
               "-fps_mode vfr -c:v libx264 " +
               (folder / "in.mp4")));
    for (const auto* name : {"out.mp4", "out.mkv", "out.webm", "out.mov"}) {
        ASSERT_EQ(run({"-i", folder / "in.mp4", "-o", folder / name}).code, 0);
        std::istringstream in(probed(folder / "in.mp4", "frame=pts_time")),
            out(probed(folder / name, "frame=pts_time"));
        double expected = 0, got = 0;
        int frames = 0;
        while (in >> expected) {
            in.ignore(8, '\n');
            ASSERT_TRUE(out >> got) << name;
            out.ignore(8, '\n');
            EXPECT_NEAR(got, expected, 1.1e-3) << name;
            ++frames;
        }
        EXPECT_EQ(frames, 16) << name;
    }
    // Images wide enough to be stored without row gaps take a separate path into y4m.
    ASSERT_TRUE(
        ffmpeg("-i " + (folder / "in.mp4") + " -vf scale=256:64 -fps_mode passthrough " + (folder / "256.mp4")));
    for (const auto& [from, to] : {std::pair{"in.mp4", "out.avi"}, {"in.mp4", "out.y4m"}, {"256.mp4", "256.y4m"}}) {
        const auto made = run({"-i", folder / from, "-o", folder / to});
        EXPECT_NE(made.err.find("instead of the source's variable times"), std::string::npos) << to << made.err;
    }
}

TEST(Properties, UserOptionsOverrideTheColourTags) {
    const TemporaryFolder folder;
    ASSERT_TRUE(
        ffmpeg("-f lavfi -i color=red:s=64x48:r=5:d=1 -vf scale=out_color_matrix=bt709:out_range=full,format=yuv420p "
               "-c:v ffv1 " +
               (folder / "in.mkv")));
    // The expected bytes come from FFmpeg's conversion with the correct matrix and range.
    ASSERT_EQ(run({"-i", folder / "in.mkv", "--matrix", "bt709", "--range", "full", "-o", folder / "out.bgr",
                   "--frames", "1"})
                  .code,
              0);
    const auto pixels = contents(folder / "out.bgr");
    ASSERT_EQ(pixels.size(), 64U * 48 * 3);
    EXPECT_NEAR(static_cast<std::uint8_t>(pixels[0]), 0, 2);
    EXPECT_NEAR(static_cast<std::uint8_t>(pixels[1]), 0, 2);
    EXPECT_NEAR(static_cast<std::uint8_t>(pixels[2]), 255, 2);
    EXPECT_EQ(run({"-i", folder / "in.mkv", "--matrix", "bt708", "-o", folder / "no.bgr"}).code, 2);
}

TEST(Properties, HighDynamicRangeIsRejected) {
    const TemporaryFolder folder;
    for (const auto& [transfer, name] : {std::pair{"smpte2084", "PQ"}, std::pair{"arib-std-b67", "HLG"}}) {
        ASSERT_TRUE(ffmpeg(
            "-f lavfi -i testsrc2=size=64x48:rate=5:duration=1 -pix_fmt yuv420p10le -c:v libx265 -preset ultrafast "
            "-x265-params log-level=error:colorprim=bt2020:colormatrix=bt2020nc:transfer=" +
            std::string(transfer) + " " + (folder / "in.mkv")));
        const auto result = run({"-i", folder / "in.mkv", "-o", folder / "out.mp4"});
        EXPECT_EQ(result.code, 78) << result.err;
        EXPECT_NE(result.err.find("high dynamic range (" + std::string(name)), std::string::npos) << result.err;
        EXPECT_NE(result.err.find("convert it first: ffmpeg -i"), std::string::npos) << result.err;
        EXPECT_FALSE(std::filesystem::exists(folder / "out.mp4"));
    }
}

TEST(Properties, TransparentWebmIsBlendedOntoBlack) {
    const TemporaryFolder folder;
    ASSERT_TRUE(ffmpeg("-f lavfi -i color=white@0.5:s=64x48:r=5:d=1,format=yuva420p -c:v libvpx-vp9 -crf 10 -b:v 0 " +
                       (folder / "in.webm")));
    ASSERT_EQ(run({"-i", folder / "in.webm", "-o", folder / "out.bgr", "--frames", "1"}).code, 0);
    const auto pixels = contents(folder / "out.bgr");
    ASSERT_EQ(pixels.size(), 64U * 48 * 3);
    EXPECT_NEAR(static_cast<std::uint8_t>(pixels[3000]), 128, 4);
}

}  // namespace
}  // namespace framewire::e2e
