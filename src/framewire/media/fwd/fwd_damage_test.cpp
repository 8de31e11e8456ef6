// Damaged recordings: the damage is reported, and everything else is unchanged.

#include "framewire/core/buffer.hpp"
#include "framewire/delta/blocks/grid.hpp"
#include "framewire/media/fwd/fwd_testing.hpp"
#include "kit/captured_log.hpp"
#include "kit/images.hpp"

#include <map>

namespace framewire {
namespace fwd_damage_test {

using namespace testing;

struct Film {
    explicit Film(const char* keys, const Shape& of = {1, 20, 150, 1}, int count = 8, int noise = 4) : shape(of) {
        write_video(path + keys, shape, film_frames(shape, count, noise));
        bytes = read_file(path);
        plain = fwd::plain::read_plain(bytes);
    }

    // Result of reading modified bytes, by frame number.
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

    // True if a block is equal in two pictures.
    bool same(int block, const Bytes& one, const Bytes& other) const {
        const auto place = delta::BlockGrid(shape).place(block);
        for (int y = place.y; y < place.y + place.height; ++y) {
            const auto from =
                static_cast<std::ptrdiff_t>(y * shape.row_bytes() + std::int64_t{place.x} * shape.channels);
            if (!std::equal(one.begin() + from, one.begin() + from + place.width * shape.channels,
                            other.begin() + from))
                return false;
        }
        return true;
    }

    // Every block that was read is correct or has its previous content, and each wrong one lies between two keyframes.
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
                for (int block = 0; block < delta::BlockGrid(shape).count(); ++block) {
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
    fwd::plain::File plain;
};

TEST(FwdDamage, TruncatedFilesKeepTheirCompleteFrames) {
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

TEST(FwdDamage, EveryFlippedBitIsReportedAndConfined) {
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

// Changes in the blocks of one frame, or in their checksums, stay in their block.
TEST(FwdDamage, StaysInItsBlock) {
    const Film film(":mode=exact:key=0.16", {1, 70, 131, 3});
    const delta::BlockGrid grid(film.shape);
    ASSERT_EQ(grid.count(), 6);
    for (const std::size_t number : {0, 2, 5}) {
        const auto& frame = film.plain.frames[number];
        const auto at = static_cast<std::size_t>(frame.offset);
        const auto directory_bytes = fwd::plain::number_at<std::uint32_t>(film.bytes, at + 24);
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

// Sub-blocks that are predicted from a damaged block cannot be verified.
TEST(FwdDamage, SpreadsToBlocksPredictedFromIt) {
    const Film film(":mode=bounded:key=100:threshold=3", {1, 128, 192, 3}, 12);
    auto bytes = film.bytes;
    const auto& frame = film.plain.frames[1];
    const auto directory_bytes =
        fwd::plain::number_at<std::uint32_t>(bytes, static_cast<std::size_t>(frame.offset) + 24);
    bytes[static_cast<std::size_t>(frame.offset) + 32 + directory_bytes + 3] ^= 1;  // the first block that changes
    kit::CapturedLog log(LogLevel::warning);
    const auto read = film.read(bytes);
    film.expect_confined(read, false);
    EXPECT_EQ(read.damaged, 11);
    EXPECT_NE(log.text().find("is made of damaged ones or makes no sense"), std::string::npos) << log.text();
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
    EXPECT_NE(log.text().find("2 frames are lost, frame 2 to 3 after 0.040 s, at bytes"), std::string::npos)
        << log.text();
    EXPECT_EQ(log.lines(), 1) << log.text();
}

// Longer parts of the file are missing.
TEST(FwdDamage, ContinuesAfterAGap) {
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

TEST(FwdDamage, SeekingAvoidsADamagedKeyframe) {
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

}  // namespace fwd_damage_test
}  // namespace framewire
