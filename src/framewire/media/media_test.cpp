// Round trips of every file format.
#include "framewire/media/media_testing.hpp"

#include <sys/stat.h>

namespace framewire {
namespace media_test {

using namespace testing;

struct Case {
    const char* name;
    const char* file;
    Shape shape;
};

std::ostream& operator<<(std::ostream& out, const Case& format) { return out << format.name; }

class Lossless : public ::testing::TestWithParam<Case> {};

TEST_P(Lossless, RoundTripIsExact) {
    const auto& [name, file, shape] = GetParam();
    const TemporaryFolder folder;
    const std::vector<Bytes> frames = {random_frame(shape, 1), random_frame(shape, 2), random_frame(shape, 3)};
    write_video(folder / file, shape, frames);
    auto source = folder / file;
    if (source.ends_with(".bgr") || source.ends_with(".gray"))
        source = fmt::format("raw:{}:size={}x{}:fps=25:format={}", source, shape.width, shape.height,
                             shape.channels == 1 ? "gray" : "bgr");
    const auto reading = read_video(source, {.rate = Rational{25, 1}});
    EXPECT_FALSE(reading.error) << reading.message;
    EXPECT_EQ(reading.info.shape, shape);
    EXPECT_NEAR(reading.info.rate.value(), 25, 0.01);
    EXPECT_FALSE(reading.info.live);
    ASSERT_EQ(reading.frames.size(), frames.size());
    for (std::size_t number = 0; number < frames.size(); ++number) {
        EXPECT_EQ(reading.frames[number], frames[number]) << "frame " << number;
        EXPECT_EQ(reading.times[number].index, static_cast<std::int64_t>(number));
        EXPECT_NEAR(reading.times[number].seconds, static_cast<double>(number) / 25, 0.002);
    }
}

INSTANTIATE_TEST_SUITE_P(Raw, Lossless,
                         ::testing::Values(Case{"bgr", "a.bgr", {1, 5, 7, 3}}, Case{"gray", "a.gray", {1, 9, 4, 1}},
                                           Case{"y4m_mono", "a.y4m", {1, 33, 31, 1}}),
                         ::testing::PrintToStringParamName());
INSTANTIATE_TEST_SUITE_P(Png, Lossless,
                         ::testing::Values(Case{"bgr", "a%d.png", {1, 33, 31, 3}},
                                           Case{"gray", "a%04d.png", {1, 1, 1, 1}}),
                         ::testing::PrintToStringParamName());
#ifdef FRAMEWIRE_FFMPEG
INSTANTIATE_TEST_SUITE_P(
    Ffv1, Lossless,
    ::testing::Values(Case{"bgr", "a.mkv", {1, 120, 160, 3}}, Case{"gray", "a.mkv", {1, 120, 160, 1}},
                      Case{"odd", "a.mkv", {1, 101, 67, 3}}, Case{"odd_gray", "a.mkv", {1, 67, 101, 1}},
                      Case{"one_pixel", "a.mkv", {1, 1, 1, 3}}, Case{"line", "a.mkv", {1, 1, 333, 3}},
                      Case{"column", "a.mkv", {1, 333, 1, 3}}),
    ::testing::PrintToStringParamName());
#endif

struct LossyCase {
    const char* name;
    const char* file;
    Shape shape;
    double least_psnr;
};

std::ostream& operator<<(std::ostream& out, const LossyCase& format) { return out << format.name; }

class Lossy : public ::testing::TestWithParam<LossyCase> {};

TEST_P(Lossy, RoundTripIsSimilar) {
    const auto& [name, file, shape, least_psnr] = GetParam();
    const TemporaryFolder folder;
    std::vector<Bytes> frames;
    for (int number = 0; number < 10; ++number) frames.push_back(smooth_frame(shape, number));
    write_video(folder / file, shape, frames);
    const auto reading = read_video(folder / file, {.rate = Rational{25, 1}});
    EXPECT_FALSE(reading.error) << reading.message;
    ASSERT_EQ(reading.info.shape.width, shape.width);
    ASSERT_EQ(reading.info.shape.height, shape.height);
    EXPECT_NEAR(reading.info.rate.value(), 25, 0.01);
    ASSERT_EQ(reading.frames.size(), frames.size());
    for (std::size_t number = 0; number < frames.size(); ++number) {
        auto want = frames[number];
        if (shape.channels == 1 && reading.info.shape.channels == 3) {
            want.clear();
            for (const auto byte : frames[number]) want.insert(want.end(), 3, byte);
        }
        EXPECT_GT(psnr(reading.frames[number], want), least_psnr) << "frame " << number;
        EXPECT_NEAR(reading.times[number].seconds, static_cast<double>(number) / 25, 0.002);
    }
}

INSTANTIATE_TEST_SUITE_P(Y4m, Lossy,
                         ::testing::Values(LossyCase{"bgr", "a.y4m", {1, 120, 160, 3}, 46},
                                           LossyCase{"odd", "a.y4m", {1, 37, 53, 3}, 46},
                                           LossyCase{"hd", "a.y4m", {1, 720, 64, 3}, 46}),
                         ::testing::PrintToStringParamName());
#ifdef FRAMEWIRE_FFMPEG
INSTANTIATE_TEST_SUITE_P(Compressed, Lossy,
                         ::testing::Values(LossyCase{"mp4", "a.mp4", {1, 240, 320, 3}, 36},
                                           LossyCase{"mp4_hd", "a.mp4", {1, 720, 1280, 3}, 36},
                                           LossyCase{"mp4_odd", "a.mp4", {1, 121, 161, 3}, 36},
                                           LossyCase{"mp4_gray", "a.mp4", {1, 240, 320, 1}, 36},
                                           LossyCase{"mp4_tiny", "a.mp4", {1, 2, 2, 3}, 20},
                                           LossyCase{"avi", "a.avi", {1, 240, 320, 3}, 34},
                                           LossyCase{"avi_odd", "a.avi", {1, 121, 161, 3}, 34},
                                           LossyCase{"jpg", "a%03d.jpg", {1, 121, 161, 3}, 38},
                                           LossyCase{"jpg_gray", "a%03d.jpg", {1, 64, 64, 1}, 38}),
                         ::testing::PrintToStringParamName());
#endif

TEST(Images, WriteOneFrameToOneFile) {
    const TemporaryFolder folder;
    const Shape shape{1, 20, 30, 3};
    const auto frame = random_frame(shape, 4);
    write_video(folder / "one.png", shape, {frame});
    const auto reading = read_video(folder / "one.png");
    EXPECT_EQ(reading.info.frames, 1);
    ASSERT_EQ(reading.frames.size(), 1U);
    EXPECT_EQ(reading.frames[0], frame);
}

TEST(Images, RejectASecondFrameAndLeaveNoFile) {
    const TemporaryFolder folder;
    const Shape shape{1, 2, 2, 3};
    std::string message;
    const auto code = error_of([&] { write_video(folder / "one.png", shape, {Bytes(12), Bytes(12)}); }, &message);
    EXPECT_EQ(code, ErrorCode::usage);
    EXPECT_NE(message.find("one%04d.png"), std::string::npos) << message;
    EXPECT_TRUE(folder.names().empty());
}

TEST(Images, WriteAndReadPaddedRows) {
    const TemporaryFolder folder;
    const Shape shape{1, 6, 5, 3};
    const auto frame = random_frame(shape, 5);
    Bytes wide(6 * 40, 99);
    for (int y = 0; y < 6; ++y) std::copy_n(frame.begin() + y * 15, 15, wide.begin() + y * 40);
    for (const auto* file : {"s.png", "s.bgr"}) {
        const auto sink = open_sink(folder / file, shape, {25, 1});
        sink->write({wide.data(), shape, 40, 240}, {});
        sink->finish();
        const auto text = std::string(file) == "s.png" ? folder / file : "raw:" + (folder / file) + ":size=5x6";
        Bytes out(6 * 40, 7);
        const auto source = open_source(text);
        FrameTime time;
        ASSERT_TRUE(source->read({out.data(), shape, 40, 240}, time));
        for (int y = 0; y < 6; ++y)
            for (int x = 0; x < 40; ++x)
                ASSERT_EQ(out[static_cast<std::size_t>(y * 40 + x)],
                          x < 15 ? frame[static_cast<std::size_t>(y * 15 + x)] : 7)
                    << file << " row " << y << " byte " << x;
    }
}

TEST(Raw, RepeatsGrayInBgrAndRejectsBgrForGray) {
    const TemporaryFolder folder;
    write_video(folder / "g.bgr", {1, 1, 2, 1}, {Bytes{10, 200}});
    EXPECT_EQ(read_file(folder / "g.bgr"), (Bytes{10, 10, 10, 200, 200, 200}));
    std::string message;
    EXPECT_EQ(error_of([&] { open_sink(folder / "c.gray", {1, 1, 2, 3}, {25, 1}); }, &message), ErrorCode::usage);
    EXPECT_NE(message.find("gray=channels=1"), std::string::npos) << message;
}

TEST(Targets, AppearOnlyWhenFinished) {
    std::vector<const char*> files = {"a.y4m", "a.bgr", "a.png"};
#ifdef FRAMEWIRE_FFMPEG
    files.insert(files.end(), {"a.mp4", "a.mkv", "a.avi", "a.jpg"});
#endif
    const Shape shape{1, 64, 64, 3};
    for (const auto* file : files) {
        const TemporaryFolder folder;
        write_file(folder / file, "old");
        {
            const auto sink = open_sink(folder / file, shape, {25, 1}, {.replace = true});
            sink->write(view_of(smooth_frame(shape, 0), shape), {});
            EXPECT_EQ(read_file(folder / file).size(), 3U) << file;
        }
        EXPECT_EQ(read_file(folder / file).size(), 3U) << file;

        const auto sink = open_sink(folder / file, shape, {25, 1}, {.replace = true});
        sink->write(view_of(smooth_frame(shape, 0), shape), {});
        sink->finish();
        EXPECT_EQ(folder.names(), std::vector<std::string>{file});
        EXPECT_GT(read_file(folder / file).size(), 3U) << file;
        EXPECT_EQ(static_cast<std::int64_t>(read_file(folder / file).size()), sink->bytes()) << file;
    }
}

#ifdef FRAMEWIRE_FFMPEG
// Seven hours without a frame exceed the longest frame in MP4; 1e12 s is an invalid time.
TEST(Targets, AcceptGapsOfAnyLength) {
    const Shape shape{1, 16, 16, 3};
    const auto frame = smooth_frame(shape, 0);
    for (const auto* file : {"a.mp4", "a.mkv"}) {
        const TemporaryFolder folder;
        const auto sink = open_sink(folder / file, shape, {25, 1});
        std::int64_t index = 0;
        for (const double seconds : {0.0, 0.04, 25'000.0, 25'000.04, 1e12, 1e12 + 0.04, std::nan(""), 25'000.2})
            sink->write(view_of(frame, shape), {index++, seconds, {}});
        sink->finish();
        const auto reading = read_video(folder / file);
        EXPECT_EQ(reading.error, std::nullopt) << reading.message;
        // 83 of the frames repeat the previous picture, one per five minutes.
        ASSERT_EQ(reading.frames.size(), 8U + 83) << file;
        EXPECT_NEAR(reading.times[85].seconds, 25'000, 0.01) << file;
        EXPECT_NEAR(reading.times[87].seconds, 25'000.08, 0.01) << file;
        EXPECT_NEAR(reading.times[88].seconds, 25'000.12, 0.01) << file;
    }
}
#endif

TEST(Targets, ReportThePathIfTheyCannotBeWritten) {
    std::vector<const char*> files = {"/a.y4m", "/a.bgr", "/a.png", "/a%03d.png"};
#ifdef FRAMEWIRE_FFMPEG
    files.insert(files.end(), {"/a.mp4", "/a.mkv", "/a.jpg", "/a.m3u8"});
#endif
    const TemporaryFolder folder;
    for (const auto* file : files) {
        const auto path = (folder / "missing") + file;
        std::string message;
        EXPECT_EQ(error_of([&] { open_sink(path, {1, 16, 16, 3}, {25, 1}); }, &message), ErrorCode::io) << path;
        EXPECT_NE(message.find("missing"), std::string::npos) << message;
    }
}

TEST(Targets, AFullDiskIsAnIoError) {
    // A device that is always full.
    const Shape shape{1, 64, 64, 1};
    std::string message;
    const TemporaryFolder folder;
    ASSERT_EQ(::symlink("/dev/full", (folder / "full.y4m").c_str()), 0);
    EXPECT_EQ(error_of([&] { write_video(folder / "full.y4m", shape, {smooth_frame(shape, 0)}); }, &message),
              ErrorCode::io);
    EXPECT_NE(message.find("full.y4m"), std::string::npos) << message;
#ifdef FRAMEWIRE_FFMPEG
    ASSERT_EQ(::symlink("/dev/full", (folder / "full.mkv").c_str()), 0);
    EXPECT_EQ(error_of([&] { write_video(folder / "full.mkv", shape, {smooth_frame(shape, 0)}); }, &message),
              ErrorCode::io);
    EXPECT_NE(message.find("full.mkv"), std::string::npos) << message;
#endif
}

TEST(Targets, RejectUnknownExtensions) {
    for (const auto* text : {"a.txt", "a", "a.mp5"})
        EXPECT_EQ(error_of([&] { open_sink(text, {1, 16, 16, 3}, {25, 1}); }), ErrorCode::usage) << text;
    EXPECT_EQ(error_of([&] { open_sink("a.bgr", {1, 16, 16, 3}, {0, 1}); }), ErrorCode::usage);
    EXPECT_EQ(error_of([&] { open_sink("a.bgr", {2, 16, 16, 3}, {25, 1}); }), ErrorCode::usage);
    EXPECT_EQ(error_of([&] { open_sink("a.bgr", {1, 16, 16, 2}, {25, 1}); }), ErrorCode::usage);
}

TEST(Targets, HaveThePermissionsOfNewFiles) {
    const TemporaryFolder folder;
    write_video(folder / "a.bgr", {1, 1, 1, 3}, {Bytes(3)});
    write_file(folder / "other", "x");
    struct stat ours {
    }, other{};
    ASSERT_EQ(::stat((folder / "a.bgr").c_str(), &ours), 0);
    ASSERT_EQ(::stat((folder / "other").c_str(), &other), 0);
    EXPECT_EQ(ours.st_mode, other.st_mode);
}

#ifdef FRAMEWIRE_FFMPEG

TEST(Hls, WritesAPlaylistThatPlays) {
    const TemporaryFolder folder;
    const Shape shape{1, 96, 128, 3};
    std::vector<Bytes> frames;
    for (int number = 0; number < 120; ++number) frames.push_back(smooth_frame(shape, number));
    write_video(folder / "live.m3u8", shape, frames);
    const auto reading = read_video(folder / "live.m3u8");
    EXPECT_FALSE(reading.error) << reading.message;
    EXPECT_EQ(reading.frames.size(), frames.size());
    EXPECT_GE(folder.names().size(), 3U);  // the playlist and more than one segment
}

TEST(H264, HasColourTags) {
    const TemporaryFolder folder;
    for (const auto& [height, matrix] : {std::pair{240, "smpte170m"}, std::pair{720, "bt709"}}) {
        const Shape shape{1, height, 320, 3};
        write_video(folder / "a.mp4", shape, {smooth_frame(shape, 0)});
        const auto command = "ffprobe -v error -show_entries stream=color_space,color_range,pix_fmt -of csv=p=0 " +
                             (folder / "a.mp4") + " > " + (folder / "probe");
        ASSERT_EQ(std::system(command.c_str()), 0);
        const auto probe = read_file(folder / "probe");
        EXPECT_EQ(std::string(probe.begin(), probe.end()), std::string("yuv420p,tv,") + matrix + "\n");
    }
}

TEST(H264, KeepsUnevenTimes) {
    const TemporaryFolder folder;
    const Shape shape{1, 64, 64, 3};
    const double times[] = {5.0, 5.04, 5.5, 7.25};
    const auto sink = open_sink(folder / "a.mp4", shape, {25, 1});
    for (const auto time : times) sink->write(view_of(smooth_frame(shape, 0), shape), {0, time, {}});
    sink->finish();
    const auto reading = read_video(folder / "a.mp4");
    ASSERT_EQ(reading.times.size(), 4U);
    for (std::size_t number = 0; number < 4; ++number)
        EXPECT_NEAR(reading.times[number].seconds, times[number] - 5, 0.001);
}

TEST(Sources, ReadImagesFromOtherPrograms) {
    const TemporaryFolder folder;
    ASSERT_TRUE(ffmpeg("-f lavfi -i testsrc=size=64x48 -frames:v 1 -pix_fmt bgr24 " + (folder / "want.png")));
    const auto want = read_video(folder / "want.png");
    for (const auto* name : {"a.tif", "a.bmp"}) {
        ASSERT_TRUE(ffmpeg(fmt::format("-i {} {}", folder / "want.png", folder / name)));
        const auto reading = read_video(folder / name);
        ASSERT_EQ(reading.frames.size(), 1U) << reading.message;
        EXPECT_EQ(reading.frames[0], want.frames.at(0)) << name;
    }
    ASSERT_TRUE(ffmpeg(fmt::format("-i {} -pix_fmt monob {}", folder / "want.png", folder / "bits.tif")));
    const auto bits = read_video(folder / "bits.tif");
    ASSERT_EQ(bits.frames.size(), 1U) << bits.message;
    for (const auto byte : bits.frames[0]) EXPECT_TRUE(byte == 0 || byte == 255) << int{byte};
}

TEST(Sources, RotateSidewaysRecordings) {
    const TemporaryFolder folder;
    // Left half dark, right half bright, tagged with a rotation of 90 degrees.
    ASSERT_TRUE(
        ffmpeg("-f lavfi -i color=black:size=64x48:rate=25 -vf drawbox=x=32:y=0:w=32:h=48:color=white:t=fill "
               "-frames:v 2 -pix_fmt yuv420p " +
               (folder / "flat.mp4")));
    for (const int degrees : {90, 180, 270}) {
        // FFmpeg's "rotate" tag counts counterclockwise, players rotate clockwise.
        ASSERT_TRUE(ffmpeg(fmt::format("-i {} -c copy -metadata:s:v rotate={} {}", folder / "flat.mp4", degrees,
                                       folder / "turned.mp4")));
        const auto reading = read_video(folder / "turned.mp4");
        ASSERT_EQ(reading.frames.size(), 2U) << reading.message;
        const bool sideways = degrees != 180;
        ASSERT_EQ(reading.info.shape, (sideways ? Shape{1, 64, 48, 3} : Shape{1, 48, 64, 3}));
        // Reference: the ffmpeg tool's output.
        ASSERT_TRUE(ffmpeg(fmt::format("-i {} -frames:v 1 {}", folder / "turned.mp4", folder / "want.png")));
        EXPECT_GT(psnr(reading.frames[0], read_video(folder / "want.png").frames.at(0)), 40) << degrees;
    }
}

TEST(Sources, ScaleFramesAfterASizeChange) {
    const TemporaryFolder folder;
    ASSERT_TRUE(ffmpeg("-f lavfi -i smptebars=size=160x120 -frames:v 5 -c:v mpeg2video -q:v 2 " + (folder / "a.m2v")));
    ASSERT_TRUE(ffmpeg("-f lavfi -i smptebars=size=160x120 -vf scale=320:240 -frames:v 5 -c:v mpeg2video -q:v 2 " +
                       (folder / "b.m2v")));
    auto both = read_file(folder / "a.m2v");
    const auto second = read_file(folder / "b.m2v");
    both.insert(both.end(), second.begin(), second.end());
    write_file(folder / "both.m2v", both.data(), both.size());
    const auto reading = read_video(folder / "both.m2v");
    EXPECT_EQ(reading.info.shape, (Shape{1, 120, 160, 3}));
    ASSERT_GE(reading.frames.size(), 9U);
    EXPECT_GT(psnr(reading.frames.front(), reading.frames.at(6)), 20);  // the same picture, scaled
}

#endif

}  // namespace media_test
}  // namespace framewire
