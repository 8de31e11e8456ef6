#include "framewire/media/raw_video.hpp"
#include "framewire/core/buffer.hpp"
#include "framewire/core/error.hpp"
#include "framewire/media/media_testing.hpp"
#include "kit/eventually.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <future>
#include <memory>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace framewire {
namespace {

using namespace testing;

Y4mHeader parse(std::string_view line) {
    return parse_y4m_header(line, "test", std::int64_t{max_side_px} * max_side_px);
}

TEST(Y4mHeader, IsParsed) {
    const auto header = parse("YUV4MPEG2 W1921 H1081 F30000:1001 Ip A1:1 C420jpeg XYSCSS=420JPEG XCOLORRANGE=FULL");
    EXPECT_EQ(header.width, 1921);
    EXPECT_EQ(header.height, 1081);
    EXPECT_EQ(header.rate.numerator, 30000);
    EXPECT_EQ(header.rate.denominator, 1001);
    EXPECT_EQ(header.format, AV_PIX_FMT_YUV420P);
    EXPECT_EQ(header.chroma, AVCHROMA_LOC_CENTER);
    EXPECT_EQ(header.coding, (YuvCoding{YuvMatrix::bt709, true}));
    EXPECT_EQ(header.picture_bytes(), 1921 * 1081 + 2 * 961 * 541);
}

TEST(Y4mHeader, ParsesThePixelAspectRatio) {
    const auto aspect = [](const std::string& token) {
        const auto ratio = parse("YUV4MPEG2 W8 H6 " + token).pixel_aspect;
        return std::pair{ratio.numerator, ratio.denominator};
    };
    EXPECT_EQ(aspect("A16:15"), (std::pair<std::int64_t, std::int64_t>{16, 15}));
    for (const auto* token : {"A0:0", "A", "A1", "A-1:1", "A1:0", "A70000:1", "A9223372036854775808:1", "I?"})
        EXPECT_EQ(aspect(token), (std::pair<std::int64_t, std::int64_t>{1, 1})) << token;
}

TEST(Y4mHeader, SupportsColourSpaces) {
    EXPECT_EQ(parse("YUV4MPEG2 W8 H6").format, AV_PIX_FMT_YUV420P);
    EXPECT_EQ(parse("YUV4MPEG2 W8 H6 C420mpeg2").chroma, AVCHROMA_LOC_LEFT);
    EXPECT_EQ(parse("YUV4MPEG2 W8 H6 C420paldv").chroma, AVCHROMA_LOC_TOPLEFT);
    EXPECT_EQ(parse("YUV4MPEG2 W7 H6 C422").picture_bytes(), 42 + 2 * 24);
    EXPECT_EQ(parse("YUV4MPEG2 W7 H6 C444").picture_bytes(), 42 * 3);
    EXPECT_EQ(parse("YUV4MPEG2 W7 H6 Cmono").picture_bytes(), 42);
    EXPECT_TRUE(parse("YUV4MPEG2 W7 H6 Cmono").coding.full_range);
    EXPECT_FALSE(parse("YUV4MPEG2 W7 H6 C444").coding.full_range);
    EXPECT_EQ(parse("YUV4MPEG2 W8 H6 F0:0").rate.value(), 25);
    // Every sink accepts numerators and denominators up to a billion.
    EXPECT_EQ(parse("YUV4MPEG2 W8 H6 F9000000000000000000:300000000000000000").rate.numerator, 30);
    EXPECT_EQ(parse("YUV4MPEG2 W8 H6 F9000000001:300000001").rate.numerator, 30);
}

// Every rate that can be read can also be written.
TEST(Y4mHeader, ReducesRatesWithHugeTerms) {
    const auto rate = [](std::string_view text) {
        const auto read = parse(fmt::format("YUV4MPEG2 W8 H6 F{}", text)).rate;
        return std::pair{read.numerator, read.denominator};
    };
    EXPECT_EQ(rate("60000000000:2002000000"), (std::pair<std::int64_t, std::int64_t>{30000, 1001}));
    EXPECT_EQ(rate("9223372036854775807:307445734561825860"), (std::pair<std::int64_t, std::int64_t>{30, 1}));
    EXPECT_EQ(rate("4611686018427387904:153722867280912931"), (std::pair<std::int64_t, std::int64_t>{30, 1}));
    EXPECT_EQ(rate("9223372036854775807:1"), (std::pair<std::int64_t, std::int64_t>{25, 1}));
}

TEST(Y4mHeader, RejectsInvalidHeaders) {
    for (const auto* line :
         {"", "YUV4MPEG", "YUV4MPEG2", "YUV4MPEG2 W8", "YUV4MPEG2 H8", "YUV4MPEG2 W0 H8", "YUV4MPEG2 W-8 H8",
          "YUV4MPEG2 W16385 H8", "YUV4MPEG2 W99999999999999999999 H8", "YUV4MPEG2 W8x H8", "YUV4MPEG2 W8 H8 C420p11",
          "YUV4MPEG2 W8 H8 C410", "YUV4MPEG2 W8 H8 XYSCSS=410", "RIFF"})
        EXPECT_EQ(error_of([&] { parse(line); }), ErrorCode::no_input) << line;
    EXPECT_EQ(error_of([&] { parse_y4m_header("YUV4MPEG2 W100 H100", "test", 9'999); }), ErrorCode::no_input);
}

TEST(Y4mHeader, SupportsFfmpegColourSpaces) {
    EXPECT_EQ(parse("YUV4MPEG2 W9 H6 C411").picture_bytes(), 54 + 2 * 3 * 6);
    EXPECT_EQ(parse("YUV4MPEG2 W7 H6 C444alpha").picture_bytes(), 42 * 4);
    EXPECT_EQ(parse("YUV4MPEG2 W7 H5 C420p10 XYSCSS=420P10").picture_bytes(), 2 * (35 + 2 * 12));
    EXPECT_EQ(parse("YUV4MPEG2 W7 H6 Cmono10").picture_bytes(), 84);
    EXPECT_TRUE(parse("YUV4MPEG2 W7 H6 Cmono16").coding.full_range);
    EXPECT_EQ(parse("YUV4MPEG2 W7 H6 XYSCSS=444P12").format, AV_PIX_FMT_YUV444P12LE);
    EXPECT_EQ(parse("YUV4MPEG2 W7 H6 XYSCSS=420JPEG C422").format, AV_PIX_FMT_YUV422P) << "C counts";
}

#ifdef FRAMEWIRE_FFMPEG

// The output of FFmpeg through a pipe is read in the same way as FFmpeg reads it.
TEST(Y4m, ReadsEveryPixelFormatThatFfmpegWrites) {
    const TemporaryFolder folder;
    for (const std::string format :
         {"yuv411p",   "yuv420p",   "yuv422p",   "yuv444p",   "yuva444p",  "yuv420p9",  "yuv422p9",
          "yuv444p9",  "yuv420p10", "yuv422p10", "yuv444p10", "yuv420p12", "yuv422p12", "yuv444p12",
          "yuv420p14", "yuv422p14", "yuv444p14", "yuv420p16", "yuv422p16", "yuv444p16", "gray",
          "gray9",     "gray10",    "gray12",    "gray16"}) {
        // For deep pictures with odd widths, FFmpeg writes half chroma samples, which it cannot read itself.
        const bool deep = format.back() >= '0' && format.back() <= '9';
        const std::string size = deep ? "68x51" : "67x51";
        ASSERT_TRUE(ffmpeg("-f lavfi -i testsrc=rate=25:size=" + size + " -frames:v 3 -vf gblur=sigma=5,format=" +
                           format + " -strict -1 -f yuv4mpegpipe " + (folder / "a.y4m")))
            << format;
        ASSERT_TRUE(ffmpeg("-i " + (folder / "a.y4m") + " -c:v rawvideo -f nut " + (folder / "a.nut")));
        const auto mine = read_video(folder / "a.y4m"), theirs = read_video(folder / "a.nut");
        EXPECT_FALSE(mine.error) << format << " " << mine.message;
        ASSERT_EQ(mine.frames.size(), 3U) << format;
        ASSERT_EQ(theirs.frames.size(), 3U) << format;
        ASSERT_EQ(mine.info.shape, theirs.info.shape) << format;
        EXPECT_GT(psnr(mine.frames[2], theirs.frames[2]), 30) << format;  // the chroma position may differ
        const auto source = open_source(folder / "a.y4m", {.seekable = true});
        ASSERT_TRUE(source->seek(2.0 / 25)) << format;
        HostImage image(source->info().shape);
        FrameTime time;
        ASSERT_TRUE(source->read(image.view(), time)) << format;
        EXPECT_EQ(time.index, 2) << format;
        EXPECT_TRUE(std::equal(mine.frames[2].begin(), mine.frames[2].end(), image.view().data())) << format;
    }
}

#endif

TEST(Y4m, ReadsTheCompleteFramesOfATruncatedFile) {
    const TemporaryFolder folder;
    const Shape shape{1, 6, 8, 1};
    const std::vector<Bytes> frames = {random_frame(shape, 1), random_frame(shape, 2)};
    write_video(folder / "a.y4m", shape, frames);
    const auto whole = read_file(folder / "a.y4m");
    const auto header_bytes = whole.size() - 2 * 54;
    for (std::size_t bytes = 0; bytes < whole.size(); ++bytes) {
        write_file(folder / "cut.y4m", whole.data(), bytes);
        const auto reading = read_video(folder / "cut.y4m");
        if (bytes + 1 < header_bytes) {
            // A truncated header may be valid for a smaller picture; the data after it never are.
            EXPECT_TRUE(reading.frames.empty()) << bytes;
            continue;
        }
        const auto body = bytes + 1 == header_bytes ? 0 : bytes - header_bytes;
        EXPECT_EQ(reading.frames.size(), body / 54) << bytes;
        if (body % 54 == 0)
            EXPECT_FALSE(reading.error) << bytes << reading.message;
        else
            EXPECT_EQ(reading.error, ErrorCode::source_lost) << bytes;
    }
}

TEST(Y4m, RejectsOverlongLines) {
    const TemporaryFolder folder;
    write_file(folder / "a.y4m", "YUV4MPEG2 W8 H8 X" + std::string(100'000, 'x'));
    EXPECT_EQ(read_video(folder / "a.y4m").error, ErrorCode::no_input);
}

TEST(Y4m, ReadsAPipeInSmallChunks) {
    const TemporaryFolder folder;
    const Shape shape{1, 60, 80, 1};
    std::vector<Bytes> frames;
    for (std::uint64_t number = 0; number < 5; ++number) frames.push_back(random_frame(shape, number));
    write_video(folder / "a.y4m", shape, frames);
    const auto bytes = read_file(folder / "a.y4m");
    ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);  // a named pipe may have any name
    std::jthread writer([&] {
        std::ofstream pipe(folder / "pipe", std::ios::binary);
        for (std::size_t at = 0; at < bytes.size(); at += 1999) {
            pipe.write(reinterpret_cast<const char*>(bytes.data()) + at,
                       static_cast<std::streamsize>(std::min<std::size_t>(1999, bytes.size() - at)));
            pipe.flush();
        }
    });
    EXPECT_EQ(read_video(folder / "pipe").frames, frames);
}

TEST(Y4m, StopInterruptsTheWaitForAPipe) {
    const TemporaryFolder folder;
    ASSERT_EQ(::mkfifo((folder / "pipe.y4m").c_str(), 0600), 0);
    std::stop_source stop;
    std::promise<void> returned;
    std::jthread stopper([&] {
        const int pipe = ::open((folder / "pipe.y4m").c_str(), O_WRONLY);
        const std::string_view begun = "YUV4MPEG2 W80 H60 Cmono\nFRAME\nxxxx";
        EXPECT_EQ(::write(pipe, begun.data(), begun.size()), static_cast<ssize_t>(begun.size()));
        EXPECT_TRUE(kit::eventually([&] {
            int unread = 0;
            return ::ioctl(pipe, FIONREAD, &unread) == 0 && unread == 0;
        }));
        stop.request_stop();
        returned.get_future().wait_for(std::chrono::minutes(2));  // the pipe stays open
        ::close(pipe);
    });
    const auto begin = Clock::now();
    const auto reading = read_video(folder / "pipe.y4m", {.stop = stop.get_token()});
    EXPECT_FALSE(reading.error) << reading.message;
    returned.set_value();
    EXPECT_TRUE(reading.frames.empty());
    EXPECT_LT(milliseconds_since(begin), 60'000);
}

std::string header_of(const std::string& path) {
    const auto bytes = read_file(path);
    return {bytes.begin(), std::find(bytes.begin(), bytes.end(), std::uint8_t{'\n'})};
}

// Random bytes would not survive a conversion to BGR and back.
TEST(Y4m, PassesUnfilteredPicturesThroughUnchanged) {
    const TemporaryFolder folder;
    const auto in = folder / "in.y4m", out = folder / "out.y4m";
    for (const std::string form :
         {"C420jpeg XYSCSS=420JPEG XCOLORRANGE=FULL", "C420mpeg2 XYSCSS=420MPEG2 XCOLORRANGE=LIMITED",
          "C420paldv XYSCSS=420PALDV XCOLORRANGE=LIMITED", "C422 XYSCSS=422 XCOLORRANGE=LIMITED",
          "C444 XYSCSS=444 XCOLORRANGE=FULL"}) {
        SCOPED_TRACE(form);
        const auto line = "YUV4MPEG2 W161 H119 F30:1 Ip A4:3 " + form;
        const auto picture_bytes = static_cast<int>(parse(line).picture_bytes());
        Bytes bytes(line.begin(), line.end());
        bytes.push_back('\n');
        for (std::uint64_t number = 0; number < 3; ++number) {
            for (const char letter : std::string_view("FRAME\n")) bytes.push_back(static_cast<std::uint8_t>(letter));
            const auto picture = random_frame({1, 1, picture_bytes, 1}, number);
            bytes.insert(bytes.end(), picture.begin(), picture.end());
        }
        write_file(in, bytes.data(), bytes.size());

        const auto source = open_source(in);
        const auto& info = source->info();
        EXPECT_TRUE(info.has_native_frames);
        const auto sink = open_sink(out, info.shape, info.rate, {.replace = true, .facts = info.facts});
        HostImage image(info.shape);
        std::vector<std::shared_ptr<const NativeFrame>> pictures;
        for (FrameTime time; source->read_own(image.view(), time);) {
            pictures.push_back(source->native_frame());
            ASSERT_TRUE(pictures.back());
            EXPECT_TRUE(sink->write_own(*pictures.back(), time));
        }
        sink->finish();
        EXPECT_TRUE(read_file(out) == bytes);
        // Native frames stay valid while others are read and images are made from them.
        const auto images = read_video(in).frames;
        ASSERT_EQ(images.size(), pictures.size());
        for (std::size_t number = 0; number < images.size(); ++number) {
            pictures[number]->to_image(image.view());
            EXPECT_TRUE(std::equal(images[number].begin(), images[number].end(), image.view().data())) << number;
        }
    }
}

#ifdef FRAMEWIRE_FFMPEG
TEST(Y4m, ColourConversionMatchesFfmpeg) {
    const TemporaryFolder folder;
    for (const auto* format : {"yuv420p", "yuvj420p", "yuv422p", "yuv444p", "gray"}) {
        const auto y4m = folder / "a.y4m";
        ASSERT_TRUE(ffmpeg(
            fmt::format("-f lavfi -i testsrc2=size=162x118:rate=30,gblur=sigma=4 -frames:v 3 -strict -1 -pix_fmt {} {}",
                        format, y4m)));
        const auto reading = read_video(y4m);
        ASSERT_EQ(reading.frames.size(), 3U) << format << reading.message;
        EXPECT_EQ(reading.info.shape.channels, std::string(format) == "gray" ? 1 : 3);
        ASSERT_TRUE(ffmpeg(fmt::format("-i {} -sws_flags bilinear+accurate_rnd+full_chroma_int -frames:v 1 {}", y4m,
                                       folder / "want.png")));
        EXPECT_GT(psnr(reading.frames[0], read_video(folder / "want.png").frames.at(0)), 34) << format;
    }
}

// Returns the pictures of a file, without its header line.
Bytes pictures_in(const std::string& path) {
    const auto bytes = read_file(path);
    const auto end = std::find(bytes.begin(), bytes.end(), std::uint8_t{'\n'});
    return end == bytes.end() ? Bytes() : Bytes(end + 1, bytes.end());
}

// Unfiltered pictures are written as the ffmpeg tool writes them.
TEST(Y4m, PreservesTheFormatOfUnfilteredPictures) {
    struct Case {
        const char *pixels, *tag, *range;
    };
    const TemporaryFolder folder;
    for (const auto& one : {Case{"yuv420p", "C420mpeg2", "LIMITED"}, Case{"yuvj420p", "C420jpeg", "FULL"},
                            Case{"yuv422p", "C422", "LIMITED"}, Case{"yuv444p", "C444", "LIMITED"}}) {
        SCOPED_TRACE(one.pixels);
        const auto clip = folder / "clip.mkv", want = folder / "want.y4m", out = folder / "out.y4m";
        ASSERT_TRUE(ffmpeg(fmt::format("-f lavfi -i testsrc2=size=161x119:rate=30 -frames:v 3 -c:v {} -pix_fmt {} {}",
                                       one.pixels[3] == 'j' ? "mjpeg" : "ffv1", one.pixels, clip)));
        ASSERT_TRUE(ffmpeg(fmt::format("-i {} -strict -1 {}", clip, want)));
        const auto source = open_source(clip);
        const auto& info = source->info();
        const auto sink = open_sink(out, info.shape, info.rate, {.replace = true, .facts = info.facts});
        HostImage image(info.shape);
        for (FrameTime time; source->read(image.view(), time);)
            EXPECT_TRUE(source->native_frame() && sink->write_own(*source->native_frame(), time));
        sink->finish();
        EXPECT_EQ(pictures_in(out), pictures_in(want));
        EXPECT_NE(header_of(out).find(fmt::format(" {} ", one.tag)), std::string::npos) << header_of(out);
        EXPECT_NE(header_of(out).find(fmt::format("COLORRANGE={}", one.range)), std::string::npos) << header_of(out);
    }
}
#endif

// Filtered images have the medium's format, or the requested one, and are read back unchanged.
TEST(Y4m, FilteredImagesUseTheSourceFormatByDefault) {
    struct Case {
        const char *keys, *header;
        ChromaSiting siting{};
        bool full_range = false;
    };
    const TemporaryFolder folder;
    const Shape shape{1, 119, 161, 3};
    const auto image = smooth_frame(shape, 0);
    const auto view = HostView<const std::uint8_t>(image.data(), shape);
    for (const auto& one : {Case{"", "A4:3 C420mpeg2 XYSCSS=420MPEG2 XCOLORRANGE=LIMITED"},
                            Case{"", "A4:3 C420jpeg XYSCSS=420JPEG XCOLORRANGE=FULL", siting_centre, true},
                            Case{"", "A4:3 C420paldv XYSCSS=420PALDV XCOLORRANGE=LIMITED", siting_top_left},
                            Case{"", "A4:3 C420mpeg2 XYSCSS=420MPEG2 XCOLORRANGE=LIMITED", {true, false}},
                            Case{":pixels=yuv422p", "A4:3 C422 XYSCSS=422 XCOLORRANGE=LIMITED"},
                            Case{":range=full", "A4:3 C420mpeg2 XYSCSS=420MPEG2 XCOLORRANGE=FULL"},
                            Case{":pixels=yuv444p:range=full", "A4:3 C444 XYSCSS=444 XCOLORRANGE=FULL"}}) {
        SCOPED_TRACE(one.header);
        const auto path = folder / "a.y4m";
        const auto sink = open_sink(path + one.keys, shape, {30, 1},
                                    {.replace = true,
                                     .facts = {.coding = YuvCoding{YuvMatrix::bt601, one.full_range},
                                               .format = yuv_420,
                                               .siting = one.siting,
                                               .pixel_aspect = {4, 3}}});
        sink->write(view, {});
        sink->finish();
        const auto header = header_of(path);
        EXPECT_EQ(header, fmt::format("YUV4MPEG2 W161 H119 F30:1 Ip {}", one.header));
        const auto reading = read_video(path);
        ASSERT_EQ(reading.frames.size(), 1U) << reading.message;
        EXPECT_GT(psnr(reading.frames[0], image), 38);
        const auto& facts = reading.info.facts;
        ASSERT_TRUE(facts.format && facts.coding);
        EXPECT_EQ(*facts.coding, (YuvCoding{YuvMatrix::bt601, header.ends_with("FULL")}));
    }
}

TEST(Y4m, Writes444IfTheSourceFormatIsUnknown) {
    const TemporaryFolder folder;
    const Shape shape{1, 6, 8, 3};
    write_video(folder / "a.y4m", shape, {random_frame(shape, 1)});
    const auto bytes = read_file(folder / "a.y4m");
    const std::string header = "YUV4MPEG2 W8 H6 F25:1 Ip A1:1 C444 XYSCSS=444 XCOLORRANGE=FULL\nFRAME\n";
    ASSERT_EQ(bytes.size(), header.size() + static_cast<std::size_t>(shape.bytes()));
    EXPECT_TRUE(std::equal(header.begin(), header.end(), bytes.begin()));
    EXPECT_EQ(error_of([&] { open_sink(folder / "b.y4m:pixels=yuv411p", shape, {30, 1}); }), ErrorCode::usage);
}

using namespace framewire::testing;

class RawFrames : public ::testing::TestWithParam<int> {
protected:
    RawFrames() {
        for (int number = 0; number < 3; ++number) {
            frames_.push_back(random_frame(shape_, static_cast<std::uint64_t>(number)));
            file_ += std::string(frames_.back().begin(), frames_.back().end());
        }
        write_file(path_, file_);
    }

    std::unique_ptr<Source> open() const {
        return open_source(fmt::format("raw:{}:size={}x{}:format={}", path_, shape_.width, shape_.height,
                                       shape_.channels == 3 ? "bgr" : "gray"));
    }
    bool read(Source& source) { return source.read(image_.view(), time_); }
    // Returns the message of the error with which reading fails.
    std::string failure(Source& source) {
        std::string message;
        EXPECT_EQ(error_of([&] { read(source); }, &message), ErrorCode::source_lost);
        return message;
    }

    const TemporaryFolder folder_;
    const std::string path_ = folder_ / "a.raw";
    const Shape shape_{1, 211, 333, GetParam()};
    std::vector<Bytes> frames_;
    std::string file_;
    HostImage image_{shape_};
    FrameTime time_{};
};
INSTANTIATE_TEST_SUITE_P(Raw, RawFrames, ::testing::Values(1, 3));

TEST_P(RawFrames, AreReadAgainAfterASeek) {
    const auto source = open();
    EXPECT_FALSE(source->info().has_native_frames);
    for (const std::size_t first : {0, 2, 1}) {
        ASSERT_TRUE(source->seek(static_cast<double>(first) / 30));
        for (auto number = first; number < frames_.size(); ++number) {
            ASSERT_TRUE(read(*source));
            EXPECT_EQ(time_.index, static_cast<std::int64_t>(number));
            EXPECT_TRUE(std::ranges::equal(frames_[number],
                                           Bytes(image_.view().data(), image_.view().data() + shape_.bytes())));
        }
        EXPECT_FALSE(read(*source));
    }
}

TEST_P(RawFrames, ReportATruncatedFrame) {
    std::filesystem::resize_file(path_, file_.size() - 7);
    const auto source = open();
    EXPECT_TRUE(read(*source));
    EXPECT_TRUE(read(*source));
    const auto expected =
        fmt::format("truncated in frame 2: it has {} of {} bytes", shape_.bytes() - 7, shape_.bytes());
    const auto message = failure(*source);
    EXPECT_NE(message.find(expected), std::string::npos) << message;
}

TEST_P(RawFrames, ReportTruncationAfterOpening) {
    const auto source = open();
    ASSERT_TRUE(read(*source));
    const auto left = shape_.bytes() + 100 * shape_.row_bytes() + 11;
    std::filesystem::resize_file(path_, static_cast<std::uintmax_t>(left));
    const auto expected =
        fmt::format("truncated in frame 1: it has {} of {} bytes", left - shape_.bytes(), shape_.bytes());
    const auto message = failure(*source);
    EXPECT_NE(message.find(expected), std::string::npos) << message;
}

}  // namespace
}  // namespace framewire
