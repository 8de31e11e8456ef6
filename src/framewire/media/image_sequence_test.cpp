#include "framewire/media/image_sequence.hpp"
#include "framewire/media/media_testing.hpp"
#include "kit/captured_log.hpp"

#include <filesystem>

namespace framewire {
namespace {

using namespace testing;

const Shape small{1, 3, 4, 3};

TEST(ImageFolder, ListsImagesInByteOrder) {
    const TemporaryFolder folder;
    for (const auto* name : {"b10.png", "b2.PNG", "B.jpeg", "c.Tif", "a.webp", "\xc3\xa4.bmp", "d.pgm"})
        write_file(folder / name, "not looked into");
    for (const auto* name : {"notes.txt", "png", "a.png~", "list.csv", ".hidden.png"}) write_file(folder / name, "");
    std::filesystem::create_directory(folder / "folder.png");
    write_file(folder / "folder.png/inside.png", "");
    std::filesystem::create_symlink(folder / "notes.txt", folder / "e.png");
    std::filesystem::create_symlink(folder / "nowhere", folder / "f.png");
    std::vector<std::string> want;
    for (const auto* name : {"B.jpeg", "a.webp", "b10.png", "b2.PNG", "c.Tif", "d.pgm", "e.png", "\xc3\xa4.bmp"})
        want.push_back(folder / name);
    EXPECT_EQ(images_in(folder / ""), want);
}

TEST(ImageFolder, RejectsAFolderWithoutImages) {
    const TemporaryFolder folder;
    std::string message;
    EXPECT_EQ(error_of([&] { images_in(folder / "none"); }, &message), ErrorCode::no_input);
    EXPECT_NE(message.find(folder / "none"), std::string::npos) << message;
    EXPECT_EQ(error_of([&] { images_in(folder / ""); }, &message), ErrorCode::no_input);
    EXPECT_NE(message.find("no images"), std::string::npos) << message;
    write_file(folder / "a.txt", "");
    EXPECT_EQ(error_of([&] { images_in(folder / "a.txt"); }), ErrorCode::no_input);
    EXPECT_EQ(error_of([&] { images_in(folder / ""); }), ErrorCode::no_input);
}

TEST(ImageFolder, ReadsItsImagesInOrder) {
    const TemporaryFolder folder;
    std::vector<Bytes> frames;
    for (const auto* name : {"1.png", "10.png", "2.png"}) {
        frames.push_back(random_frame(small, frames.size()));
        write_video(folder / name, small, {frames.back()});
    }
    for (const auto& path : {folder / "", "file://" + folder / ""}) {
        const auto reading = read_video(path, {.rate = Rational{10, 1}});
        EXPECT_FALSE(reading.error) << reading.message;
        EXPECT_EQ(reading.info.frames, 3);
        EXPECT_EQ(reading.frames, frames);
        EXPECT_DOUBLE_EQ(reading.times.at(2).seconds, 0.2);
    }
    const auto twice = read_video(folder / "", {.loop = true}, 6).frames;
    ASSERT_EQ(twice.size(), 6U);
    for (std::size_t number = 0; number < 6; ++number) EXPECT_EQ(twice[number], frames[number % 3]) << number;
}

// Images of another size are scaled or rejected; converting between gray and colour does not move pixels.
TEST(ImageFolder, ScalesOrRejectsImagesOfAnotherSize) {
    const TemporaryFolder folder;
    write_video(folder / "a.png", small, {Bytes(36, 70)});
    write_video(folder / "b.png", {1, 3, 4, 1}, {Bytes(12, 80)});
    write_video(folder / "c.png", {1, 6, 8, 3}, {Bytes(144, 90)});
    const std::vector<Bytes> want{Bytes(36, 70), Bytes(36, 80), Bytes(36, 90)};
    EXPECT_EQ(read_video(folder / "").frames, want);
    const auto refused = read_video(folder / "", {.one_size = true});
    EXPECT_EQ(refused.frames, (std::vector<Bytes>{want[0], want[1]}));
    EXPECT_EQ(refused.error, ErrorCode::source_lost);
    for (const auto& part : {folder / "c.png", std::string("8x6"), folder / "a.png", std::string("4x3")})
        EXPECT_NE(refused.message.find(part), std::string::npos) << refused.message;
}

TEST(ImageFolder, FailsAtACorruptImage) {
    const TemporaryFolder folder;
    write_video(folder / "%d.png", small, {Bytes(36), Bytes(36), Bytes(36)});
    const auto bytes = read_file(folder / "1.png");
    for (const auto keep : {bytes.size() / 2, std::size_t{0}}) {
        write_file(folder / "1.png", bytes.data(), keep);
        const auto reading = read_video(folder / "");
        EXPECT_EQ(reading.frames.size(), 1U);
        EXPECT_EQ(reading.error, ErrorCode::source_lost);
        EXPECT_NE(reading.message.find("1.png"), std::string::npos) << reading.message;
    }
}

using namespace testing;

TEST(SequencePattern, FormatsFileNames) {
    EXPECT_EQ(SequencePattern::parse("shots/img%04d.png")->path(7), "shots/img0007.png");
    EXPECT_EQ(SequencePattern::parse("img%d.png")->path(12345), "img12345.png");
    EXPECT_EQ(SequencePattern::parse("img%02d.png")->path(123), "img123.png");
    EXPECT_EQ(SequencePattern::parse("50%%/a%%_%3d.png")->path(5), "50%%/a%_005.png");
    for (const auto* text : {"img.png", "100%.png", "a%s.png", "%04d/img.png", "a%%d.png", "a%1234d.png"})
        EXPECT_FALSE(SequencePattern::parse(text)) << text;
    EXPECT_EQ(error_of([] { SequencePattern::parse("%d_%d.png"); }), ErrorCode::usage);
}

TEST(Sequence, StartsAtTheLowestNumberAndSkipsGaps) {
    const TemporaryFolder folder;
    const Shape shape{1, 3, 4, 3};
    std::vector<Bytes> frames;
    for (const int number : {98, 99, 100, 103}) {
        frames.push_back(random_frame(shape, static_cast<std::uint64_t>(number)));
        write_video(folder / fmt::format("i{:02}.png", number), shape, {frames.back()});
    }
    write_file(folder / "i7.png", "not of the pattern");
    write_file(folder / "i0099.png", "not of the pattern");
    write_file(folder / "ix.png", "not of the pattern");
    const auto reading = read_video(folder / "i%02d.png", {.rate = Rational{10, 1}});
    EXPECT_FALSE(reading.error) << reading.message;
    EXPECT_EQ(reading.info.frames, 4);
    EXPECT_EQ(reading.frames, frames);
    EXPECT_DOUBLE_EQ(reading.times.at(3).seconds, 0.3);
}

TEST(Sequence, ConvertsImagesToMatchTheFirst) {
    const TemporaryFolder folder;
    write_video(folder / "0.png", {1, 32, 32, 3}, {smooth_frame({1, 32, 32, 3}, 0)});
    write_video(folder / "1.png", {1, 64, 64, 1}, {Bytes(64 * 64, 90)});
    const auto reading = read_video(folder / "%d.png");
    ASSERT_EQ(reading.frames.size(), 2U) << reading.message;
    EXPECT_EQ(reading.frames[1], Bytes(32 * 32 * 3, 90));
}

TEST(Sequence, FailsAtACorruptImage) {
    const TemporaryFolder folder;
    write_video(folder / "%d.png", {1, 3, 4, 3}, {Bytes(36), Bytes(36), Bytes(36)});
    auto bytes = read_file(folder / "1.png");
    for (const auto keep : {bytes.size() / 2, std::size_t{0}}) {
        write_file(folder / "1.png", bytes.data(), keep);
        const auto reading = read_video(folder / "%d.png");
        EXPECT_EQ(reading.frames.size(), 1U);
        EXPECT_EQ(reading.error, ErrorCode::source_lost);
        EXPECT_NE(reading.message.find("1.png"), std::string::npos) << reading.message;
    }
}

TEST(Sequence, RejectsAnEmptySequence) {
    const TemporaryFolder folder;
    EXPECT_EQ(read_video(folder / "img%04d.png").error, ErrorCode::no_input);
    EXPECT_EQ(read_video((folder / "no") + "/img%04d.png").error, ErrorCode::no_input);
}

// With numbers from 0 to the largest possible one, the count of missing images just fits.
TEST(Sequence, AcceptsNumbersUpToTheInt64Maximum) {
    const TemporaryFolder folder;
    const Shape shape{1, 3, 4, 3};
    write_video(folder / "0.png", shape, {Bytes(36, 1)});
    write_video(folder / "9223372036854775807.png", shape, {Bytes(36, 2)});
    write_file(folder / "9223372036854775808.png", "no number");
    const kit::CapturedLog log;
    const auto reading = read_video(folder / "%d.png");
    EXPECT_EQ(reading.frames, (std::vector<Bytes>{Bytes(36, 1), Bytes(36, 2)})) << reading.message;
    EXPECT_NE(log.text().find("9223372036854775806 numbers between 0 and 9223372036854775807 are missing"),
              std::string::npos)
        << log.text();
}

TEST(Sequence, AnExistingFileTakesPrecedenceOverThePattern) {
    const TemporaryFolder folder;
    write_video(folder / "odd.png", {1, 3, 4, 3}, {Bytes(36, 9)});
    std::filesystem::rename(folder / "odd.png", folder / "a%02d.png");
    EXPECT_EQ(read_video(folder / "a%02d.png").frames, std::vector<Bytes>{Bytes(36, 9)});
}

TEST(Loop, RepeatsWithContinuousTimes) {
    const TemporaryFolder folder;
    const Shape shape{1, 3, 4, 3};
    const std::vector<Bytes> frames = {random_frame(shape, 1), random_frame(shape, 2), random_frame(shape, 3)};
    write_video(folder / "a.bgr", shape, frames);
    const auto reading = read_video("raw:" + (folder / "a.bgr") + ":size=4x3:fps=10", {.loop = true}, 10);
    EXPECT_FALSE(reading.info.frames);
    ASSERT_EQ(reading.frames.size(), 10U) << reading.message;
    for (std::size_t number = 0; number < 10; ++number) {
        EXPECT_EQ(reading.frames[number], frames[number % 3]);
        EXPECT_EQ(reading.times[number].index, static_cast<std::int64_t>(number));
        EXPECT_NEAR(reading.times[number].seconds, static_cast<double>(number) / 10, 1e-9);
    }
    EXPECT_EQ(read_video("-", {.loop = true}).error, ErrorCode::usage);
    write_file(folder / "empty.bgr", "");
    EXPECT_TRUE(read_video("raw:" + (folder / "empty.bgr") + ":size=4x3", {.loop = true}, 10).frames.empty());
}

}  // namespace
}  // namespace framewire
