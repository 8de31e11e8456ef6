#include "framewire/media/ffmpeg/gpu_decoder.hpp"
#include "e2e/real_data.hpp"
#include "framewire/core/log.hpp"
#include "framewire/cuda/device.hpp"
#include "framewire/media/ffmpeg/source.hpp"
#include "framewire/media/media_testing.hpp"
#include "framewire/media/sources.hpp"
#include "framewire/plan/frame.hpp"
#include "kit/filter_check.hpp"
#include "kit/needs.hpp"
#include "kit/sources.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace framewire {
namespace {

using namespace testing;

std::string clip(const std::string& name) { return kit::clips_folder() + name; }
constexpr std::size_t clip_frames = 15;

// Collects the log lines of a test.
class Log {
public:
    Log()
        : before_(set_log_output({LogLevel::debug, [this](LogLevel level, std::string_view text) {
                                      if (level >= LogLevel::info) lines_.emplace_back(text);
                                  }})) {}
    ~Log() { set_log_output(before_); }
    Log(const Log&) = delete;
    Log& operator=(const Log&) = delete;

    // Returns how many lines contain `text`.
    std::ptrdiff_t count(std::string_view text) const {
        return std::ranges::count_if(lines_, [&](const auto& line) { return line.find(text) != line.npos; });
    }

private:
    std::vector<std::string> lines_;
    LogOutput before_;
};

TEST(GpuDecoderTest, FindsTheDecoderThatCanUseTheGpu) {
    const auto* const h264 = avcodec_find_decoder(AV_CODEC_ID_H264);
    ASSERT_NE(h264, nullptr);
    FRAMEWIRE_NEEDS(GpuDecoder::find(*h264), "this FFmpeg was built without NVDEC");
    EXPECT_EQ(GpuDecoder::find(*h264), h264);
    const auto* const dav1d = avcodec_find_decoder_by_name("libdav1d");
    if (dav1d) {
        EXPECT_STREQ(GpuDecoder::find(*dav1d)->name, "av1");
    }
    EXPECT_EQ(GpuDecoder::find(*avcodec_find_decoder(AV_CODEC_ID_RAWVIDEO)), nullptr);
}

// The inverse transforms of MPEG and JPEG are defined only up to rounding.
TEST(GpuDecoderTest, KnowsTheExactCodecs) {
    for (const auto codec : {AV_CODEC_ID_MJPEG, AV_CODEC_ID_MPEG1VIDEO, AV_CODEC_ID_MPEG2VIDEO, AV_CODEC_ID_MPEG4})
        EXPECT_FALSE(GpuDecoder::is_exact(codec)) << avcodec_get_name(codec);
    for (const auto codec : {AV_CODEC_ID_H264, AV_CODEC_ID_HEVC, AV_CODEC_ID_VP8, AV_CODEC_ID_VP9})
        EXPECT_TRUE(GpuDecoder::is_exact(codec)) << avcodec_get_name(codec);
}

TEST(GpuDecoderTest, OnlyThreeChoicesAreAllowed) {
    EXPECT_EQ(parse_decode("auto"), DecodeChoice::automatic);
    EXPECT_EQ(parse_decode("cpu"), DecodeChoice::cpu);
    EXPECT_EQ(parse_decode("cuda"), DecodeChoice::cuda);
    std::string message;
    EXPECT_EQ(error_of([] { parse_decode("gpu"); }, &message), ErrorCode::usage);
    EXPECT_EQ(message, "unknown decoder 'gpu'; allowed: auto, cpu, cuda");
}

class ClipTest : public ::testing::Test {
protected:
    void SetUp() override {
        if (!std::filesystem::is_directory(kit::clips_folder()))
            GTEST_SKIP() << "no clips to read: they lie with the sources";
    }
};

// Opens a file as a network stream, which ends with an error.
std::unique_ptr<Source> open_live(const std::string& path, SourceOptions options) {
    options.retries = 0;
    return open_ffmpeg_source({path, "file:" + path, "", FfmpegAddress::Kind::network}, options);
}

// Everything that a source delivers, by one of its functions.
struct Delivered {
    std::vector<Bytes> frames;
    std::vector<double> seconds;
    std::size_t on_gpu = 0;  // frames whose planes were in GPU memory
    std::int64_t damaged = 0;
    std::string error;
};

enum class By { read, planes, capture };

Bytes bytes_of(const HostYuv<const std::uint8_t>& picture) {
    Bytes bytes;
    for (int plane = 0; plane < picture.info.planes(); ++plane)
        for (int y = 0; y < picture.info.plane_rows(plane); ++y) {
            const auto* row = picture.planes[static_cast<std::size_t>(plane)].row(0, y);
            bytes.insert(bytes.end(), row, row + picture.info.plane_row_bytes(plane));
        }
    return bytes;
}

Delivered deliver(const OpenSource& open, const SourceOptions& options, By by = By::read, double from_s = 0) {
    Delivered got;
    std::unique_ptr<Source> source;
    try {
        source = open(options);
        if (from_s > 0) source->seek(from_s);
        const auto shape = source->info().shape;
        Executor executor(by == By::capture ? BackendChoice::cuda : BackendChoice::cpu);
        Frame frame(shape, executor);
        for (FrameTime time;;) {
            const bool is_there = by == By::capture  ? source->capture(frame, time)
                                  : by == By::planes ? source->read_own(frame.fill_on_host(), time)
                                                     : source->read(frame.fill_on_host(), time);
            if (!is_there) break;
            const auto own = source->native_frame();
            got.on_gpu += own && own->on_gpu();
            got.seconds.push_back(time.seconds);
            if (by == By::planes && own) {
                got.frames.push_back(bytes_of(own->planes().value()));
                continue;
            }
            if (frame.filled_on_gpu()) {
                frame.upload();
                frame.download();
                frame.wait();
            }
            const auto* data = frame.host().data();
            got.frames.emplace_back(data, data + shape.bytes());
        }
    } catch (const Error& error) {
        got.error = error.what();
    }
    if (source) got.damaged = source->damaged();
    return got;
}

OpenSource file(const std::string& path) {
    return [path](const SourceOptions& options) { return open_source(path, options); };
}
OpenSource live(const std::string& path) {
    return [path](const SourceOptions& options) { return open_live(path, options); };
}

void expect_same(const Delivered& got, const Delivered& want) {
    ASSERT_EQ(got.frames.size(), want.frames.size()) << got.error;
    for (std::size_t number = 0; number < want.frames.size(); ++number)
        ASSERT_TRUE(got.frames[number] == want.frames[number]) << "frame " << number << " differs";
    EXPECT_EQ(got.seconds, want.seconds);
    EXPECT_EQ(got.damaged, want.damaged);
    EXPECT_EQ(got.error, want.error);
}

TEST_F(ClipTest, AutoDecodesFilesOnTheCpuWithoutALine) {
    const Log log;
    const auto got = deliver(file(clip("h264.mp4")), {.decode = DecodeChoice::automatic});
    EXPECT_EQ(got.frames.size(), clip_frames) << got.error;
    EXPECT_EQ(got.on_gpu, 0u);
    expect_same(got, deliver(file(clip("h264.mp4")), {}));
    EXPECT_EQ(log.count("decoding"), 0);
}

TEST_F(ClipTest, WithoutAGpuAutoUsesTheCpuAndCudaIsAnError) {
    if (!kit::why_not(Backend::cuda)) GTEST_SKIP() << "this machine has a GPU";
    const Log log;
    const auto want = deliver(live(clip("h264.mp4")), {});
    ASSERT_EQ(want.frames.size(), clip_frames) << want.error;
    const auto got = deliver(live(clip("h264.mp4")), {.decode = DecodeChoice::automatic});
    EXPECT_TRUE(got.frames == want.frames);
    EXPECT_EQ(log.count("h264.mp4: decoding on the CPU: " + cuda::why_no_device()), 1);
    const auto monitor = std::make_shared<DecodeMonitor>();
    EXPECT_FALSE(monitor->get());
    deliver(live(clip("h264.mp4")), {.decode = DecodeChoice::automatic, .decode_monitor = monitor});
    EXPECT_EQ(monitor->get(), (DecodeStatistics{Backend::cpu, cuda::why_no_device()}));
    const auto refused = read_video(clip("h264.mp4"), {.decode = DecodeChoice::cuda});
    EXPECT_EQ(refused.error, ErrorCode::config);
    EXPECT_EQ(refused.message, clip("h264.mp4") + ": cannot decode on the GPU: " + cuda::why_no_device());
}

TEST_F(ClipTest, AutoLeavesInexactCodecsToTheCpu) {
    const Log log;
    const auto want = deliver(live(clip("mpeg2.mpg")), {});
    ASSERT_EQ(want.frames.size(), clip_frames) << want.error;
    EXPECT_TRUE(deliver(live(clip("mpeg2.mpg")), {.decode = DecodeChoice::automatic}).frames == want.frames);
    EXPECT_EQ(log.count("the GPU may give other bytes for mpeg2video, which --decode cuda allows"), 1);
}

// Also with `cuda`, on any machine.
TEST(GpuDecoderTest, LeavesImagesAndRawVideoToTheCpu) {
    FRAMEWIRE_NEEDS(avcodec_find_encoder(AV_CODEC_ID_MJPEG), "this FFmpeg has no encoder of JPEG");
    const TemporaryFolder folder;
    const auto graph = "lavfi:testsrc2=size=64x48:rate=5:duration=1";
    const auto video = read_video(graph);
    ASSERT_EQ(video.frames.size(), 5u);
    for (const auto* name : {"picture.jpg", "picture.bmp", "raw.avi:codec=rawvideo"}) {
        const auto sink = open_sink(folder / name, video.info.shape, {5, 1});
        sink->write(view_of(video.frames.front(), video.info.shape), {});
        sink->finish();
    }
    for (const auto& source :
         {std::string(graph), folder / "picture.jpg", folder / "picture.bmp", folder / "raw.avi", folder / ""}) {
        const auto monitor = std::make_shared<DecodeMonitor>();
        const auto got = read_video(source, {.decode = DecodeChoice::cuda, .decode_monitor = monitor});
        EXPECT_EQ(got.error, std::nullopt) << source << ": " << got.message;
        EXPECT_TRUE(got.frames == read_video(source).frames) << source;
        EXPECT_EQ(monitor->get(), DecodeStatistics{}) << source;
    }
}

#if FRAMEWIRE_CUDA

class NvdecTest : public ClipTest {
protected:
    void SetUp() override {
        ClipTest::SetUp();
        if (const auto why = kit::why_not(Backend::cuda)) GTEST_SKIP() << *why;
    }
};

// Compares the GPU's frames with the CPU's: as images on the host, as planes, and as images on the GPU.
void check(const OpenSource& open, std::size_t frames, std::size_t on_gpu, DecodeChoice choice,
           SourceOptions options = {}, double from_s = 0) {
    for (const auto by : {By::read, By::planes, By::capture}) {
        SCOPED_TRACE(static_cast<int>(by));
        options.decode = DecodeChoice::cpu;
        const auto want = deliver(open, options, by, from_s);
        EXPECT_EQ(want.frames.size(), frames) << want.error;
        EXPECT_EQ(want.on_gpu, 0u);
        options.decode = choice;
        const auto got = deliver(open, options, by, from_s);
        EXPECT_EQ(got.on_gpu, on_gpu) << got.error;
        expect_same(got, want);
        if (::testing::Test::HasFailure()) return;
    }
}

TEST_F(NvdecTest, GivesTheBytesOfTheCpusDecoder) {
    for (const auto* const name : {"h264.mp4", "full_range.mp4", "interlaced.mkv", "hevc.mp4", "hevc10.mp4", "vp8.webm",
                                   "vp9.webm", "vp9_10.webm"}) {
        SCOPED_TRACE(name);
        check(file(clip(name)), clip_frames, clip_frames, DecodeChoice::cuda);
    }
}

TEST_F(NvdecTest, AutoDecodesLiveSourcesOnTheGpu) {
    for (const auto* const name : {"h264.mp4", "hevc10.mp4", "vp9.webm"}) {
        SCOPED_TRACE(name);
        const auto want = deliver(live(clip(name)), {}),
                   got = deliver(live(clip(name)), {.decode = DecodeChoice::automatic});
        EXPECT_EQ(want.frames.size(), clip_frames) << want.error;
        EXPECT_EQ(got.on_gpu, clip_frames) << got.error;
        EXPECT_TRUE(got.frames == want.frames);
    }
}

// The GPU decodes both sizes. Frames of the second one are scaled, so they are no native frames.
TEST_F(NvdecTest, FollowsAChangeOfTheSize) {
    check(file(clip("resized.ts")), 2 * clip_frames, clip_frames, DecodeChoice::cuda);
}

TEST_F(NvdecTest, SeeksAndReadsRanges) {
    check(file(clip("h264.mp4")), 8, 8, DecodeChoice::cuda, {}, 0.28);
    check(file(clip("hevc.mp4")), 5, 5, DecodeChoice::cuda, {.start_seconds = 0.2, .duration_seconds = 0.2});
}

// A live source goes on with the frames of the CPU.
TEST_F(NvdecTest, LeavesARefusedStreamToTheCpuWithOneLine) {
    const Log log;
    const auto path = clip("h264_444.mp4");
    const auto want = deliver(live(path), {}), got = deliver(live(path), {.decode = DecodeChoice::automatic});
    EXPECT_EQ(log.count("decoding on the CPU: h264 High 4:4:4 Predictive of pixel format yuv444p"), 1);
    EXPECT_EQ(want.frames.size(), clip_frames) << want.error;
    EXPECT_TRUE(got.frames == want.frames);
    EXPECT_EQ(got.on_gpu, 0u);
    const auto refused = read_video(path, {.decode = DecodeChoice::cuda});
    EXPECT_EQ(refused.error, ErrorCode::config);
    EXPECT_TRUE(refused.frames.empty());
}

// A file whose damage shows outside the pictures is decoded again on the CPU, so frames, counts and the error are those
// of the CPU.
TEST_F(NvdecTest, ADamagedFileIsDecodedOnTheCpu) {
    const TemporaryFolder folder;
    auto bytes = read_file(clip("resized.ts"));
    std::fill(bytes.begin() + 9'000, bytes.begin() + 9'400, std::uint8_t{0});
    write_file(folder / "damaged.ts", bytes.data(), bytes.size());
    const auto want = deliver(file(folder / "damaged.ts"), {});
    EXPECT_GT(want.damaged, 0);
    expect_same(deliver(file(folder / "damaged.ts"), {.decode = DecodeChoice::cuda}), want);
}

// Reads every video of two folders as a camera would send it. The test says which ones the GPU decoded.
TEST_F(NvdecTest, RealVideosHaveTheBytesOfTheCpu) {
    constexpr std::int64_t enough_of_the_cpu = 10;
    std::int64_t on_gpu = 0;
    for (const auto* folder : {"codec_video", "moving_objects"}) {
        const auto path = e2e::real_data(folder);
        FRAMEWIRE_NEEDS_REAL(path);
        std::vector<std::string> files;
        for (const auto& entry : std::filesystem::recursive_directory_iterator(path))
            if (entry.is_regular_file() && parse_source(entry.path()).kind->name == "video")
                files.push_back(entry.path());
        std::ranges::sort(files);
        for (const auto& name : files) {
            SCOPED_TRACE(name);
            const auto monitor = std::make_shared<DecodeMonitor>();
            std::unique_ptr<Source> of_cpu, tested;
            try {
                of_cpu = open_live(name, {});
            } catch (const Error&) {
                continue;  // no video
            }
            tested = open_live(name, {.decode = DecodeChoice::automatic, .decode_monitor = monitor});
            HostImage want(of_cpu->info().shape), got(tested->info().shape);
            std::int64_t frames = 0;
            FrameTime want_time, got_time;
            // Returns false at the end of the stream, which is an error of a live source.
            const auto read = [](Source& source, HostImage& image, FrameTime& time) {
                try {
                    return source.read_own(image.view(), time);
                } catch (const Error& error) {
                    EXPECT_EQ(error.code(), ErrorCode::source_lost);
                    return false;
                }
            };
            for (bool more = true; more; ++frames) {
                more = read(*of_cpu, want, want_time);
                ASSERT_EQ(read(*tested, got, got_time), more) << "frame " << frames;
                if (!more) break;
                const auto own = tested->native_frame();
                if (own && own->on_gpu()) {
                    ++on_gpu;
                    ASSERT_TRUE(bytes_of(own->planes().value()) == bytes_of(of_cpu->native_frame()->planes().value()))
                        << "frame " << frames;
                    ASSERT_EQ(got_time.seconds, want_time.seconds) << "frame " << frames;
                } else if (frames >= enough_of_the_cpu) {
                    break;
                }
            }
            EXPECT_EQ(tested->damaged(), of_cpu->damaged());
            const auto decode = monitor->get().value();
            fmt::print("{}: {} frames, {}{}{}\n", name.substr(path.size() + 1), frames, to_string(decode.on),
                       decode.reason.empty() ? "" : ": ", decode.reason);
        }
    }
    EXPECT_GT(on_gpu, 0);
}

// NVDEC has few pictures, and the pool grows with those that are kept.
TEST_F(NvdecTest, KeptPicturesStayAsTheyWere) {
    const auto source = open_source(clip("h264.mp4"), {.decode = DecodeChoice::cuda});
    HostImage image(source->info().shape), kept_image(source->info().shape);
    std::vector<std::shared_ptr<const NativeFrame>> kept;
    for (FrameTime time; source->read_own(image.view(), time);) kept.push_back(source->native_frame());
    const auto want = read_video(clip("h264.mp4"));
    ASSERT_EQ(kept.size(), want.frames.size());
    for (std::size_t number = 0; number < kept.size(); ++number) {
        kept[number]->to_image(kept_image.view());
        EXPECT_FALSE(
            kit::first_difference(std::as_const(kept_image).view(), view_of(want.frames[number], source->info().shape)))
            << number;
    }
}

#endif

}  // namespace
}  // namespace framewire
