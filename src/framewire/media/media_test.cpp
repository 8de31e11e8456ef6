#include "framewire/core/log.hpp"
#include "framewire/media/media_testing.hpp"
#include "kit/images.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <span>
#include <string>
#include <utility>

// Round trips of every file format.

namespace framewire {
namespace {

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

TEST_P(Lossy, RoundTripReachesTheMinimumPsnr) {
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

TEST(Images, SupportPaddedRows) {
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

TEST(Raw, ConvertsGrayToBgrButNotBgrToGray) {
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
// Seven hours without a frame exceed the longest frame duration in MP4; 1e12 s is an invalid time.
TEST(Targets, AcceptTimeGapsOfAnyLength) {
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

TEST(Targets, ReportThePathOnFailure) {
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

TEST(Targets, ReportAFullDiskAsAnIoError) {
    // /dev/full is a device that is always full.
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

TEST(Targets, RejectUnknownExtensionsAndInvalidParameters) {
    for (const auto* text : {"a.txt", "a", "a.mp5"})
        EXPECT_EQ(error_of([&] { open_sink(text, {1, 16, 16, 3}, {25, 1}); }), ErrorCode::usage) << text;
    EXPECT_EQ(error_of([&] { open_sink("a.bgr", {1, 16, 16, 3}, {0, 1}); }), ErrorCode::usage);
    EXPECT_EQ(error_of([&] { open_sink("a.bgr", {2, 16, 16, 3}, {25, 1}); }), ErrorCode::usage);
    EXPECT_EQ(error_of([&] { open_sink("a.bgr", {1, 16, 16, 2}, {25, 1}); }), ErrorCode::usage);
}

TEST(Targets, HaveTheDefaultPermissions) {
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

TEST(Hls, WritesAPlayablePlaylist) {
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

TEST(H264, WritesColourTags) {
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

TEST(H264, PreservesUnevenTimestamps) {
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

TEST(Sources, ReadTiffAndBmpFromFfmpeg) {
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

TEST(Sources, ApplyRotationMetadata) {
    const TemporaryFolder folder;
    // The picture has a dark left half and a bright right half, and is tagged with a rotation of 90 degrees.
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
        // The reference is the ffmpeg tool's output.
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
    EXPECT_GT(psnr(reading.frames.front(), reading.frames.at(6)), 20);  // the same picture, scaled to the first size
}

#endif

}  // namespace
}  // namespace framewire

// Corrupt, truncated and missing input: everything readable is read, then the source ends with a clear error.

namespace framewire {
namespace {

using namespace testing;

// Silences the log: hundreds of corrupt files would each write complaints.
[[maybe_unused]] const bool quiet = (set_log_output({.least = LogLevel::off}), true);

const Shape small{1, 48, 64, 3};

std::vector<Bytes> clip(int count) {
    std::vector<Bytes> frames;
    for (int number = 0; number < count; ++number) frames.push_back(smooth_frame(small, number));
    return frames;
}

TEST(MissingFile, IsReportedAsNoInput) {
    const TemporaryFolder folder;
    for (const auto* name : {"no.mp4", "no.png", "no.y4m", "no", "no%d"})
        EXPECT_EQ(read_video(folder / name).error, ErrorCode::no_input) << name;
    EXPECT_EQ(read_video("raw:" + (folder / "no") + ":size=2x2").error, ErrorCode::no_input);
    EXPECT_EQ(read_video(folder / "").error, ErrorCode::no_input);
    EXPECT_EQ(read_video("").error, ErrorCode::usage);
    EXPECT_EQ(read_video("raw:x").error, ErrorCode::usage);
    write_file(folder / "a.bgr", "abc");
    EXPECT_EQ(read_video(folder / "a.bgr").error, ErrorCode::usage);
}

// Every kind of name is tried at paths that the system cannot examine.
TEST(MissingFile, IsReportedIfThePathCannotBeExamined) {
    const TemporaryFolder folder;
    std::filesystem::create_symlink(folder / "loop", folder / "loop");
    write_file(folder / "file", "x");
    const std::string long_name(300, 'n');
    std::string deep = folder / "";
    while (deep.size() < 5000) deep += "folder/";
    for (const auto* ending : {"", ".mp4", ".png", ".jpg", ".y4m", "%d.png", ".m3u8"})
        for (const auto& path : {folder / long_name, (folder / "loop/") + "a", deep + "a", (folder / "file/") + "a"}) {
            const auto reading = read_video(path + ending);
            EXPECT_EQ(reading.error, ErrorCode::no_input) << path << ending;
            const auto parent = path.substr(0, path.rfind('/'));  // the folder of a sequence
            EXPECT_NE(reading.message.find(parent), std::string::npos) << reading.message;
            EXPECT_EQ(reading.message.find("filesystem"), std::string::npos) << reading.message;
        }
    EXPECT_EQ(read_video(folder / "loop").error, ErrorCode::no_input);
    std::string message;
    EXPECT_EQ(error_of([&] { open_source(folder / long_name); }, &message), ErrorCode::no_input);
    EXPECT_NE(message.find("File name too long"), std::string::npos) << message;
}

TEST(Raw, ReadsTheCompleteFramesOfATruncatedFile) {
    const TemporaryFolder folder;
    write_file(folder / "a.bgr", std::string(6 * 2 + 5, 'x'));
    const auto reading = read_video("raw:" + (folder / "a.bgr") + ":size=2x1");
    EXPECT_EQ(reading.frames.size(), 2U);
    EXPECT_EQ(reading.error, ErrorCode::source_lost);
    EXPECT_FALSE(reading.info.frames);
}

TEST(Png, TruncationIsAlwaysAnError) {
    const TemporaryFolder folder;
    write_video(folder / "a.png", small, clip(1));
    const auto whole = read_file(folder / "a.png");
    for (std::size_t bytes = 0; bytes + 12 < whole.size(); bytes += 1 + bytes / 16) {
        write_file(folder / "cut.png", whole.data(), bytes);
        const auto reading = read_video(folder / "cut.png");
        EXPECT_TRUE(reading.error == ErrorCode::no_input || reading.error == ErrorCode::source_lost) << bytes;
        EXPECT_TRUE(reading.frames.empty()) << bytes;
    }
}

TEST(Png, RejectsImagesBeyondThePixelLimit) {
    const TemporaryFolder folder;
    write_video(folder / "a.png", {1, 101, 100, 1}, {Bytes(10100)});
    EXPECT_EQ(read_video(folder / "a.png", {.max_pixels = 10'099}).error, ErrorCode::no_input);
    EXPECT_EQ(read_video(folder / "a.png", {.max_pixels = 10'100}).frames.size(), 1U);
}

#ifdef FRAMEWIRE_FFMPEG

TEST(NonVideoFile, IsReportedAsNoInput) {
    const TemporaryFolder folder;
    write_file(folder / "words.txt", "These are words, many of them.\n");
    write_file(folder / "empty.mp4", "");
    write_file(folder / "words.png", "no picture");
    write_file(folder / "words.y4m", "no y4m");
    ASSERT_TRUE(ffmpeg("-f lavfi -i sine=duration=1 " + (folder / "sound.wav")));
    const auto noise = random_frame({1, 100, 100, 3}, 1);
    write_file(folder / "noise.bin", noise.data(), noise.size());
    for (const auto& name : folder.names()) {
        const auto reading = read_video(folder / name);
        EXPECT_EQ(reading.error, ErrorCode::no_input) << name;
        EXPECT_NE(reading.message.find(name), std::string::npos) << reading.message;
    }
}

TEST(OversizedVideo, IsRejected) {
    const TemporaryFolder folder;
    write_video(folder / "a.mkv", small, clip(2));
    EXPECT_EQ(read_video(folder / "a.mkv", {.max_pixels = 64 * 48 - 1}).error, ErrorCode::no_input);
    EXPECT_EQ(read_video(folder / "a.mkv", {.max_pixels = 64 * 48}).frames.size(), 2U);
}

struct Container {
    const char* name;
    const char* file;
    const char* encoding;  // arguments for the ffmpeg tool; empty for framewire's own formats
    bool promises_length;  // the format declares its length, so truncation is noticed at any position
};

std::ostream& operator<<(std::ostream& out, const Container& container) { return out << container.name; }

class Damage : public ::testing::TestWithParam<Container> {
protected:
    Damage() {
        const auto& [name, file, encoding, promises_length] = GetParam();
        write_video(folder_ / "own.mkv", small, clip(count_));
        path_ = folder_ / file;
        if (*encoding) {
            EXPECT_TRUE(ffmpeg(fmt::format("-i {} {} {}", folder_ / "own.mkv", encoding, path_)));
        } else {
            write_video(path_, small, clip(count_));
        }
        whole_ = read_file(path_);
    }

    // Corrupt files keep their extension, which some demuxers need.
    Reading read_bytes(const Bytes& bytes) const {
        const auto path = folder_ / (std::string("broken-") + GetParam().file);
        write_file(path, bytes.data(), bytes.size());
        return read_video(path);
    }

    static constexpr int count_ = 30;
    TemporaryFolder folder_;
    std::string path_;
    Bytes whole_;
};

TEST_P(Damage, ReadsTheIntactFile) {
    const auto reading = read_video(path_);
    EXPECT_FALSE(reading.error) << reading.message;
    EXPECT_EQ(reading.frames.size(), static_cast<std::size_t>(count_));
    for (std::size_t number = 1; number < reading.times.size(); ++number)
        EXPECT_GT(reading.times[number].seconds, reading.times[number - 1].seconds);
}

TEST_P(Damage, TruncatedFileEndsEarly) {
    for (int percent = 0; percent < 95; percent += 7) {
        const auto reading =
            read_bytes({whole_.begin(), whole_.begin() + static_cast<std::ptrdiff_t>(whole_.size()) * percent / 100});
        EXPECT_LT(reading.frames.size(), static_cast<std::size_t>(count_)) << percent;
        if (reading.frames.empty()) {
            EXPECT_TRUE(reading.error == ErrorCode::no_input || reading.error == ErrorCode::source_lost) << percent;
        } else if (GetParam().promises_length) {
            EXPECT_EQ(reading.error, ErrorCode::source_lost) << percent << " " << reading.frames.size();
        }
    }
}

TEST_P(Damage, CorruptFileDoesNotCrashOrHang) {
    std::uint64_t random = 12345;
    for (int round = 0; round < 40; ++round) {
        auto bytes = whole_;
        for (int change = 0; change < 1 + round / 4; ++change) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            bytes[(random >> 33) % bytes.size()] = static_cast<std::uint8_t>(random >> 20);
        }
        const auto reading = read_bytes(bytes);  // without a crash, a hang or any other error
        if (reading.error) {
            EXPECT_TRUE(reading.error == ErrorCode::no_input || reading.error == ErrorCode::source_lost)
                << round << " " << reading.message;
        }
        EXPECT_LE(reading.frames.size(), static_cast<std::size_t>(count_) * 4) << round;
    }
}

INSTANTIATE_TEST_SUITE_P(All, Damage,
                         ::testing::Values(Container{"ffv1", "a.mkv", "", true}, Container{"mjpeg", "a.avi", "", true},
                                           Container{"mp4", "a.mp4", "-c:v libx264 -g 10 -movflags +faststart", true},
                                           Container{"webm", "a.webm", "-c:v libvpx", true},
                                           Container{"mov", "a.mov", "-c:v mpeg4 -movflags +faststart", true},
                                           Container{"transport_stream", "a.ts", "-c:v libx264 -g 10", false},
                                           Container{"elementary_stream", "a.264", "-c:v libx264 -g 10", false}),
                         ::testing::PrintToStringParamName());

// Creates a clip with many flipped bits, always the same ones.
std::string broken_clip(const TemporaryFolder& folder, const std::string& encoding, int wrong_bits) {
    EXPECT_TRUE(
        ffmpeg("-f lavfi -i testsrc2=size=352x288 -frames:v 60 -g 30 " + encoding + " " + (folder / "whole.mp4")));
    auto bytes = read_file(folder / "whole.mp4");
    const auto middle = bytes.size() / 2;
    std::uint64_t random = 7;
    for (int change = 0; change < wrong_bits; ++change) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        bytes[bytes.size() / 8 + (random >> 33) % middle] ^= static_cast<std::uint8_t>(1U << (random >> 30) % 8);
    }
    write_file(folder / "broken.mp4", bytes.data(), bytes.size());
    return folder / "broken.mp4";
}

// Frame threads lose the corruption flag of a picture and conceal errors with pictures that are being concealed
// themselves: neither may affect the output.
TEST(FrameThreads, DamageIsReportedAndDecodingIsDeterministic) {
    const TemporaryFolder folder;
    for (const auto* encoding :
         {"-c:v libx264 -bf 2", "-c:v libx264 -bf 0 -x264-params slices=2", "-c:v mpeg4 -bf 2"}) {
        for (const int wrong_bits : {4, 60}) {
            const auto path = broken_clip(folder, encoding, wrong_bits);
            const auto first = read_video(path);
            EXPECT_EQ(first.error, ErrorCode::source_lost) << encoding << " " << wrong_bits;
            EXPECT_GT(first.frames.size(), 50U) << encoding << " " << wrong_bits;
            for (int run = 1; run < (kit::brief() ? 3 : 8); ++run) {
                const auto reading = read_video(path, {.decoder_threads = 2 + run});
                EXPECT_EQ(reading.error, first.error) << encoding << " " << wrong_bits;
                EXPECT_EQ(reading.message, first.message) << encoding << " " << wrong_bits;
                EXPECT_TRUE(reading.frames == first.frames) << encoding << " " << wrong_bits << " " << run;
            }
        }
    }
}

// FFmpeg's HEVC decoder reports damage only in its log.
TEST(FrameThreads, HevcDamageIsReported) {
    const TemporaryFolder folder;
    const auto path = broken_clip(folder, "-c:v libx265 -x265-params log-level=error", 60);
    for (int run = 0; run < 4; ++run) {
        const auto reading = read_video(path, {.decoder_threads = 1 + run});
        EXPECT_EQ(reading.error, ErrorCode::source_lost) << run;
        EXPECT_GT(reading.frames.size(), 50U) << run;
    }
}

// Frames read before the damage are not delivered again, no matter where reading started.
TEST(FrameThreads, FramesBeforeDamageAreDeliveredOnce) {
    const TemporaryFolder folder;
    // Pictures have several thousand bytes, so that the corruption hits picture data and not a header, whose loss would
    // drop the picture. With more threads, x264 would encode to different bytes.
    ASSERT_TRUE(
        ffmpeg("-f lavfi -i testsrc2=size=352x288:rate=25 -frames:v 60 -g 15 -c:v libx264 -bf 2 -qp 12 -threads 1 " +
               (folder / "whole.mp4")));
    const auto whole = read_video(folder / "whole.mp4");
    auto bytes = read_file(folder / "whole.mp4");
    for (std::size_t at = bytes.size() * 3 / 5; at < bytes.size() * 3 / 5 + 40; ++at) bytes[at] ^= 0x55;
    write_file(folder / "broken.mp4", bytes.data(), bytes.size());
    const auto reading = read_video(folder / "broken.mp4");
    EXPECT_EQ(reading.error, ErrorCode::source_lost);
    ASSERT_EQ(reading.frames.size(), 60U);
    for (std::size_t number = 0; number < 24; ++number)
        EXPECT_TRUE(reading.frames[number] == whole.frames[number]) << number;
    EXPECT_FALSE(reading.frames == whole.frames);

    const auto source = open_source(folder / "broken.mp4");
    ASSERT_TRUE(source->seek(0.8));
    HostImage image(source->info().shape);
    FrameTime time;
    std::size_t number = 20;
    EXPECT_EQ(error_of([&] {
                  for (; source->read(image.view(), time); ++number)
                      EXPECT_TRUE(std::ranges::equal(reading.frames.at(number),
                                                     std::span(image.view().data(), reading.frames[0].size())))
                          << number;
              }),
              ErrorCode::source_lost);
    EXPECT_EQ(number, 60U);
}

// If the file cannot be opened again, reading continues from the open file, and its damage is reported.
TEST(FrameThreads, ReadingContinuesIfTheFileIsReplaced) {
    const TemporaryFolder folder;
    ASSERT_TRUE(ffmpeg("-f lavfi -i sine=duration=1 " + (folder / "sound.mp4")));
    ASSERT_TRUE(ffmpeg("-f lavfi -i testsrc2=size=352x288 -frames:v 60 -c:v libx264 -f h264 " +
                       (folder / "without-times.mp4")));
    write_file(folder / "words.mp4", "no video");
    for (const auto* encoding : {"-c:v libx264 -bf 2", "-c:v libx265 -x265-params log-level=error"})
        for (const auto* other : {"", "sound.mp4", "without-times.mp4", "words.mp4"}) {
            SCOPED_TRACE(std::string(encoding) + ", then " + (*other ? other : "nothing"));
            const auto path = broken_clip(folder, encoding, 60);
            const auto source = open_source(path);
            std::filesystem::remove(path);
            if (*other) std::filesystem::copy_file(folder / other, path);
            ASSERT_TRUE(source->seek(0.8));
            HostImage image(source->info().shape);
            FrameTime time;
            double last = 0.79;
            int frames = 0;
            EXPECT_EQ(error_of([&] {
                          for (; source->read(image.view(), time); ++frames)
                              EXPECT_GT(time.seconds, std::exchange(last, time.seconds));
                      }),
                      ErrorCode::source_lost);
            EXPECT_LE(last, 2.4);
            EXPECT_GT(frames, 30);
            EXPECT_LE(frames, 40);
        }
}

TEST(Ffv1, CorruptFramesAreNotDelivered) {
    const TemporaryFolder folder;
    const auto frames = clip(5);
    write_video(folder / "a.mkv", small, frames);
    auto bytes = read_file(folder / "a.mkv");
    bytes[bytes.size() / 2] ^= 0x10;
    write_file(folder / "a.mkv", bytes.data(), bytes.size());
    const auto reading = read_video(folder / "a.mkv");
    EXPECT_EQ(reading.error, ErrorCode::source_lost);
    EXPECT_EQ(reading.frames.size(), 4U);
    for (const auto& frame : reading.frames) EXPECT_NE(std::find(frames.begin(), frames.end(), frame), frames.end());
}

TEST(Jpeg, TruncatedFileIsReportedAsSourceLost) {
    const TemporaryFolder folder;
    write_video(folder / "a.jpg", small, clip(1));
    const auto whole = read_file(folder / "a.jpg");
    for (const int percent : {30, 60, 90}) {
        write_file(folder / "cut.jpg", whole.data(), whole.size() * static_cast<std::size_t>(percent) / 100);
        EXPECT_EQ(read_video(folder / "cut.jpg").error, ErrorCode::source_lost) << percent;
    }
}

TEST(Tiff, TruncatedFileIsAnError) {
    const TemporaryFolder folder;
    ASSERT_TRUE(ffmpeg("-f lavfi -i testsrc=size=64x48 -frames:v 1 -compression_algo raw " + (folder / "a.tif")));
    const auto whole = read_file(folder / "a.tif");
    for (const int percent : {30, 60, 90}) {
        write_file(folder / "cut.tif", whole.data(), whole.size() * static_cast<std::size_t>(percent) / 100);
        EXPECT_TRUE(read_video(folder / "cut.tif").error) << percent;
    }
}

#else

TEST(LeanBuild, ReportsMissingFeatures) {
    const TemporaryFolder folder;
    write_file(folder / "a.mp4", "");
    for (const auto& text : {folder / "a.mp4", std::string("rtsp://localhost/"), std::string("lavfi:testsrc")}) {
        const auto reading = read_video(text);
        EXPECT_EQ(reading.error, ErrorCode::config) << text;
        EXPECT_NE(reading.message.find("no FFmpeg"), std::string::npos) << reading.message;
    }
    for (const auto* name : {"b.mp4", "b.jpg", "b.m3u8"})
        EXPECT_EQ(error_of([&] { open_sink(folder / name, small, {25, 1}); }), ErrorCode::config) << name;
}

#endif

}  // namespace
}  // namespace framewire
