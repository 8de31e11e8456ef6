#include "framewire/media/fwd.hpp"
#include "framewire/codec/blocks.hpp"
#include "framewire/codec/bounded_packer.hpp"
#include "framewire/core/buffer.hpp"
#include "framewire/media/fwd_testing.hpp"
#include "framewire/media/media.hpp"
#include "kit/captured_log.hpp"
#include "kit/eventually.hpp"
#include "kit/images.hpp"
#include "kit/needs.hpp"
#include "kit/sources.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <thread>

// Damaged recordings: damage is reported, and everything else is unchanged.

namespace framewire {
namespace {

using namespace testing;

struct Film {
    explicit Film(const char* keys, const Shape& of = {1, 20, 150, 1}, int count = 8, int noise = 4) : shape(of) {
        write_video(path + keys, shape, film_frames(shape, count, noise));
        bytes = read_file(path);
        plain = fwd::reference::read_fwd(bytes);
    }

    // Result of reading modified bytes; frames by their number.
    struct Read {
        std::map<std::int64_t, Bytes> frames;
        std::int64_t damaged = 0;
        std::string message;  // description of the damage; empty without damage
    };
    Read read(const Bytes& others) const {
        write_file(path, others.data(), others.size());
        Read result;
        const auto source = open_source(path, {.max_pixels = 30'000});
        Bytes image(static_cast<std::size_t>(shape.bytes()));
        for (FrameTime time; source->read({image.data(), shape}, time);) result.frames[time.index] = image;
        result.damaged = source->damaged();
        error_of([&] { source->require_whole(); }, &result.message);
        return result;
    }

    // Returns true if a block is equal in two pictures.
    bool same(int block, const Bytes& one, const Bytes& other) const {
        const auto place = codec::BlockGrid(shape).place(block);
        for (int y = place.y; y < place.y + place.height; ++y) {
            const auto from =
                static_cast<std::ptrdiff_t>(y * shape.row_bytes() + std::int64_t{place.x} * shape.channels);
            if (!std::equal(one.begin() + from, one.begin() + from + place.width * shape.channels,
                            other.begin() + from))
                return false;
        }
        return true;
    }

    // Expects every block to be correct or to have its previous content, and each wrong block to lie between two
    // keyframes.
    void expect_confined(const Read& read, bool in_one_block, bool between_pictures = true) const {
        Bytes held(static_cast<std::size_t>(shape.bytes()));
        std::int64_t first = -1, last = -1;
        std::map<int, int> blocks;
        const auto count = static_cast<std::int64_t>(plain.frames.size());
        for (std::int64_t number = 0; number < count; ++number) {
            const auto& want = plain.frames[static_cast<std::size_t>(number)].picture;
            const auto found = read.frames.find(number);
            const bool whole = found != read.frames.end() && found->second == want;
            if (found != read.frames.end()) {
                for (int block = 0; block < codec::BlockGrid(shape).count(); ++block) {
                    const bool right = same(block, found->second, want);
                    if (!right) ++blocks[block];
                    EXPECT_TRUE(right || same(block, found->second, held)) << "frame " << number << " block " << block;
                }
                held = found->second;
            }
            if (whole) continue;
            if (first < 0) first = number;
            last = number;
        }
        EXPECT_LE(blocks.size(), in_one_block ? 1u : blocks.size());
        for (auto number = first + 1; between_pictures && first >= 0 && number <= last; ++number)
            EXPECT_FALSE(plain.frames[static_cast<std::size_t>(number)].whole) << first << " to " << last;
        EXPECT_TRUE(first < 0 || read.damaged > 0);
    }

    TemporaryFolder folder;
    std::string path = folder / "a.fwd";
    Shape shape;
    Bytes bytes;
    fwd::reference::File plain;
};

TEST(FwdDamage, TruncatedFilesYieldTheirCompleteFrames) {
    for (const auto* keys : {":mode=exact:key=0.16", ":mode=bounded:key=0.16"}) {
        const Film film(keys, {1, 12, 70, 1}, 6);
        kit::CapturedLog log;
        for (std::size_t size = 64; size < film.bytes.size(); ++size) {
            SCOPED_TRACE(std::string(keys) + " cut at " + std::to_string(size));
            const auto read = film.read({film.bytes.begin(), film.bytes.begin() + static_cast<std::ptrdiff_t>(size)});
            std::size_t whole = 0;
            for (const auto& frame : film.plain.frames) whole += frame.offset + frame.bytes <= size;
            ASSERT_EQ(read.frames.size(), whole);
            for (const auto& [number, image] : read.frames)
                ASSERT_TRUE(image == film.plain.frames[static_cast<std::size_t>(number)].picture);
            ASSERT_NE(read.message, "");
        }
    }
}

// The sizes of all blocks are read without their content, up to the same frame.
TEST(FwdDamage, SizesAreReadAsFarAsFrames) {
    const Film film(":mode=exact:key=0.16", {1, 70, 150, 3}, 6);
    kit::CapturedLog log;
    for (const auto size : {film.bytes.size(), film.bytes.size() - 20, film.bytes.size() / 2, std::size_t{200}}) {
        write_file(film.path, film.bytes.data(), size);
        fwd::Reader whole(film.path, {}), skipping(film.path, {}, fwd::DamageLog::off);
        fwd::Reader::Frame expected, frame;
        std::vector<codec::BlockSize> sizes;
        while (whole.next(expected)) {
            ASSERT_TRUE(skipping.next_sizes(frame, sizes));
            EXPECT_EQ(frame.number, expected.number);
            EXPECT_EQ(frame.place.ticks, expected.place.ticks);
            ASSERT_EQ(sizes.size(), expected.blocks.size());
            for (std::size_t i = 0; i < sizes.size(); ++i)
                EXPECT_EQ(sizes[i], (codec::BlockSize{expected.blocks[i].block,
                                                      static_cast<std::uint32_t>(expected.blocks[i].bytes.size())}));
        }
        EXPECT_FALSE(skipping.next_sizes(frame, sizes));
        EXPECT_EQ(skipping.damage().any(), whole.damage().any());
    }
}

TEST(FwdDamage, EveryBitFlipIsReportedAndConfined) {
    for (const auto* keys : {":mode=exact:key=0.12", ":mode=bounded:key=0.12"}) {
        const Film film(keys, {1, 5, 130, 1}, 5, 0);
        ASSERT_EQ(film.read(film.bytes).message, "");
        const std::size_t step = kit::brief() ? 13 : 1;
        for (std::size_t bit = 0; bit < 8 * film.bytes.size(); bit += step) {
            SCOPED_TRACE(std::string(keys) + " bit " + std::to_string(bit % 8) + " of byte " + std::to_string(bit / 8));
            auto bytes = film.bytes;
            bytes[bit / 8] ^= static_cast<std::uint8_t>(1u << bit % 8);
            kit::CapturedLog log(LogLevel::warning);
            const auto read = film.read(bytes);
            ASSERT_NE(read.message, "") << log.text();
            ASSERT_GE(log.lines(), 1);
            ASSERT_NE(log.text().find("byte"), std::string::npos) << log.text();
            film.expect_confined(read, false);
            if (::testing::Test::HasFailure()) return;
        }
    }
}

// Damage in the blocks of one frame, or in their checksums, stays in those blocks.
TEST(FwdDamage, IsConfinedToItsBlock) {
    const Film film(":mode=exact:key=0.16", {1, 70, 131, 3});
    const codec::BlockGrid grid(film.shape);
    ASSERT_EQ(grid.count(), 6);
    for (const std::size_t number : {0, 2, 5}) {
        const auto& frame = film.plain.frames[number];
        const auto at = static_cast<std::size_t>(frame.offset);
        const auto directory_bytes = fwd::reference::number_at<std::uint32_t>(film.bytes, at + 24);
        const auto end = static_cast<std::size_t>(frame.offset + frame.bytes);
        for (auto byte = at + 32 + directory_bytes; byte < end; byte += (end - at) / 20) {
            SCOPED_TRACE("byte " + std::to_string(byte));
            auto bytes = film.bytes;
            bytes[byte] ^= 0x10;
            kit::CapturedLog log(LogLevel::warning);
            const auto read = film.read(bytes);
            EXPECT_EQ(read.frames.size(), film.plain.frames.size());
            film.expect_confined(read, true);
            EXPECT_EQ(log.lines(), 1) << log.text();
            EXPECT_NE(log.text().find("frame " + std::to_string(number) + " at "), std::string::npos) << log.text();
            EXPECT_NE(log.text().find(" pixels at "), std::string::npos) << log.text();
        }
    }
}

// Sub-blocks that are predicted from a damaged block cannot be verified, so they count as damaged.
TEST(FwdDamage, SpreadsToBlocksPredictedFromIt) {
    const Film film(":mode=bounded:key=100:threshold=3", {1, 128, 192, 3}, 12);
    auto bytes = film.bytes;
    const auto& frame = film.plain.frames[1];
    const auto directory_bytes =
        fwd::reference::number_at<std::uint32_t>(bytes, static_cast<std::size_t>(frame.offset) + 24);
    bytes[static_cast<std::size_t>(frame.offset) + 32 + directory_bytes + 3] ^= 1;  // a byte of the first block that
                                                                                    // changes
    kit::CapturedLog log(LogLevel::warning);
    const auto read = film.read(bytes);
    film.expect_confined(read, false);
    EXPECT_EQ(read.damaged, 11);
    EXPECT_NE(log.text().find("is invalid or was predicted from damaged blocks"), std::string::npos) << log.text();
    EXPECT_EQ(log.lines(), 2) << log.text();
}

TEST(FwdDamage, IsReportedOnce) {
    const Film film(":mode=exact:key=100", {1, 70, 131, 1});
    auto bytes = film.bytes;
    bytes[static_cast<std::size_t>(film.plain.frames[3].offset + film.plain.frames[3].bytes) - 6] ^= 1;
    write_file(film.path, bytes.data(), bytes.size());
    kit::CapturedLog log(LogLevel::warning);
    const auto source = open_source(film.path);
    Bytes image(static_cast<std::size_t>(film.shape.bytes()));
    FrameTime time;
    for (const double seconds : {0.0, 0.2, 0.04, 0.0}) {
        EXPECT_TRUE(source->seek(seconds));
        while (source->read({image.data(), film.shape}, time)) {
        }
    }
    EXPECT_EQ(log.lines(), 1) << log.text();
    EXPECT_EQ(source->damaged(), 5);
}

TEST(FwdDamage, LostFramesAreReportedAndSkipped) {
    const Film film(":mode=exact:key=0.16", {1, 12, 70, 1}, 12);
    auto bytes = film.bytes;
    for (const std::size_t number : {2, 3}) bytes[static_cast<std::size_t>(film.plain.frames[number].offset)] ^= 1;
    kit::CapturedLog log(LogLevel::warning);
    const auto read = film.read(bytes);
    EXPECT_EQ(read.frames.size(), 10u);
    EXPECT_EQ(read.damaged, 2);
    EXPECT_FALSE(read.frames.contains(2) || read.frames.contains(3));
    film.expect_confined(read, false);
    EXPECT_NE(log.text().find("frames 2 to 3 are lost after 0.040 s, at bytes"), std::string::npos) << log.text();
    EXPECT_EQ(log.lines(), 1) << log.text();
}

// Longer parts of the file are overwritten.
TEST(FwdDamage, ReadingResumesAfterAGap) {
    const Film film(":mode=bounded:key=0.16", {1, 40, 70, 3}, 12);
    const auto at = [&](std::size_t frame) { return static_cast<std::size_t>(film.plain.frames[frame].offset); };
    for (const auto& [from, to] : {std::pair{at(1) + 10, at(5) + 7}, std::pair{at(0) + 3, at(2) + 50},
                                   std::pair{at(9), at(11) + 40}, std::pair{std::size_t{60}, at(3) + 1}}) {
        SCOPED_TRACE(std::to_string(from) + " to " + std::to_string(to));
        auto bytes = film.bytes;
        std::fill(bytes.begin() + static_cast<std::ptrdiff_t>(from), bytes.begin() + static_cast<std::ptrdiff_t>(to),
                  0);
        kit::CapturedLog log(LogLevel::warning);
        if (from < 64) {
            EXPECT_EQ(error_of([&] { film.read(bytes); }), ErrorCode::no_input);
            continue;
        }
        const auto read = film.read(bytes);
        film.expect_confined(read, false, false);
        EXPECT_TRUE(read.frames.at(8) == film.plain.frames[8].picture);
    }
}

TEST(FwdDamage, SeekingPastADamagedKeyframeMatchesSequentialReading) {
    const Film film(":mode=exact:key=0.16", {1, 40, 70, 3}, 12);
    auto bytes = film.bytes;
    const auto& picture = film.plain.frames[4];
    ASSERT_TRUE(picture.whole);
    bytes[static_cast<std::size_t>(picture.offset + picture.bytes) - 20] ^= 4;
    kit::CapturedLog log(LogLevel::warning);
    const auto through = film.read(bytes);
    const auto source = open_source(film.path);
    for (const int number : {5, 7, 8, 4, 2, 6}) {
        Bytes image(static_cast<std::size_t>(film.shape.bytes()));
        FrameTime time;
        ASSERT_TRUE(source->seek(number / 25.0));
        ASSERT_TRUE(source->read({image.data(), film.shape}, time));
        EXPECT_EQ(time.index, number);
        EXPECT_TRUE(image == through.frames.at(number)) << number;
    }
}

}  // namespace
}  // namespace framewire

// Round trips of recordings of the difference stream.

namespace framewire {
namespace {

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

TEST(Fwd, RoundTripErrorIsWithinTheThreshold) {
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
        const auto plain = fwd::reference::read_fwd(read_file(path));
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

TEST(Fwd, PreservesTimesAndRepairsJumps) {
    const TemporaryFolder folder;
    const Shape shape{1, 3, 4, 3};
    const std::vector<double> seconds{5.0, 5.04, 5.1, 7.123456, 7.123456, 7.0, 8.5, 4e9, 4e9 + 1};
    {
        kit::CapturedLog log;
        const auto sink = open_sink(folder / "a.fwd", shape, {30000, 1001}, {});
        for (const auto at : seconds) sink->write(view_of(Bytes(36, 9), shape), {0, at, {}});
        sink->finish();
        EXPECT_NE(log.text().find("the recording continues without the gap"), std::string::npos) << log.text();
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

TEST(Fwd, TimesCountFromTheGivenStart) {
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
    EXPECT_EQ(fwd::reference::read_fwd(read_file(folder / "a.fwd")).began_us, 0u);
}

TEST(Fwd, StoresTheWallClockTimeOfLiveRecordings) {
    const TemporaryFolder folder;
    const Shape shape{1, 3, 4, 1};
    const auto before = std::chrono::system_clock::now();
    const auto sink = open_sink(folder / "a.fwd", shape, {25, 1}, {.live = true});
    sink->write(view_of(Bytes(12, 9), shape), {0, 4.2, Clock::now()});
    sink->finish();
    const auto came = std::chrono::system_clock::time_point(
        std::chrono::microseconds(fwd::reference::read_fwd(read_file(folder / "a.fwd")).began_us));
    EXPECT_GE(came, before - std::chrono::milliseconds(2));
    EXPECT_LE(came, std::chrono::system_clock::now());
}

TEST(Fwd, SeekingMatchesSequentialReading) {
    for (const auto* keys : {":mode=exact:key=0.2", ":mode=bounded:key=0.3", ":mode=lossless:key=100"})
        for (const bool has_index : {true, false}) {
            SCOPED_TRACE(std::string(keys) + (has_index ? "" : ", without its index"));
            kit::CapturedLog log;
            const TemporaryFolder folder;
            const Shape shape{1, 40, 70, 3};
            const auto path = folder / "a.fwd";
            write_video(path + keys, shape, film_frames(shape, 25));
            if (!has_index) {
                const auto last = fwd::reference::read_fwd(read_file(path)).frames.back();
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

TEST(Fwd, ReadsTheSameFramesWithoutAnIndex) {
    const TemporaryFolder folder;
    const Shape shape{1, 40, 70, 3};
    const auto path = folder / "a.fwd";
    write_video(path + ":mode=bounded:key=0.2", shape, film_frames(shape, 12));
    const auto with = read_video(path);
    const auto last = fwd::reference::read_fwd(read_file(path)).frames.back();
    cut(path, last.offset + last.bytes);
    kit::CapturedLog log;
    const auto without = read_video(path);
    EXPECT_TRUE(without.frames == with.frames);
    EXPECT_FALSE(without.error);
    EXPECT_FALSE(without.info.frames);
    EXPECT_NE(log.text().find("it is unfinished or truncated: it ends after frame 11, at byte"), std::string::npos)
        << log.text();
}

TEST(Fwd, SegmentsContainEveryFrameOnce) {
    const TemporaryFolder folder;
    const Shape shape{1, 20, 67, 3};
    const auto frames = film_frames(shape, 50);
    const auto sink = open_sink((folder / "cam-%Y%m%d-%H%M%S.fwd") + ":mode=lossless", shape, {25, 1},
                                {.segments = {.seconds = 0.8}});
    for (std::size_t number = 0; number < frames.size(); ++number)
        sink->write(view_of(frames[number], shape),
                    {static_cast<std::int64_t>(number), static_cast<double>(number) / 25, {}});
    sink->finish();
    // The files' modification times may be equal: sort them by content.
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

TEST(Fwd, RejectsConflictingSettings) {
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

TEST(Fwd, RejectsInvalidAndUnsupportedFiles) {
    const TemporaryFolder folder;
    const auto path = folder / "a.fwd";
    const auto refused = [&](ErrorCode code = ErrorCode::no_input) {
        return refusal([&] { open_source(path, {.max_pixels = 10'000}); }, code);
    };
    write_file(path, "");
    EXPECT_NE(refused().find("is not a .fwd file"), std::string::npos);
    write_file(path, "\x89PNG\r\n\x1a\n and more of the same, which is long enough to have a header's bytes");
    EXPECT_NE(refused().find("is not a .fwd file"), std::string::npos);
    write_video(path, {1, 4, 4, 3}, {Bytes(48, 1)});
    const auto whole = read_file(path);
    write_file(path, whole.data(), 40);
    EXPECT_NE(refused().find("header is damaged or truncated"), std::string::npos);
    write_video(path, {1, 101, 100, 1}, {Bytes(10'100, 1)});
    EXPECT_NE(refused().find("100x101"), std::string::npos);
    // A header of a later version with a valid checksum.
    auto later = whole;
    for (const std::size_t copy : {0, 64}) {
        later[copy + 8] = 2;
        const auto check = fwd::reference::crc(later, copy, copy + 60);
        for (std::size_t byte = 0; byte < 4; ++byte)
            later[copy + 60 + byte] = static_cast<std::uint8_t>(check >> 8 * byte);
    }
    write_file(path, later.data(), later.size());
    EXPECT_NE(refused(ErrorCode::config).find("version 2"), std::string::npos);
}

// Files of earlier versions must stay readable.
TEST(Fwd, ReadsTheCommittedTestVectors) {
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
        const auto plain = fwd::reference::read_fwd(read_file(path));
        ASSERT_EQ(plain.frames.size(), reading.frames.size());
        for (std::size_t number = 0; number < plain.frames.size(); ++number)
            EXPECT_TRUE(reading.frames[number] == plain.frames[number].picture);
    }
}

}  // namespace
}  // namespace framewire

// Recording a stream while it is sent.

namespace framewire {
namespace {

using namespace testing;

constexpr Shape shape{1, 40, 70, 3};

// A stream in `bounded` mode and its recording.
struct Stream {
    explicit Stream(fwd::Recorder& to) : recorder(&to) {}

    void send(const Bytes& camera, double seconds) {
        packed.clear();
        first ? packer.pack_first(view_of(camera, shape), picture.view(), 20, packed)
              : packer.pack_step(view_of(camera, shape), picture.view(), 20, packed);
        const FrameTime time{0, seconds, {}};
        if (!first && recorder->wants_picture(time))
            recorder->add_picture(time, 20, [&](auto to) { copy(std::as_const(picture).view(), to); });
        else
            recorder->add(packed, time);
        first = false;
        const auto view = std::as_const(picture).view();
        sent.emplace_back(view.data(), view.data() + shape.bytes());
    }

    fwd::Recorder* recorder;
    codec::BoundedPacker packer{shape, 1};
    HostImage picture{shape};
    std::vector<std::uint8_t> packed;
    std::vector<Bytes> sent;
    bool first = true;
};

const fwd::Recording recording{.shape = shape, .mode = codec::Mode::bounded, .threshold = 20, .rate = {25, 1}};

TEST(FwdRecorder, RecordsTheFramesAsSent) {
    const TemporaryFolder folder;
    fwd::Recorder recorder(folder / "a.fwd", recording, 0.2, {}, media_threads());
    Stream stream(recorder);
    int number = 0;
    for (const auto& frame : film_frames(shape, 12)) stream.send(frame, number++ / 25.0);
    recorder.finish(Ending::complete);
    const auto plain = fwd::reference::read_fwd(read_file(folder / "a.fwd"));
    ASSERT_EQ(plain.frames.size(), 12u);
    for (std::size_t i = 0; i < 12; ++i) {
        EXPECT_TRUE(plain.frames[i].picture == stream.sent[i]) << i;
        EXPECT_EQ(plain.frames[i].whole, i % 5 == 0) << i;
    }
    EXPECT_TRUE(read_video(folder / "a.fwd").frames == stream.sent);
}

TEST(FwdRecorder, AFullDiskEndsOnlyTheRecording) {
    kit::CapturedLog log;
    fwd::Recorder recorder("/dev/full", recording, 100, {}, media_threads());
    Stream stream(recorder);
    const auto frames = film_frames(shape, 3);
    stream.send(frames[0], 0);
    EXPECT_TRUE(kit::eventually([&] { return !recorder.goes_on(); }));
    stream.send(frames[1], 1);
    EXPECT_NE(log.text().find("the stream continues without a recording"), std::string::npos) << log.text();
    EXPECT_EQ(error_of([&] { recorder.finish(Ending::complete); }), ErrorCode::io);
}

TEST(FwdRecorder, ASlowDiskDropsFramesUntilTheNextKeyframe) {
    const TemporaryFolder folder;
    const auto pipe = folder / "pipe";
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    const int end = ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
    ASSERT_GE(end, 0);
    kit::CapturedLog log;
    fwd::Recorder recorder(pipe, recording, 1000, {}, media_threads());
    recorder.limit_waiting(60'000);
    Stream stream(recorder);
    const auto frames = film_frames(shape, 40, 60);
    // More than the pipe (a megabyte) and the recorder can hold together.
    int number = 0;
    for (; number < 4000 && log.lines() == 0; ++number)
        stream.send(frames[static_cast<std::size_t>(number % 40)], number / 25.0);
    EXPECT_NE(log.text().find("frames arrive faster than they are written"), std::string::npos) << log.text();
    const auto lost_from = static_cast<std::size_t>(number) - 1;
    for (const int until = number + 10; number < until; ++number)
        stream.send(frames[static_cast<std::size_t>(number % 40)], number / 25.0);
    // Once the pipe is read again, recording continues with a keyframe.
    Bytes bytes;
    std::thread reader([&] {
        std::array<std::uint8_t, 4096> some{};
        ::fcntl(end, F_SETFL, 0);
        for (ssize_t got; (got = ::read(end, some.data(), some.size())) > 0;)
            bytes.insert(bytes.end(), some.begin(), some.begin() + got);
    });
    EXPECT_TRUE(kit::eventually([&] { return recorder.wants_picture({}); }));
    const auto again_from = static_cast<std::size_t>(number);
    for (const int until = number + 3; number < until; ++number)
        stream.send(frames[static_cast<std::size_t>(number % 40)], number / 25.0);
    recorder.finish(Ending::complete);
    reader.join();
    ::close(end);
    EXPECT_NE(log.text().find(std::to_string(again_from - lost_from) + " frames were dropped"), std::string::npos)
        << log.text();
    auto want = stream.sent;
    want.erase(want.begin() + static_cast<std::ptrdiff_t>(lost_from),
               want.begin() + static_cast<std::ptrdiff_t>(again_from));
    write_file(folder / "a.fwd", bytes.data(), bytes.size());
    const auto reading = read_video(folder / "a.fwd");
    EXPECT_FALSE(reading.error) << reading.message;
    ASSERT_EQ(reading.frames.size(), want.size());
    EXPECT_TRUE(reading.frames == want);
    EXPECT_NEAR(reading.times[lost_from].seconds, static_cast<double>(again_from) / 25, 1e-5);
}

}  // namespace
}  // namespace framewire
