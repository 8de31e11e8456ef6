#include "framewire/media/media_testing.hpp"
#include "framewire/media/sources.hpp"

#include <algorithm>

namespace framewire {
namespace {

// Source of two frames of 6x4, then two of 8x4.
class GrowingSource final : public Source {
public:
    const SourceInfo& info() const override { return info_; }
    bool read(HostView<std::uint8_t> image, FrameTime& time) override {
        if (read_ == 4 || is_at_new_size()) return false;
        validate(image, info_.shape, "the image");
        time = {.index = read_, .seconds = static_cast<double>(read_)};
        ++read_;
        return true;
    }
    bool is_at_new_size() const override { return read_ == 2 && info_.shape.width == 6; }
    bool take_new_size() override {
        if (!is_at_new_size()) return false;
        info_.shape.width = 8;
        return true;
    }

private:
    SourceInfo info_{.name = "growing", .shape = {1, 4, 6, 3}, .rate = {1, 1}, .live = true, .frames = 4};
    int read_ = 0;
};

// Reads up to the end or the next change of size, and returns the indices.
std::vector<std::int64_t> indices(Source& source) {
    std::vector<std::int64_t> read;
    HostImage image(source.info().shape);
    for (FrameTime time; source.read(image.view(), time);) read.push_back(time.index);
    return read;
}

TEST(NewSize, PassesThroughRangesAndLoops) {
    const auto open = [] { return std::make_unique<GrowingSource>(); };
    for (const bool loops : {false, true}) {
        SCOPED_TRACE(loops ? "loop" : "range");
        const auto source = loops ? make_looping_source(open, {}) : make_range_source(open, false, {0, 3.0}, {});
        EXPECT_FALSE(source->is_at_new_size());
        EXPECT_FALSE(source->take_new_size());
        EXPECT_EQ(indices(*source), (std::vector<std::int64_t>{0, 1}));
        EXPECT_TRUE(source->is_at_new_size());
        EXPECT_EQ(source->info().shape, (Shape{1, 4, 6, 3}));
        ASSERT_TRUE(source->take_new_size());
        EXPECT_FALSE(source->is_at_new_size());
        EXPECT_EQ(source->info().shape, (Shape{1, 4, 8, 3}));
        EXPECT_EQ(source->info().frames, std::nullopt);
        EXPECT_EQ(indices(*source), loops ? (std::vector<std::int64_t>{2, 3}) : (std::vector<std::int64_t>{2}));
        EXPECT_FALSE(source->take_new_size());
    }
}

using namespace testing;

constexpr std::size_t count = 100;

// Expects a range to equal the corresponding part of `whole`.
void expect_part(const std::string& text, const Reading& whole, double start, std::optional<double> duration) {
    SCOPED_TRACE(fmt::format("{} from {} for {}", text, start, duration.value_or(-1)));
    const auto part = read_video(text, {.start_seconds = start, .duration_seconds = duration});
    std::vector<std::size_t> wanted;
    for (std::size_t number = 0; number < whole.times.size(); ++number) {
        const double at = whole.times[number].seconds;
        if (at >= start - 1e-6 && (!duration || at < start + *duration - 1e-6)) wanted.push_back(number);
    }
    EXPECT_EQ(part.error, wanted.empty() && start > 0 ? std::optional(ErrorCode::no_input) : std::nullopt)
        << part.message;
    ASSERT_EQ(part.frames.size(), wanted.size());
    for (std::size_t number = 0; number < wanted.size(); ++number) {
        ASSERT_EQ(part.frames[number], whole.frames[wanted[number]]) << number;
        EXPECT_NEAR(part.times[number].seconds, whole.times[wanted[number]].seconds, 1e-6) << number;
        EXPECT_EQ(part.times[number].index, whole.times[wanted[number]].index) << number;
    }
}

struct Kind {
    const char* name;
    const char* file;
    const char* encoding;  // arguments for the ffmpeg tool
};

std::ostream& operator<<(std::ostream& out, const Kind& kind) { return out << kind.name; }

class Range : public ::testing::TestWithParam<Kind> {
protected:
    Range() {
        EXPECT_TRUE(ffmpeg(fmt::format("-f lavfi -i testsrc2=size=64x48:rate=25 -frames:v {} {} {}", count,
                                       GetParam().encoding, path_)));
    }

    TemporaryFolder folder_;
    std::string path_ = folder_ / GetParam().file;
};

TEST_P(Range, YieldsExactlyTheRequestedFrames) {
    const auto whole = read_video(path_);
    ASSERT_EQ(whole.frames.size(), count) << whole.message;
    for (const double start : {0.0, 0.02, 0.04, 0.4, 0.44, 1.16, 2.0, 2.04, 3.93, 3.96, 4.0, 400.0})
        expect_part(path_, whole, start, std::nullopt);
    for (const double duration : {0.04, 0.05, 1.0, 10.0}) expect_part(path_, whole, 1.24, duration);
    expect_part(path_, whole, 0, 0.5);
}

TEST_P(Range, SeeksBackAndForth) {
    const auto whole = read_video(path_);
    ASSERT_EQ(whole.frames.size(), count);
    const auto source = open_source(path_, {.seekable = true});
    HostImage image(source->info().shape);
    FrameTime time;
    for (std::size_t step = 0; step < count; ++step) {
        const auto wanted = 37 * step % count;  // visits each frame once
        ASSERT_TRUE(source->seek(static_cast<double>(wanted) / 25)) << wanted;
        for (std::size_t number = wanted; number < std::min(wanted + 3, count); ++number) {
            ASSERT_TRUE(source->read(image.view(), time)) << number;
            ASSERT_EQ(Bytes(image.view().data(), image.view().data() + image.shape().bytes()), whole.frames[number])
                << wanted << " " << number;
            EXPECT_EQ(time.index, static_cast<std::int64_t>(number));
        }
    }
    ASSERT_TRUE(source->seek(10));
    EXPECT_FALSE(source->read(image.view(), time)) << "it is behind the end";
    ASSERT_TRUE(source->seek(1));
    EXPECT_TRUE(source->read(image.view(), time)) << "and comes back";
}

TEST_P(Range, LoopsWithinTheRange) {
    const auto looped = read_video(path_, {.loop = true, .start_seconds = 3.6, .duration_seconds = 0.2},
                                   12);  // five frames of the range
    const auto whole = read_video(path_);
    ASSERT_EQ(looped.frames.size(), 12u) << looped.message;
    for (std::size_t number = 0; number < 12; ++number) {
        EXPECT_EQ(looped.frames[number], whole.frames[90 + number % 5]) << number;
        EXPECT_NEAR(looped.times[number].seconds, 3.6 + static_cast<double>(number) * 0.04, 0.003) << number;
        EXPECT_EQ(looped.times[number].index, static_cast<std::int64_t>(90 + number)) << number;
    }
}

INSTANTIATE_TEST_SUITE_P(
    All, Range,
    ::testing::Values(Kind{"mp4", "a.mp4", "-c:v libx264 -bf 3 -g 12"},
                      Kind{"mp4_fragmented", "a.mp4", "-c:v libx264 -bf 3 -g 12 -movflags frag_keyframe+empty_moov"},
                      Kind{"mp4_one_key_frame", "a.mp4", "-c:v libx264 -bf 3 -g 1000"},
                      Kind{"open_groups", "a.mkv", "-c:v libx264 -bf 3 -g 12 -x264-params open-gop=1"},
                      Kind{"matroska_later", "a.mkv", "-c:v libx264 -bf 3 -g 12 -output_ts_offset 5"},
                      Kind{"ffv1", "a.mkv", "-c:v ffv1"}, Kind{"webm", "a.webm", "-c:v libvpx -g 12"},
                      Kind{"transport_stream", "a.ts", "-c:v libx264 -bf 3 -g 12"},
                      Kind{"mpeg2_open_groups", "b.ts", "-c:v mpeg2video -bf 2 -g 12"},
                      Kind{"avi", "a.avi", "-c:v mjpeg"}, Kind{"avi_mpeg4", "b.avi", "-c:v mpeg4 -bf 2 -g 12"},
                      Kind{"stream_without_times", "a.h264", "-c:v libx264 -bf 0 -g 12"},
                      Kind{"y4m", "a.y4m", "-pix_fmt yuv420p"}),
    ::testing::PrintToStringParamName());

TEST(Range, IsExactForSourcesThatCannotSeek) {
    const std::string camera = "synth:size=32x24:fps=10:frames=20";
    const auto whole = read_video(camera);
    for (const double start : {0.1, 1.0, 1.9, 2.0}) expect_part(camera, whole, start, std::nullopt);
    expect_part(camera, whole, 0.5, 0.3);
    const auto source = open_source(camera, {.seekable = true});
    HostImage image(source->info().shape);
    FrameTime time;
    for (const std::int64_t wanted : {5, 3, 3, 4, 19, 0}) {
        ASSERT_TRUE(source->seek(static_cast<double>(wanted) / 10));
        ASSERT_TRUE(source->read(image.view(), time));
        EXPECT_EQ(time.index, wanted);
    }
}

TEST(Range, IsExactForRawBytes) {
    const TemporaryFolder folder;
    const Shape shape{1, 24, 32, 3};
    std::vector<Bytes> frames;
    for (std::uint64_t number = 0; number < 20; ++number) frames.push_back(random_frame(shape, number));
    write_video(folder / "a.bgr", shape, frames);
    const auto raw = fmt::format("raw:{}:size=32x24:fps=30000/1001", folder / "a.bgr");
    const auto whole = read_video(raw);
    EXPECT_EQ(whole.frames, frames);
    for (const double start : {0.0, 0.03, 0.033366, 0.04, 0.6, 0.634, 0.64, 1e9})
        expect_part(raw, whole, start, std::nullopt);
    expect_part(raw, whole, 0.2, 0.3);
    const auto source = open_source(raw, {.seekable = true});
    HostImage image(shape);
    FrameTime time;
    for (const std::int64_t wanted : {5, 3, 3, 4, 19, 0}) {
        ASSERT_TRUE(source->seek(static_cast<double>(wanted) * 1001 / 30000));
        ASSERT_TRUE(source->read(image.view(), time));
        EXPECT_EQ(time.index, wanted);
    }
}

// A file of 18 frames whose FRAME lines have parameters is as long as one of 19 frames without parameters.
TEST(Range, IsExactForY4mWithFrameParameters) {
    const TemporaryFolder folder;
    const Shape shape{1, 6, 8, 1};
    std::string bytes = "YUV4MPEG2 W8 H6 F25:1 Cmono\n";
    for (std::uint64_t number = 0; number < 18; ++number) {
        const auto picture = random_frame(shape, number);
        bytes += "FRAME Ip\n" + std::string(picture.begin(), picture.end());
    }
    write_file(folder / "a.y4m", bytes);
    EXPECT_EQ(open_source(folder / "a.y4m")->info().frames, 19);
    const auto whole = read_video(folder / "a.y4m");
    EXPECT_EQ(whole.frames.size(), 18u) << whole.message;
    for (const double start : {0.04, 0.28, 0.4, 0.68, 0.72, 0.76})
        expect_part(folder / "a.y4m", whole, start, std::nullopt);
}

TEST(Range, ReportsAStartBeyondTheEnd) {
    const auto reading = read_video("synth:size=32x24:fps=10:frames=20", {.start_seconds = 2});
    EXPECT_EQ(reading.error, ErrorCode::no_input);
    EXPECT_NE(reading.message.find("ends before the start at 2 s"), std::string::npos) << reading.message;
}

}  // namespace
}  // namespace framewire
