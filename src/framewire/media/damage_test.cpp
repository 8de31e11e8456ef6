// Corrupt, truncated and missing input: everything readable is read, then the source ends with a clear error.
#include "framewire/core/log.hpp"
#include "framewire/media/media_testing.hpp"
#include "kit/images.hpp"

#include <algorithm>
#include <filesystem>
#include <span>
#include <string>
#include <utility>

namespace framewire {
namespace damage_test {

using namespace testing;

// Silences the log: hundreds of corrupt files would each write complaints.
[[maybe_unused]] const bool quiet = (set_log_output({.least = LogLevel::off}), true);

const Shape small{1, 48, 64, 3};

std::vector<Bytes> clip(int count) {
    std::vector<Bytes> frames;
    for (int number = 0; number < count; ++number) frames.push_back(smooth_frame(small, number));
    return frames;
}

TEST(Missing, IsReportedAsNoInput) {
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

// Paths that the system cannot examine, under every kind of name.
TEST(Missing, IsReportedIfThePathCannotBeExamined) {
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

TEST(Raw, ReadsUpToTheTruncation) {
    const TemporaryFolder folder;
    write_file(folder / "a.bgr", std::string(6 * 2 + 5, 'x'));
    const auto reading = read_video("raw:" + (folder / "a.bgr") + ":size=2x1");
    EXPECT_EQ(reading.frames.size(), 2U);
    EXPECT_EQ(reading.error, ErrorCode::source_lost);
    EXPECT_FALSE(reading.info.frames);
}

TEST(Png, TruncatedAnywhereIsAnError) {
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

TEST(Png, RejectsTooManyPixelsBeforeAllocating) {
    const TemporaryFolder folder;
    write_video(folder / "a.png", {1, 101, 100, 1}, {Bytes(10100)});
    EXPECT_EQ(read_video(folder / "a.png", {.max_pixels = 10'099}).error, ErrorCode::no_input);
    EXPECT_EQ(read_video(folder / "a.png", {.max_pixels = 10'100}).frames.size(), 1U);
}

#ifdef FRAMEWIRE_FFMPEG

TEST(NoVideo, IsReportedAsNoInput) {
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

TEST(TooLarge, IsRejected) {
    const TemporaryFolder folder;
    write_video(folder / "a.mkv", small, clip(2));
    EXPECT_EQ(read_video(folder / "a.mkv", {.max_pixels = 64 * 48 - 1}).error, ErrorCode::no_input);
    EXPECT_EQ(read_video(folder / "a.mkv", {.max_pixels = 64 * 48}).frames.size(), 2U);
}

struct Container {
    const char* name;
    const char* file;
    const char* encoding;  // arguments for the ffmpeg tool; empty for framewire's own formats
    bool promises_length;  // so that truncation is noticed at any position
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

    // Names of corrupt files keep their extension, which some demuxers need.
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

TEST_P(Damage, TruncatedFileEndsAfterItsFrames) {
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

TEST_P(Damage, CorruptFileEnds) {
    std::uint64_t random = 12345;
    for (int round = 0; round < 40; ++round) {
        auto bytes = whole_;
        for (int change = 0; change < 1 + round / 4; ++change) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            bytes[(random >> 33) % bytes.size()] = static_cast<std::uint8_t>(random >> 20);
        }
        const auto reading = read_bytes(bytes);  // no crash, no hang, and no other errors
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

// A clip with many flipped bits, the same ones each time.
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
TEST(FrameThreads, DamageIsFoundAndDecodedReproducibly) {
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

// FFmpeg's HEVC decoder reports damage in its log only.
TEST(FrameThreads, DamageOfHevcIsFound) {
    const TemporaryFolder folder;
    const auto path = broken_clip(folder, "-c:v libx265 -x265-params log-level=error", 60);
    for (int run = 0; run < 4; ++run) {
        const auto reading = read_video(path, {.decoder_threads = 1 + run});
        EXPECT_EQ(reading.error, ErrorCode::source_lost) << run;
        EXPECT_GT(reading.frames.size(), 50U) << run;
    }
}

// Frames read before the damage are not delivered again, wherever reading started.
TEST(FrameThreads, FramesBeforeDamageAreDeliveredOnce) {
    const TemporaryFolder folder;
    // Pictures have some thousand bytes, so that the corruption hits picture data and not a header, whose loss would
    // drop the picture. More threads would encode to different bytes.
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

// If the file cannot be read again, the opened one is read on and its damage is reported.
TEST(FrameThreads, AReplacedFileIsReadFromTheOpenedOne) {
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

TEST(Jpeg, TruncatedIsLost) {
    const TemporaryFolder folder;
    write_video(folder / "a.jpg", small, clip(1));
    const auto whole = read_file(folder / "a.jpg");
    for (const int percent : {30, 60, 90}) {
        write_file(folder / "cut.jpg", whole.data(), whole.size() * static_cast<std::size_t>(percent) / 100);
        EXPECT_EQ(read_video(folder / "cut.jpg").error, ErrorCode::source_lost) << percent;
    }
}

TEST(Tiff, TruncatedIsLost) {
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

}  // namespace damage_test
}  // namespace framewire
