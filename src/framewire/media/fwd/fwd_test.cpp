// Round trips of recordings of the difference stream.

#include "framewire/media/fwd/fwd.hpp"

#include "framewire/media/fwd/fwd_testing.hpp"
#include "kit/captured_log.hpp"
#include "kit/needs.hpp"
#include "kit/sources.hpp"

#include <algorithm>
#include <filesystem>
#include <map>

namespace framewire {
namespace fwd_test {

using namespace testing;

void cut(const std::string& path, std::uint64_t bytes) { std::filesystem::resize_file(path, bytes); }

Bytes read_from(Source& source, double seconds, double* at = nullptr) {
    EXPECT_TRUE(source.seek(seconds)) << seconds;
    Bytes image(static_cast<std::size_t>(source.info().shape.bytes()));
    FrameTime time;
    if (!source.read({image.data(), source.info().shape}, time)) return {};
    if (at) *at = time.seconds;
    return image;
}

struct Case {
    const char* keys;
    Shape shape;
    int threshold;
};

TEST(Fwd, KeepsEveryByteWithinTheThreshold) {
    for (const auto& [keys, shape, threshold] :
         {Case{"", {1, 70, 131, 3}, 20}, Case{":mode=exact:threshold=5", {1, 70, 131, 1}, 5},
          Case{":mode=lossless", {1, 70, 131, 3}, 0}, Case{":mode=lossless:key=0", {1, 33, 65, 1}, 0},
          Case{":mode=bounded", {1, 70, 131, 3}, 20}, Case{":mode=bounded:threshold=8:effort=2", {1, 70, 131, 1}, 8},
          Case{":mode=bounded:threshold=0:effort=0", {1, 20, 67, 3}, 0}, Case{":key=0.08", {1, 1, 1, 3}, 20},
          Case{":mode=bounded", {1, 1, 1, 1}, 20}}) {
        SCOPED_TRACE(std::string(keys) + ", " + to_string(shape));
        const TemporaryFolder folder;
        const auto frames = film_frames(shape, 9);
        const auto path = folder / "a.fwd";
        write_video(path + keys, shape, frames);
        const auto reading = read_video(path);
        ASSERT_FALSE(reading.error) << reading.message;
        EXPECT_EQ(reading.info.shape, shape);
        EXPECT_EQ(reading.info.frames, 9);
        EXPECT_EQ(reading.info.rate.value(), 25);
        ASSERT_EQ(reading.frames.size(), frames.size());
        const auto plain = fwd::plain::read_plain(read_file(path));
        EXPECT_EQ(plain.threshold, threshold);
        ASSERT_EQ(plain.frames.size(), frames.size());
        for (std::size_t number = 0; number < frames.size(); ++number) {
            EXPECT_LE(largest_difference(reading.frames[number], frames[number]), threshold) << number;
            EXPECT_TRUE(reading.frames[number] == plain.frames[number].picture) << number;
            EXPECT_EQ(reading.times[number].index, static_cast<std::int64_t>(number));
            EXPECT_EQ(reading.times[number].seconds, static_cast<double>(number) / 25);
        }
        EXPECT_NO_THROW(open_source(path)->require_whole());
        write_video((folder / "b.fwd") + keys, shape, frames);
        EXPECT_TRUE(read_file(path) == read_file(folder / "b.fwd")) << "a second run";
    }
}

TEST(Fwd, WritesKeyframesAtTheRequestedInterval) {
    const TemporaryFolder folder;
    const Shape shape{1, 20, 67, 1};
    write_video((folder / "a.fwd") + ":key=0.2", shape, film_frames(shape, 12));
    const auto times = frame_times_of(folder / "a.fwd", {});
    EXPECT_EQ(times.entries, (std::vector<std::size_t>{0, 5, 10}));
    ASSERT_EQ(times.seconds.size(), 12u);
    for (std::size_t number = 0; number < 12; ++number)
        EXPECT_EQ(times.seconds[number], static_cast<double>(number) / 25);
}

TEST(Fwd, KeepsTimes) {
    const TemporaryFolder folder;
    const Shape shape{1, 3, 4, 3};
    const std::vector<double> seconds{5.0, 5.04, 5.1, 7.123456, 7.123456, 7.0, 8.5, 4e9, 4e9 + 1};
    {
        kit::CapturedLog log;
        const auto sink = open_sink(folder / "a.fwd", shape, {30000, 1001}, {});
        for (const auto at : seconds) sink->write(view_of(Bytes(36, 9), shape), {0, at, {}});
        sink->finish();
        EXPECT_NE(log.text().find("the recording goes on after one frame"), std::string::npos) << log.text();
    }
    const auto reading = read_video(folder / "a.fwd");
    ASSERT_EQ(reading.times.size(), seconds.size());
    const double frame_s = 1001.0 / 30000, unit_s = 1.0 / 1020000;
    const std::vector<double> want{0,   0.04,          0.1,          2.123456, 2.123456 + unit_s, 2.123456 + 2 * unit_s,
                                   3.5, 3.5 + frame_s, 4.5 + frame_s};
    for (std::size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(reading.times[i].seconds, want[i], unit_s) << i;
    EXPECT_EQ(reading.info.rate.numerator, 30000);
    EXPECT_EQ(reading.info.rate.denominator, 1001);
}

TEST(Fwd, StartsAtTheGivenTime) {
    const TemporaryFolder folder;
    const Shape shape{1, 3, 4, 3};
    const auto sink =
        open_sink(folder / "a.fwd", shape, {25, 1}, {.begin_seconds = 4, .facts = {.pixel_aspect = {16, 11}}});
    sink->write(view_of(Bytes(36, 9), shape), {0, 4.2, {}});
    sink->finish();
    const auto reading = read_video(folder / "a.fwd");
    ASSERT_EQ(reading.times.size(), 1u);
    EXPECT_DOUBLE_EQ(reading.times[0].seconds, 0.2);
    EXPECT_EQ(reading.info.facts.pixel_aspect.numerator, 16);
    EXPECT_EQ(reading.info.facts.pixel_aspect.denominator, 11);
    EXPECT_EQ(fwd::plain::read_plain(read_file(folder / "a.fwd")).began_us, 0u);
}

TEST(Fwd, StoresTheTimeOfDayOfLiveFrames) {
    const TemporaryFolder folder;
    const Shape shape{1, 3, 4, 1};
    const auto before = std::chrono::system_clock::now();
    const auto sink = open_sink(folder / "a.fwd", shape, {25, 1}, {.live = true});
    sink->write(view_of(Bytes(12, 9), shape), {0, 4.2, Clock::now()});
    sink->finish();
    const auto came = std::chrono::system_clock::time_point(
        std::chrono::microseconds(fwd::plain::read_plain(read_file(folder / "a.fwd")).began_us));
    EXPECT_GE(came, before - std::chrono::milliseconds(2));
    EXPECT_LE(came, std::chrono::system_clock::now());
}

TEST(Fwd, SeekingGivesTheSameFramesAsReading) {
    for (const auto* keys : {":mode=exact:key=0.2", ":mode=bounded:key=0.3", ":mode=lossless:key=100"})
        for (const bool has_index : {true, false}) {
            SCOPED_TRACE(std::string(keys) + (has_index ? "" : ", without its index"));
            kit::CapturedLog log;
            const TemporaryFolder folder;
            const Shape shape{1, 40, 70, 3};
            const auto path = folder / "a.fwd";
            write_video(path + keys, shape, film_frames(shape, 25));
            if (!has_index) {
                const auto last = fwd::plain::read_plain(read_file(path)).frames.back();
                cut(path, last.offset + last.bytes);
            }
            const auto all = read_video(path);
            ASSERT_EQ(all.frames.size(), 25u);
            const auto source = open_source(path);
            for (const double seconds : {0.5, 0.52, 0.96, 0.0, 0.2, 0.19, 0.201, 0.33, 0.37, 0.36, 0.96, 0.01}) {
                double at = -1;
                const auto image = read_from(*source, seconds, &at);
                const auto want = static_cast<std::size_t>(std::ceil(seconds * 25 - 1e-3));
                EXPECT_EQ(at, all.times[want].seconds) << seconds;
                EXPECT_TRUE(image == all.frames[want]) << seconds;
            }
            EXPECT_EQ(read_from(*source, 0.97), Bytes{}) << "behind the end";
            EXPECT_TRUE(read_from(*source, 0.5) == all.frames[13]);
            const auto part = read_video(path, {.start_seconds = 0.3, .duration_seconds = 0.2});
            EXPECT_TRUE(part.frames == std::vector<Bytes>(all.frames.begin() + 8, all.frames.begin() + 13));
            const auto times = frame_times_of(path, {});
            ASSERT_EQ(times.seconds.size(), 25u);
            EXPECT_EQ(times.seconds[24], 0.96);
        }
}

TEST(Fwd, ReadsTheSameWithoutItsIndex) {
    const TemporaryFolder folder;
    const Shape shape{1, 40, 70, 3};
    const auto path = folder / "a.fwd";
    write_video(path + ":mode=bounded:key=0.2", shape, film_frames(shape, 12));
    const auto with = read_video(path);
    const auto last = fwd::plain::read_plain(read_file(path)).frames.back();
    cut(path, last.offset + last.bytes);
    kit::CapturedLog log;
    const auto without = read_video(path);
    EXPECT_TRUE(without.frames == with.frames);
    EXPECT_FALSE(without.error);
    EXPECT_FALSE(without.info.frames);
    EXPECT_NE(log.text().find("it was not finished or is cut off: it ends after frame 11, at byte"), std::string::npos)
        << log.text();
}

TEST(Fwd, IsWrittenInSegments) {
    const TemporaryFolder folder;
    const Shape shape{1, 20, 67, 3};
    const auto frames = film_frames(shape, 50);
    const auto sink = open_sink((folder / "cam-%Y%m%d-%H%M%S.fwd") + ":mode=lossless", shape, {25, 1},
                                {.segments = {.seconds = 0.8}});
    for (std::size_t number = 0; number < frames.size(); ++number)
        sink->write(view_of(frames[number], shape),
                    {static_cast<std::int64_t>(number), static_cast<double>(number) / 25, {}});
    sink->finish();
    // Their modification times may be equal: sort them by their content.
    std::map<std::ptrdiff_t, std::vector<Bytes>> pieces;
    for (const auto& name : folder.names()) {
        const auto reading = read_video(folder / name);
        ASSERT_FALSE(reading.error) << reading.message;
        EXPECT_EQ(reading.times[0].seconds, 0);
        pieces[std::find(frames.begin(), frames.end(), reading.frames[0]) - frames.begin()] = reading.frames;
    }
    EXPECT_EQ(pieces.size(), 3u);
    std::vector<Bytes> joined;
    for (const auto& [first, piece] : pieces) joined.insert(joined.end(), piece.begin(), piece.end());
    EXPECT_TRUE(joined == frames);
}

TEST(Fwd, RecognizesUnfinishedFilesByTheirContent) {
    const TemporaryFolder folder;
    const Shape shape{1, 20, 67, 3};
    const auto frames = film_frames(shape, 3);
    kit::CapturedLog log;
    {
        const auto sink = open_sink((folder / "a.fwd") + ":mode=lossless", shape, {25, 1}, {});
        for (const auto& frame : frames) sink->write(view_of(frame, shape), {});
    }
    EXPECT_EQ(folder.names(), std::vector<std::string>{"a.fwd.part"});
    EXPECT_TRUE(read_video(folder / "a.fwd.part").frames == frames);
}

std::string refusal(const std::function<void()>& body, ErrorCode code) {
    std::string message;
    EXPECT_EQ(error_of(body, &message), code) << message;
    return message;
}

TEST(Fwd, RejectsContradictorySettings) {
    const TemporaryFolder folder;
    const auto refused = [&](const std::string& keys) {
        return refusal([&] { open_sink((folder / "a.fwd") + keys, {1, 4, 4, 3}, {25, 1}, {}); }, ErrorCode::usage);
    };
    EXPECT_NE(refused(":mode=lossless:threshold=3").find("mode=lossless"), std::string::npos);
    EXPECT_NE(refused(":effort=2").find("mode=bounded"), std::string::npos);
    EXPECT_NE(refused(":mode=bounded:threshold=255").find("255"), std::string::npos);
    EXPECT_NE(refused(":key=-1").find("key"), std::string::npos);
    EXPECT_NE(refused(":crf=20").find("crf"), std::string::npos);
    EXPECT_TRUE(folder.names().empty());
}

TEST(Fwd, RejectsOtherFiles) {
    const TemporaryFolder folder;
    const auto path = folder / "a.fwd";
    const auto refused = [&](ErrorCode code = ErrorCode::no_input) {
        return refusal([&] { open_source(path, {.max_pixels = 10'000}); }, code);
    };
    write_file(path, "");
    EXPECT_NE(refused().find("is no .fwd file"), std::string::npos);
    write_file(path, "\x89PNG\r\n\x1a\n and more of the same, which is long enough to have a header's bytes");
    EXPECT_NE(refused().find("is no .fwd file"), std::string::npos);
    write_video(path, {1, 4, 4, 3}, {Bytes(48, 1)});
    const auto whole = read_file(path);
    write_file(path, whole.data(), 40);
    EXPECT_NE(refused().find("header is damaged or cut off"), std::string::npos);
    write_video(path, {1, 101, 100, 1}, {Bytes(10'100, 1)});
    EXPECT_NE(refused().find("100x101"), std::string::npos);
    // A later version with a valid checksum.
    auto later = whole;
    for (const std::size_t copy : {0, 64}) {
        later[copy + 8] = 2;
        const auto check = fwd::plain::crc(later, copy, copy + 60);
        for (std::size_t byte = 0; byte < 4; ++byte)
            later[copy + 60 + byte] = static_cast<std::uint8_t>(check >> 8 * byte);
    }
    write_file(path, later.data(), later.size());
    EXPECT_NE(refused(ErrorCode::config).find("version 2"), std::string::npos);
}

// Files of earlier versions must stay readable.
TEST(Fwd, ReadsCommittedFiles) {
    const auto vectors = std::string(kit::sources_path) + "/src/framewire/media/fwd/vectors/";
    FRAMEWIRE_NEEDS(std::filesystem::is_directory(vectors), "no files to read: they lie with the sources");
    struct Vector {
        const char* name;
        std::uint64_t hash;  // FNV-1a of all frames
        bool whole;
    };
    for (const auto& [name, want, whole] : {Vector{"exact-bgr-70x31.fwd", 6084158068122337725u, true},
                                            Vector{"bounded-gray-131x70.fwd", 13864927377887509153u, true},
                                            Vector{"unfinished-bgr-20x12.fwd", 6288742678741740291u, false}}) {
        SCOPED_TRACE(name);
        kit::CapturedLog log;
        const auto path = vectors + name;
        const auto source = open_source(path);
        const auto reading = read_video(path);
        ASSERT_FALSE(reading.error) << reading.message;
        std::uint64_t hash = 0xcbf29ce484222325u;
        for (const auto& frame : reading.frames)
            for (const auto byte : frame) hash = (hash ^ byte) * 0x100000001b3u;
        EXPECT_EQ(hash, want);
        if (!whole) continue;
        const auto plain = fwd::plain::read_plain(read_file(path));
        ASSERT_EQ(plain.frames.size(), reading.frames.size());
        for (std::size_t number = 0; number < plain.frames.size(); ++number)
            EXPECT_TRUE(reading.frames[number] == plain.frames[number].picture);
    }
}

}  // namespace fwd_test
}  // namespace framewire
