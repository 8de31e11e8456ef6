// A file's content may refer to other files, which are read only if the file is named as a playlist.
#include "framewire/media/media_testing.hpp"

namespace framewire {
namespace limits_test {

using namespace testing;

// A folder with a video that was not requested, and files that refer to it.
class Limits : public ::testing::Test {
protected:
    Limits() {
        EXPECT_TRUE(ffmpeg("-f lavfi -i testsrc=size=64x48:rate=25 -frames:v 10 -c:v libx264 -f mpegts " +
                           (folder_ / "secret.ts")));
        EXPECT_TRUE(ffmpeg("-f lavfi -i testsrc=size=64x48:rate=25 -frames:v 1 " + (folder_ / "secret.jpg")));
    }

    void write_hls(const std::string& name, const std::string& part = "secret.ts") const {
        write_file(folder_ / name,
                   "#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:1\n#EXT-X-MEDIA-SEQUENCE:0\n#EXTINF:0.4,\n" +
                       part + "\n#EXT-X-ENDLIST\n");
    }
    void write_concat(const std::string& name) const {
        write_file(folder_ / name, "ffconcat version 1.0\nfile secret.ts\n");
    }

    TemporaryFolder folder_;
};

TEST_F(Limits, RejectsAPlaylistUnderAnotherName) {
    for (const auto* name :
         {"a.mp4", "a.mkv", "a.ts", "a.jpg", "a.JPEG", "a.webp", "a.tif", "a", "a.txt", "a.m3u8.mp4"}) {
        write_hls(name);
        const auto hls = read_video(folder_ / name);
        EXPECT_EQ(hls.error, ErrorCode::no_input) << name;
        EXPECT_TRUE(hls.frames.empty()) << name;
        EXPECT_NE(hls.message.find("HTTP Live Streaming"), std::string::npos) << hls.message;
        EXPECT_NE(hls.message.find(".m3u8"), std::string::npos) << hls.message;
        write_concat(name);
        const auto concat = read_video(folder_ / name);
        EXPECT_EQ(concat.error, ErrorCode::no_input) << name;
        EXPECT_NE(concat.message.find("concat"), std::string::npos) << concat.message;
    }
}

TEST_F(Limits, FollowsAPlaylistWithItsExtension) {
    for (const auto* name : {"a.m3u8", "a.M3U"}) {
        write_hls(name);
        const auto reading = read_video(folder_ / name);
        EXPECT_FALSE(reading.error) << name << " " << reading.message;
        EXPECT_EQ(reading.frames.size(), 10U) << name;
    }
    write_concat("a.ffconcat");
    EXPECT_EQ(read_video(folder_ / "a.ffconcat").frames.size(), 10U);
    ASSERT_TRUE(ffmpeg(fmt::format("-i {} -c:v libx264 -f dash {}", folder_ / "secret.ts", folder_ / "a.mpd")));
    EXPECT_EQ(read_video(folder_ / "a.mpd").frames.size(), 10U);
}

TEST_F(Limits, RejectsAPlaylistOfAnotherKind) {
    write_concat("a.m3u8");
    write_hls("a.ffconcat");
    write_hls("a.mpd");
    for (const auto* name : {"a.m3u8", "a.ffconcat", "a.mpd"}) {
        const auto reading = read_video(folder_ / name);
        EXPECT_EQ(reading.error, ErrorCode::no_input) << name;
        EXPECT_NE(reading.message.find("is no video"), std::string::npos) << reading.message;
    }
}

// Text files that FFmpeg would render as a terminal, scripts in a playlist, and servers.
TEST_F(Limits, APlaylistRefersToMediaOnly) {
    write_file(folder_ / "words.ts", "These are words, many of them.\n");
    write_concat("script.ts");
    for (const auto* part : {"words.ts", "script.ts", "http://127.0.0.1:1/a.ts", "tcp://127.0.0.1:1/a.ts"}) {
        write_hls("a.m3u8", part);
        const auto reading = read_video(folder_ / "a.m3u8");
        EXPECT_TRUE(reading.error) << part;
        EXPECT_TRUE(reading.frames.empty()) << part;
    }
}

TEST_F(Limits, ImagesUseImageDemuxersOnly) {
    std::filesystem::copy(folder_ / "secret.ts", folder_ / "a.jpg");
    const auto video = read_video(folder_ / "a.jpg");
    EXPECT_EQ(video.error, ErrorCode::no_input);
    EXPECT_NE(video.message.find("is no image: it holds MPEG-TS"), std::string::npos) << video.message;
    const auto want = read_video(folder_ / "secret.jpg").frames;
    ASSERT_EQ(want.size(), 1U);
    // Images with the extensions of other images and of videos.
    for (const auto* name : {"b.webp", "b.bmp", "b.mp4"}) {
        std::filesystem::copy(folder_ / "secret.jpg", folder_ / name);
        EXPECT_EQ(read_video(folder_ / name).frames, want) << name;
    }
}

TEST_F(Limits, RejectsSessionDescriptions) {
    write_file(folder_ / "a.mp4",
               "v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nt=0 0\nm=video 5004 RTP/AVP 96\n"
               "a=rtpmap:96 H264/90000\n");
    const auto reading = read_video(folder_ / "a.mp4");
    EXPECT_EQ(reading.error, ErrorCode::no_input);
    EXPECT_NE(reading.message.find("it holds SDP"), std::string::npos) << reading.message;
}

}  // namespace limits_test
}  // namespace framewire
